"""A task of campaigns: the smallest burst buffer, as `penstock size-buffer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.campaign.case import Case
from penstock.campaign.tasks.lead import Lead, known, written
from penstock.campaign.tasks.task import Metric, Task, Values, values_of
from penstock.model.record import Name, Record
from penstock.studies.buffer_words import check_partition

METRICS = (Metric("size", best=-1, main=True), Metric("events"))
IMPOSSIBLE = Metric("infeasible", best=-1)  # 1: no size is enough with that lead
LISTS = ("shares",)


class SizeBufferOptions(Record):
    """Who may use what."""

    partition: Name = "static"
    lead: Lead | None = None


def run(case: Case, options: SizeBufferOptions) -> Values:
    """The size, and everybody's share where there are shares."""
    from penstock.studies.sizing import size_buffer  # noqa: PLC0415 - loads kernels, which a campaign is read without

    found = size_buffer(case.scenario, options.partition, lead=options.lead)
    values = {**known(values_of(found, METRICS)), "infeasible": float(found.infeasible is not None)}
    return {**values, "shares": list((found.shares or {}).values())}


def check(options: SizeBufferOptions) -> None:
    """Refuse an unknown partition."""
    check_partition(options.partition)


def of_command(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The command writes a lead as text."""
    given = dict(options)
    return given if given.get("lead") is None else {**given, "lead": written(given["lead"])}


TASK = Task(
    "size-buffer",
    SizeBufferOptions,
    (*METRICS, IMPOSSIBLE),
    LISTS,
    run,
    check,
    "penstock.studies.sizing",
    (),
    of_command,
)
