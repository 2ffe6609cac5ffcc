"""A task of campaigns: one sharing policy, as `penstock simulate`."""

from __future__ import annotations

from penstock.campaign.case import Case
from penstock.campaign.tasks.task import Flag, Metric, Task, Values, check_policy, values_of
from penstock.errors import InvalidOption
from penstock.model.plan_file import load_plan, with_plan
from penstock.model.record import Name, Record

METRICS = (
    Metric("min_yield", best=1, bounds=("bound_min_yield", "bound_interval"), main=True),
    Metric("node_hours_lost", best=-1, main=True),
    Metric("efficiency", best=1, main=True),
    Metric("utilization", best=1, main=True),
    Metric("makespan", best=-1, main=True),
    Metric("max_stretch", best=-1, main=True),
    Metric("mean_stretch", best=-1),
    Metric("p95_stretch", best=-1),
    Metric("mean_yield", best=1),
    Metric("lost_share", best=-1),
    Metric("even_yield", best=1),
    Metric("sliding_min", best=1),
    Metric("node_hours_used"),
    Metric("unfinished", best=-1),
    Metric("distance_to_bound", best=-1),
    Metric("bound_min_yield"),
    Metric("bound_interval"),
    Metric("pressure"),
    Metric("io_weight"),
    Metric("end"),
    Metric("events"),
)
OF_BOUNDS = ("distance_to_bound", "bound_min_yield", "bound_interval")
LISTS = ("yield", "completion", "stretch", "compute_done", "transferred")
FIELDS = {name: "yield_" if name == "yield" else name for name in LISTS}  # of an application's result


class SimulateOptions(Record):
    """Which policy, under which plan; whether to work out what none can beat (which takes long), and how even it is."""

    sharing: Name | None = None  # None: as the plan says
    plan: Name | None = None  # its file; None: the scenario's own, if it has one
    bounds: Flag = True
    evenness: Flag = False


def run(case: Case, options: SimulateOptions) -> Values:
    """All metrics of one run; the compiled scenario and its bounds serve every policy."""
    from penstock.policies.sharing import find  # noqa: PLC0415 - loads kernels, which a campaign is read without
    from penstock.studies.share import run_study, study_of  # noqa: PLC0415

    study = case.once(
        f"study {options.bounds} {options.plan}",
        lambda: study_of(with_plan(case.scenario, options.plan), options.bounds),
    )
    if options.sharing is None and study.scenario.plan is None:
        raise InvalidOption("sharing is missing, and the scenario has no plan that says it; give sharing, or plan")
    policy = None if options.sharing is None else find(options.sharing)
    result = run_study(study, policy, evenness=options.evenness)
    lists = {name: [getattr(each, field) for each in result.applications] for name, field in FIELDS.items()}
    return {**values_of(result, METRICS), **({} if options.bounds else dict.fromkeys(OF_BOUNDS)), **lists}


def check(options: SimulateOptions) -> None:
    """Refuse an unknown policy, and a plan that is none."""
    if options.sharing is not None:
        check_policy("sharing", options.sharing)
    if options.plan is not None:
        load_plan(options.plan)


TASK = Task(
    "simulate", SimulateOptions, METRICS, LISTS, run, check, "penstock.studies.share", (("sharing", "sharing"),)
)
