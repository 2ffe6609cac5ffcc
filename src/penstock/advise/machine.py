"""Advice for a site with more than one shared bandwidth: under its plan, or under what a machine does unasked.

Then every verdict (policy, targets, buffer) is one of runs of the whole machine.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.advise.runs import Fate, fate_of, policy_named
from penstock.model import Application, Plan, Platform, Scenario, Target
from penstock.model.plan import kinds_of, started
from penstock.model.plan_file import merged_plans
from penstock.studies.machine import MachineStudy
from penstock.studies.planning.draft import Task
from penstock.studies.planning.starts import unasked_plan
from penstock.studies.planning.yardstick import Yardstick
from penstock.studies.share import run_study

UNASKED = "I/O nodes and few stripes in turn, equal parts of the buffer"


def needs_plan(scenario: Scenario) -> bool:
    """Whether one bandwidth would leave out what the platform states; a scenario that has a plan needs none."""
    platform = scenario.platform
    between = platform.io_nodes is not None and platform.targets is not None
    whole = between or platform.burst_buffer is not None or scenario.shared_bandwidth is None
    return scenario.plan is None and whole and bool(kinds_of(scenario))


def with_unasked_plan(scenario: Scenario) -> Scenario:
    """The scenario as a whole machine, if it needs a plan and has none; what a plan starts later is released later."""
    if needs_plan(scenario):
        return scenario.model_copy(update={"plan": unasked_plan(scenario)})
    if scenario.plan is None or scenario.plan.start is None:
        return scenario
    return started(scenario).model_copy(update={"plan": scenario.plan.model_copy(update={"start": None})})


def storage_bandwidth(scenario: Scenario) -> float | None:
    """What the storage moves at most."""
    return scenario.shared_bandwidth if scenario.plan is None else MachineStudy(scenario).bandwidth


def machine_fate(scenario: Scenario, plan: Plan, sharing: str) -> Fate:
    """How jobs fare if some decisions of their plan are as in another, under a policy on every resource.

    By one yardstick whatever these are: measured by themselves, fewer targets or no buffer would seem to lose less.
    """
    study = MachineStudy(scenario.model_copy(update={"plan": merged_plans(scenario.plan, plan)}))
    undecided = (scenario.plan or Plan()).model_copy(update=dict.fromkeys(("allocation", "placement", "buffering")))
    yardstick = Yardstick(Task(scenario.model_copy(update={"plan": undecided})))
    return fate_of(yardstick.program, yardstick.judged(run_study(study, policy_named(sharing))))


def with_capacity(scenario: Scenario, capacity: float) -> Plan:
    """A plan with a buffer of another size, its parts as they are."""
    return Plan(buffering=(scenario.plan or Plan()).buffer.model_copy(update={"capacity": capacity}))


def faster_storage(platform: Platform, factor: float) -> Platform:
    """The platform with a file system that moves so many times as much; its buffer and I/O nodes stay as they are."""
    keys = ("bandwidth", "read_bandwidth", "write_bandwidth")
    update: dict[str, object] = {key: factor * old for key in keys if (old := getattr(platform, key)) is not None}
    if isinstance(platform.targets, tuple):
        update["targets"] = tuple(_faster(each, factor) for each in platform.targets)
    return platform.model_copy(update=update)


def _faster(target: Target, factor: float) -> Target:
    keys = ("bandwidth", "capacity")
    return target.model_copy(update={key: factor * old for key in keys if (old := getattr(target, key)) is not None})


def on_faster_storage(application: Application, factor: float) -> Application:
    """An application whose profile was measured on it."""
    profile = application.profile
    faster = None if profile is None else {count: factor * rate for count, rate in profile.items()}
    return application if profile is None else application.model_copy(update={"profile": faster})


def redrawn(scenario: Scenario, jobs: Sequence[Application], origins: Sequence[str]) -> Scenario:
    """The scenario with other jobs, each of which goes where the one named in `origins` went.

    Parts of the buffer stay as large together as they were.
    """
    update: dict[str, object] = {"applications": tuple(jobs)}
    own = [(each.name, origin) for each, origin in zip(jobs, origins, strict=True)]
    buffer = scenario.platform.burst_buffer
    if buffer is not None and buffer.shares is not None:
        shared = buffer.model_copy(update={"shares": _parts(buffer.shares, own)})
        update["platform"] = scenario.platform.model_copy(update={"burst_buffer": shared})
    if scenario.plan is not None:
        update["plan"] = _replanned(scenario.plan, own)
    return scenario.model_copy(update=update)


def _replanned(plan: Plan, own: Sequence[tuple[str, str]]) -> Plan:
    update: dict[str, object] = {}
    for key in ("mapping", "allocation", "placement"):
        table = getattr(plan, key)
        if isinstance(table, dict):
            update[key] = {name: table[origin] for name, origin in own if origin in table}
    if plan.buffer.shares is not None:
        update["buffering"] = plan.buffer.model_copy(update={"shares": _parts(plan.buffer.shares, own)})
    return plan.model_copy(update=update)


def _parts(shares: dict[str, float], own: Sequence[tuple[str, str]]) -> dict[str, float]:
    drawn = {name: shares.get(origin, 0.0) for name, origin in own}
    scale = sum(shares.values()) / (sum(drawn.values()) or 1.0)
    return {name: min(1.0, scale * share) for name, share in drawn.items()}
