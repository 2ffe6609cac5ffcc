"""A task of campaigns: storage targets, as `penstock allocate`. What is drawn at random comes from the run's seed."""

from __future__ import annotations

from penstock.campaign.case import Case
from penstock.campaign.tasks.task import Metric, Task, Values, check_policy, values_of
from penstock.model.record import Name, Record, Share
from penstock.studies.target_words import check_interval

METRICS = (
    Metric("mean_io_slowdown", best=-1, main=True),
    Metric("machine_idletime", best=-1, main=True),
    Metric("load", main=True),
    Metric("node_hours_lost", best=-1),
    Metric("lost_share", best=-1),
    Metric("mean_yield", best=1),
    Metric("p95_stretch", best=-1),
    Metric("unfinished", best=-1),
    Metric("mean_rho_io", best=-1),
    Metric("mean_rho_con", best=-1),
    Metric("least_load"),
    Metric("imbalance", best=-1),
    Metric("interval"),
    Metric("events"),
)
LISTS = ("count", "io_slowdown", "rho_io", "rho_con", "stress", "io_seconds", "moved", "compute_done")


class AllocateOptions(Record):
    """Which policies, and what they are told."""

    allocation: Name = "tcpu"
    placement: Name = "greedy-clairvoyant"
    sharing: Name = "fair-share"
    knowledge: Name = "exact"
    error: Share = 0.0
    interval: Name | None = None


def run(case: Case, options: AllocateOptions) -> Values:
    """All metrics of one pair of policies."""
    from penstock.studies.targets import allocate  # noqa: PLC0415 - loads kernels, which a campaign is read without

    found = allocate(
        case.scenario,
        options.allocation,
        options.placement,
        sharing=options.sharing,
        knowledge=options.knowledge,
        error=options.error,
        seed=case.seed,
        interval=options.interval,
    )
    lists = {name: [getattr(each, name) for each in found.applications] for name in LISTS}
    return {**values_of(found, METRICS), **lists}


def check(options: AllocateOptions) -> None:
    """Refuse unknown policies and intervals."""
    check_interval(options.interval)
    check_policy("allocation", options.allocation)
    check_policy("placement", options.placement)
    check_policy("sharing", options.sharing)


TASK = Task(
    "allocate",
    AllocateOptions,
    METRICS,
    LISTS,
    run,
    check,
    "penstock.studies.targets.allotments",
    (("allocation", "allocation"), ("placement", "placement"), ("sharing", "sharing")),
)
