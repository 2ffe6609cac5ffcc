"""One sharing policy: as `penstock simulate`."""

from __future__ import annotations

from penstock.campaign.case import Case
from penstock.campaign.tasks.task import Flag, Metric, Task, Values, values_of
from penstock.model.record import Name, Record
from penstock.policies.sharing import find
from penstock.studies.share import run_study, study_of

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
    """Which policy; whether to work out what none can beat, which can take longer than a run, and how even a run is."""

    sharing: Name
    bounds: Flag = True
    evenness: Flag = False


def run(case: Case, options: SimulateOptions) -> Values:
    """All metrics of one run; the compiled scenario and its bounds serve every policy."""
    study = case.once(f"study {options.bounds}", lambda: study_of(case.scenario, options.bounds))
    result = run_study(study, find(options.sharing), evenness=options.evenness)
    lists = {name: [getattr(each, field) for each in result.applications] for name, field in FIELDS.items()}
    return {**values_of(result, METRICS), **({} if options.bounds else dict.fromkeys(OF_BOUNDS)), **lists}


def check(options: SimulateOptions) -> None:
    """Refuse an unknown policy."""
    find(options.sharing)


TASK = Task("simulate", SimulateOptions, METRICS, LISTS, run, check)
