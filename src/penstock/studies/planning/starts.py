"""Where the search begins: what a machine does unasked, and what the papers' policies say for each decision alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from penstock.errors import PenstockError
from penstock.model import Plan, Scenario
from penstock.model.needs import ALLOCATION, BUFFERING, MAPPING, PLACEMENT, SHARING
from penstock.model.plan_file import with_plan
from penstock.policies.allocation.catalogue import NAMES as ALLOCATIONS
from penstock.studies.machine import MachineStudy
from penstock.studies.planning.draft import Draft, Task
from penstock.studies.planning.needs import needs_of
from penstock.studies.sizing import size_buffer
from penstock.studies.targets import allocate

FAIR = "fair-share"
POLICIES = (
    FAIR,
    "fcfs",
    "greedy-yield",
    "greedy-com",
    "set-10",
    "credited-yield",
    "loss-capped-srpt",
    "reserve-credit",
)


def unasked(task: Task) -> Draft:
    """What is there without anybody deciding: few stripes in turn, nodes in turn, equal parts, fair sharing."""
    jobs = len(task.applications)
    draft = Draft()
    if MAPPING in task.open:
        draft = replace(draft, nodes=tuple(i % task.io_nodes for i in range(jobs)))
    if PLACEMENT in task.open:
        draft = replace(draft, targets=in_turn(task, [counts[0] for counts in task.counts]))
    if BUFFERING in task.open:
        draft = replace(draft, parts=(1.0 / jobs,) * jobs)
    if SHARING in task.open:
        draft = replace(draft, sharing=tuple((kind, FAIR) for kind in task.kinds))
    return draft


def unasked_plan(scenario: Scenario) -> Plan:
    """The same as a plan, with what the scenario's own decides already."""
    task = Task(scenario)
    return task.plan_of(unasked(task))


def own_draft(task: Task, plan: Plan) -> Draft | None:
    """A scenario's own plan as a draft; None if it leaves something out, or has what no draft of `task` can have."""
    try:
        study = MachineStudy(with_plan(task.scenario, plan))
        nodes, targets, parts = study.layout.io_node, study.layout.targets, study.behind.shares.tolist()
    except PenstockError:
        return None
    draft = Draft()
    if MAPPING in task.open:
        draft = replace(draft, nodes=tuple(nodes))
    if PLACEMENT in task.open:
        draft = replace(draft, targets=tuple(tuple(sorted(own)) for own in targets))
    if BUFFERING in task.open:
        draft = replace(draft, parts=fitting(parts))
    if SHARING in task.open:
        draft = replace(draft, sharing=tuple((kind, plan.policy_of(kind, kind)) for kind in task.kinds))
    mapped = all(node >= 0 for node in draft.nodes or ())
    counted = all(len(own) in counts for own, counts in zip(draft.targets or (), task.counts, strict=False))
    return draft if mapped and counted else None


def in_turn(task: Task, counts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Targets one after the other, the pointer carrying on, as file systems do it unasked."""
    places, pointer = [], 0
    for count in counts:
        places.append(tuple(sorted((pointer + k) % task.targets for k in range(count))))
        pointer += count
    return tuple(places)


def proposals(task: Task, draft: Draft, decision: str) -> Iterator[tuple[str, Draft]]:
    """What the papers' policies would have for one decision instead of what `draft` has, with a name for each.

    Numbers of targets come with their places.
    """
    if decision == MAPPING:
        yield "mapping longest first", replace(draft, nodes=longest_first(task))
    elif decision == ALLOCATION:
        yield from ((f"targets by {name}", replace(draft, targets=places)) for name, places in striped(task))
    elif decision == BUFFERING:
        yield from ((f"parts {name}", replace(draft, parts=parts)) for name, parts in partitions(task))
    elif decision == SHARING:
        for policy in POLICIES:
            everywhere = tuple((kind, policy) for kind in task.kinds)
            if everywhere != draft.sharing:
                yield f"sharing by {policy}", replace(draft, sharing=everywhere)


def longest_first(task: Task) -> tuple[int, ...]:
    """Applications by falling demand, each to the I/O node with the least demand while it runs (LPT, P3)."""
    needs = [needs_of(each, task.scenario) for each in task.applications]
    node = [-1] * len(needs)
    for i in sorted(range(len(needs)), key=lambda i: -needs[i].demand):
        carried = [0.0] * task.io_nodes
        for j, placed in enumerate(node):
            if placed >= 0 and needs[i].meets(needs[j]):
                carried[placed] += needs[j].demand
        node[i] = carried.index(min(carried))
    return tuple(node)


def striped(task: Task) -> Iterator[tuple[str, tuple[tuple[int, ...], ...]]]:
    """What allocation policies say, placed by `greedy-clairvoyant`; and as many as can be, in turn."""
    for name in ALLOCATIONS:
        try:
            found = allocate(task.scenario, name)
        except PenstockError:  # it needs profiles, or jobs that end
            continue
        yield name, tuple(each.targets for each in found.applications)
    yield "widest", in_turn(task, [counts[-1] for counts in task.counts])


def partitions(task: Task) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Parts as `size-buffer` has them, if it can say, and by the largest burst of each."""
    try:
        found = size_buffer(task.scenario, "static")
    except PenstockError:  # it needs the bandwidth of the file system, or jobs that end
        found = None
    if found is not None and found.size and found.shares:
        yield "static", fitting([found.shares[each.name] / found.size for each in task.applications])
    yield "by bursts", _shares([needs_of(each, task.scenario).burst for each in task.applications])


def fitting(parts: Sequence[float]) -> tuple[float, ...]:
    """Parts as they are if they fit together, else scaled down until they do."""
    whole = max(1.0, sum(parts))
    return tuple(part / whole for part in parts)


def _shares(amounts: Sequence[float]) -> tuple[float, ...]:
    """All of the buffer, by these amounts."""
    whole = sum(amounts)
    return tuple(amount / whole for amount in amounts) if whole > 0.0 else tuple(amounts)
