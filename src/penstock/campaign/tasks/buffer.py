"""A task of campaigns: as `penstock buffer`. The size is in bytes, or a part of what lets nobody wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from pydantic import model_validator

from penstock.campaign.case import Case
from penstock.campaign.tasks.lead import Lead, known, number, written
from penstock.campaign.tasks.task import Metric, Task, Values, check_policy, values_of
from penstock.model.problems import reject
from penstock.model.record import Bytes, Name, Record, Share
from penstock.studies.buffer_words import check_admission, check_division

METRICS = (
    Metric("max_stretch", best=-1, bounds=("bound_max_stretch",), main=True),
    Metric("mean_stretch", best=-1, bounds=("bound_mean_stretch",), main=True),
    Metric("bound_max_stretch"),
    Metric("bound_mean_stretch"),
    Metric("node_hours_lost", best=-1),
    Metric("node_hours_used"),
    Metric("lost_share", best=-1),
    Metric("mean_yield", best=1),
    Metric("p95_stretch", best=-1),
    Metric("unfinished", best=-1),
    Metric("max_stretch_p5", best=-1),
    Metric("mean_stretch_p5", best=-1),
    Metric("peak"),
    Metric("through_buffer"),
    Metric("drive_writes_per_day", best=-1),
    Metric("capacity"),
    Metric("end"),
    Metric("events"),
)
LISTS = ("completion", "stretch", "shares")


class BufferOptions(Record):
    """How large, divided how, and who decides."""

    capacity: Bytes | None = None
    part: Share | None = None  # of the size with which nobody waits
    partition: Name = "static"
    common: Share | None = None
    lead: Lead | None = None
    admit: Name = "now"
    strategy: Name = "fair"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.capacity is None) == (self.part is None):
            text = "needs one of 'capacity' (bytes) and 'part' (of the size with which nobody waits)"
            reject("BufferOptions", [((), None, text)])
        return self


def run(case: Case, options: BufferOptions) -> Values:
    """All metrics of one run; the sizing, and what no strategy can beat, serve every plan with the same partition."""
    from penstock.studies.buffers import buffer  # noqa: PLC0415 - loads kernels, which a campaign is read without
    from penstock.studies.buffers.split import split  # noqa: PLC0415

    partition, common = options.partition, options.common
    lead = options.lead
    divided = case.once(f"split {partition} {lead}", lambda: split(case.scenario, partition, lead=lead))
    if common is not None:
        divided = replace(divided, common=common)
    capacity = options.capacity if options.part is None else options.part * divided.size
    found = buffer(case.scenario, capacity or 0.0, split=divided, strategy=options.strategy, admit=options.admit)
    return {**known(values_of(found, METRICS)), **{name: list(map(number, getattr(found, name))) for name in LISTS}}


def check(options: BufferOptions) -> None:
    """Refuse an unknown strategy or partition, and a common part that it cannot have."""
    check_policy("buffering", options.strategy)
    check_division(options.partition, options.common)
    check_admission(options.admit, options.partition)


def of_command(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The command has one option for both ways to say how large it is."""
    given = dict(options)
    part, lead = given.pop("part", None), given.pop("lead", None)
    if lead is not None:
        given["lead"] = written(lead)
    return given if part is None else {"capacity": f"{100.0 * part:.15g}%", **given}


TASK = Task(
    "buffer",
    BufferOptions,
    METRICS,
    LISTS,
    run,
    check,
    "penstock.studies.buffers",
    (("buffering", "strategy"),),
    of_command,
)
