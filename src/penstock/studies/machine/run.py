"""A study runs a plan: on the loop made for the one kind of resource that it needs, else on that of a whole machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from penstock.engine.link.execution import Run
from penstock.engine.machine.execution import execute_machine
from penstock.engine.stepping import Progress
from penstock.engine.targets.execution import TargetRun
from penstock.errors import PenstockError, PolicyError, UnknownPolicy
from penstock.metrics.evenness import evenness_of
from penstock.metrics.measure import measure
from penstock.metrics.result import ResourceUse, Result
from penstock.model import Scenario
from penstock.model.plan import IO_NODE, LINK, TARGET
from penstock.policies.sharing import find
from penstock.policies.sharing.max_min import max_min
from penstock.policies.sharing.policy import Sharing
from penstock.studies.machine.layout import plan_of
from penstock.studies.machine.study import MachineStudy
from penstock.studies.target_words import ALL
from penstock.studies.targets.allotments import planned
from penstock.studies.targets.execution import fare
from penstock.studies.targets.site import Site

Chosen = str | Sharing | Callable[..., None] | None


def run_plan(
    study: MachineStudy,
    sharing: Chosen = None,
    *,
    timeline: bool = False,
    evenness: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Run a scenario under its plan; `sharing`, if given, stands for the plan's on every resource."""
    policies = policies_of(study, sharing)
    label = _label(policies)
    foresight = study.foresight if any(policy.prepare for policy in policies) else None
    recorded, passage = timeline or evenness, None
    if targets_alone(study, policies) and not recorded:
        run, uses = _on_targets(study, policies[0], progress)
    elif not recorded and buffer_alone(study, policies):
        from penstock.studies.machine.tier import on_tier  # noqa: PLC0415 - loads the loop made for buffers

        run, uses = on_tier(study, progress)
    else:
        found = execute_machine(
            study.program,
            study.kind,
            study.network,
            study.resources,
            policies,
            foresight,
            study.behind,
            timeline=recorded,
            watched=timeline,
            progress=progress,
        )
        run, passage = found.run, found.passage
        uses = [
            ResourceUse(each.name, each.kind, float(busy), float(moved))
            for each, busy, moved in zip(study.resources, found.busy, found.moved, strict=True)
        ]
    measured = measure(study.program, study.yardsticks, label, run)
    result = replace(measured, resources=tuple(uses), passage=passage)
    if not evenness or result.timeline is None:
        return result
    even = evenness_of(study.program, result.timeline)
    return replace(result, **even._asdict(), timeline=result.timeline if timeline else None)


def policies_of(study: MachineStudy, sharing: Chosen) -> list[Sharing]:
    """The policy of each resource."""
    if sharing is not None:
        return [find(sharing)] * len(study.resources)
    plan = plan_of(study.scenario)
    names = [plan.policy_of(each.name, each.kind) for each in study.resources]
    found: dict[str, Sharing] = {}
    for name in names:
        if name not in found:
            try:
                found[name] = max_min if name == max_min.name else find(name)
            except UnknownPolicy as error:
                raise UnknownPolicy(f"plan.sharing: {error}; or {max_min.name}, in plans only") from None
            except PenstockError as error:
                raise PolicyError(f"plan.sharing: {error}") from None
    return [found[name] for name in names]


def is_mixed(study: MachineStudy) -> bool:
    """Whether resources have several policies under the plan."""
    return len({policy.label for policy in policies_of(study, None)}) > 1


def _label(policies: list[Sharing]) -> str:
    """One name if all resources have the same policy."""
    labels = list(dict.fromkeys(policy.label for policy in policies))
    return labels[0] if len(labels) == 1 else " + ".join(labels)


def targets_alone(study: MachineStudy, policies: list[Sharing]) -> bool:
    """Whether nothing but targets that divide their time is shared, and all alike: then the loop made for them runs."""
    crossed = {study.resources[k].kind for k in np.unique(study.network.resource)}
    plain = all(each.profile is not None and not each.endless for each in study.scenario.applications)
    by_time = study.scenario.platform.targets
    capacities = isinstance(by_time, tuple) and any(target.capacity is not None for target in by_time)
    plain = plain and not study.network.buffered.any()
    return crossed == {TARGET} and plain and not capacities and len({id(policy) for policy in policies}) == 1


def buffer_alone(study: MachineStudy, policies: list[Sharing]) -> bool:
    """Whether a buffer without a bandwidth of its own, and a file system under max-min, are all that is shared."""
    scenario, network = study.scenario, study.network
    crossed = np.unique(network.resource).tolist()
    kinds = {study.resources[k].kind for k in crossed}
    plain = kinds == {LINK} and all(policies[k] is max_min for k in crossed)
    # There a port, and what interferes, have other rules, and nobody counts what those moved who are cut off.
    whole = scenario.window is None and all(each.walltime is None for each in scenario.applications)
    simple = network.port < 0 and scenario.platform.interference is None
    return plain and whole and simple and bool(network.buffered.any())


def as_link(study: MachineStudy, sharing: Chosen) -> tuple[Scenario, Sharing] | None:
    """The scenario without a plan and its policy, if one bandwidth, or I/O nodes, are all that it shares; else None."""
    policies, crossed = policies_of(study, sharing), np.unique(study.network.resource)
    kinds = {study.resources[k].kind for k in crossed}
    names = {study.resources[k].name for k in crossed}
    used = {id(policies[k]) for k in crossed}
    if study.network.buffered.any() or len(used) > 1 or not (names == {"file_system"} or kinds == {IO_NODE}):
        return None
    if kinds == {IO_NODE} and (min(study.layout.io_node) < 0 or study.scenario.platform.bandwidth is not None):
        return None
    nodes = study.layout.io_node if kinds == {IO_NODE} else [None] * len(study.layout.io_node)
    applications = tuple(
        each.model_copy(update={"io_node": node}) for each, node in zip(study.scenario.applications, nodes, strict=True)
    )
    update = {"plan": None, "applications": applications}
    return study.scenario.model_copy(update=update), policies[int(crossed[0])]


def _on_targets(study: MachineStudy, policy: Sharing, progress: Progress | None) -> tuple[Run, list[ResourceUse]]:
    site = Site(study.scenario)
    chosen = {each.name: own for each, own in zip(study.scenario.applications, study.layout.targets, strict=True)}
    fared = fare(site, planned(site, chosen), policy, ALL, progress)
    run = fared.run
    names = [each for each in study.resources if each.kind == TARGET]
    uses = [
        ResourceUse(each.name, each.kind, float(busy), float(moved))
        for each, busy, moved in zip(names, run.busy, run.carried, strict=True)
    ]
    return _as_run(study, run), uses


def _as_run(study: MachineStudy, run: TargetRun) -> Run:
    """The same run in the form that is measured; bytes count at what the application has alone on its targets."""
    speed = study.network.speed[:, 0]
    never = np.full(run.until.size, np.nan)
    ends = np.where(run.completed, run.until, never)
    last = run.end - run.origin if study.program.windowed else float(np.nanmax(np.where(run.cut, run.until, ends)))
    return Run(
        run.origin,
        last,
        run.events,
        run.seconds,
        run.compute_done,
        run.moved,
        run.moved / speed,
        ends,
        np.where(run.cut, run.until, never),
        None,
    )
