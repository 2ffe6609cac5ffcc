"""A task of campaigns: as `penstock optimum`. Where the time is too short, another try may find another schedule."""

from __future__ import annotations

from penstock.campaign.case import Case
from penstock.campaign.tasks.task import Metric, Task, Values, values_of
from penstock.model.record import Record, Seconds

METRICS = (
    Metric("makespan", best=-1, bounds=("bound",), main=True),
    Metric("bound", best=1),
    Metric("gap", best=-1, main=True),
)
PROVED = Metric("optimal", best=1)


class OptimumOptions(Record):
    """How long to look for it."""

    time_limit: Seconds = 60.0


def run(case: Case, options: OptimumOptions) -> Values:
    """The makespan, the bound, and 1 if the two are proved to be equal."""
    from penstock.studies.optimum import optimum  # noqa: PLC0415 - loads kernels, which a campaign is read without

    found = optimum(case.scenario, options.time_limit)
    return {**values_of(found, METRICS), "optimal": float(found.optimal)}


TASK = Task("optimum", OptimumOptions, (*METRICS, PROVED), (), run, face="penstock.studies.optimum")
