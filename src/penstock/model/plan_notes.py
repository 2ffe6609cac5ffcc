"""What a plan says that comes to nothing in a scenario, and whom it leaves out: never passed over in silence."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.model.plan import BUFFER, DEFAULT, IO_NODE, LINK, TARGET, Plan, resource_names
from penstock.model.scenario import Scenario

_NONE = {
    TARGET: "the platform has no targets",
    LINK: "the platform has no bandwidth of a file system that is shared",
    BUFFER: "the burst buffer has no bandwidth of its own to be shared",
}


def plan_notes(scenario: Scenario) -> list[str]:
    """One sentence each, without a full stop; none for a scenario without a plan."""
    plan = scenario.plan
    if plan is None:
        return []
    notes = [*_left_out(plan, scenario), *_idle_sharing(plan, scenario)]
    if plan.buffer.strategy is not None:
        notes.append("buffering.strategy plays no part on a whole machine: plan.sharing says who drains first")
    return notes


def _left_out(plan: Plan, scenario: Scenario) -> Iterator[str]:
    """Whoever is not mapped goes through no I/O node (models §9)."""
    if not isinstance(plan.mapping, dict):
        return
    names = [each.name for each in scenario.applications if each.io_node is None and each.name not in plan.mapping]
    if names:
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
        yield f"plan.mapping leaves out {shown}: their bytes go through no I/O node"


def _idle_sharing(plan: Plan, scenario: Scenario) -> Iterator[str]:
    for key in plan.sharing if isinstance(plan.sharing, dict) else ():
        if key != DEFAULT and (why := _why_idle(key, plan, scenario)):
            yield f"plan.sharing.{key} plays no part: {why}"


def _why_idle(key: str, plan: Plan, scenario: Scenario) -> str:
    """Why nothing is shared under this key; empty if something is."""
    platform = scenario.platform
    if key == IO_NODE or key.startswith(f"{IO_NODE}:"):
        if platform.io_nodes is None:
            return "the platform has no io_nodes"
        used = _used_nodes(plan, scenario)
        there = used is None or (bool(used) if key == IO_NODE else key in used)
        return "" if there else "nobody's bytes go through it" if key != IO_NODE else "nobody goes through an I/O node"
    shared = {TARGET: platform.targets, BUFFER: platform.burst_buffer and platform.burst_buffer.bandwidth}
    shared[LINK] = any(name.startswith("file_system") for name in resource_names(scenario))
    return "" if shared.get(key, True) else _NONE[key]


def _used_nodes(plan: Plan, scenario: Scenario) -> set[str] | None:
    """The I/O nodes that somebody goes through; None where a policy will say."""
    if isinstance(plan.mapping, str):
        return None
    table = plan.mapping or {}
    nodes = {table.get(each.name, each.io_node) for each in scenario.applications}
    return {f"{IO_NODE}:{node}" for node in nodes if node is not None}
