"""The smallest burst buffer: as `penstock size-buffer`."""

from __future__ import annotations

from penstock.campaign.case import Case
from penstock.campaign.tasks.task import Metric, Task, Values, values_of
from penstock.errors import InvalidOption
from penstock.model.record import Name, Record
from penstock.studies.sizing import PARTITIONS, size_buffer

METRICS = (Metric("size", best=-1, main=True), Metric("events"))
LISTS = ("shares",)


class SizeBufferOptions(Record):
    """Who may use what."""

    partition: Name = "static"


def run(case: Case, options: SizeBufferOptions) -> Values:
    """The size, and everybody's share where there are shares."""
    found = size_buffer(case.scenario, options.partition)
    return {**values_of(found, METRICS), "shares": list((found.shares or {}).values())}


def check(options: SizeBufferOptions) -> None:
    """Refuse an unknown partition."""
    if options.partition not in PARTITIONS:
        raise InvalidOption(f"partition is {options.partition!r}; accepted: {', '.join(PARTITIONS)}")


TASK = Task("size-buffer", SizeBufferOptions, METRICS, LISTS, run, check)
