"""A task of campaigns: jobs in packs on I/O nodes, as `penstock pack`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from penstock.campaign.case import Case
from penstock.campaign.tasks.task import Flag, Metric, Task, Values, check_policy, values_of
from penstock.errors import InvalidOption
from penstock.model.record import Count, Name, Record
from penstock.model.units import Refusal, shown

METRICS = (
    Metric("makespan", best=-1, bounds=("bound",), main=True),
    Metric("mean_pack_max_stretch", best=-1, main=True),
    Metric("max_stretch", best=-1, main=True),
    Metric("mean_stretch", best=-1, main=True),
    Metric("mean_wait", best=-1),
    Metric("max_wait", best=-1),
    Metric("node_hours_lost", best=-1),
    Metric("lost_share", best=-1),
    Metric("exec", best=1),
    Metric("delay", best=-1),
    Metric("idle", best=-1),
    Metric("alpha"),
    Metric("bound"),
    Metric("makespan_alone"),
)
COUNT = Metric("packs")
LISTS = ("start", "end", "stretch", "wait")


def _sensitivity(value: object) -> object:
    """A number where it is one, so that 1 and "1" are the same run."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else 0.0
    except ValueError:
        number = 0.0
    if value is None or value == "alpha" or number > 0.0:
        return number or value
    raise Refusal(f"is {shown(value)}; accepted is a number above 0, inf (first-fit) or alpha")


class PackOptions(Record):
    """How to map, and who shares how on an I/O node."""

    sensitivity: Annotated[float | str | None, BeforeValidator(_sensitivity)] = None
    io_nodes: Count | None = None
    sharing: Name = "list-fifo"
    backfill: Flag = False
    mapping: Name | None = None


def run(case: Case, options: PackOptions) -> Values:
    """All metrics of one packing, and how many packs it has."""
    from penstock.studies.packs import pack  # noqa: PLC0415 - loads kernels, which a campaign is read without

    found = pack(
        case.scenario,
        options.sensitivity,
        io_nodes=options.io_nodes,
        sharing=options.sharing,
        backfill=options.backfill,
        mapping=options.mapping,
    )
    lists = {name: [getattr(job, name) for job in found.jobs] for name in LISTS}
    return {**values_of(found, METRICS), "packs": float(len(found.packs)), **lists}


def check(options: PackOptions) -> None:
    """Refuse an unknown policy, and two mappings at once."""
    check_policy("sharing", options.sharing)
    if options.mapping is not None:
        check_policy("mapping", options.mapping)
        if options.backfill:
            raise InvalidOption("backfill is short for a mapping of that name; leave one of the two out")


TASK = Task(
    "pack",
    PackOptions,
    (*METRICS, COUNT),
    LISTS,
    run,
    check,
    "penstock.studies.packs",
    (("sharing", "sharing"), ("mapping", "mapping")),
)
