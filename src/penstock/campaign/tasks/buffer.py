"""A burst buffer of a given size: as `penstock buffer`. The size is in bytes, or a part of what lets nobody wait."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from penstock.buffering import find
from penstock.buffers import buffer
from penstock.campaign.case import Case
from penstock.campaign.tasks.task import Metric, Task, Values, values_of
from penstock.model.problems import reject
from penstock.model.record import Bytes, Name, Record, Share
from penstock.sizing import Sizing, size_buffer

METRICS = (
    Metric("max_stretch", best=-1, bounds=("bound_max_stretch",), main=True),
    Metric("mean_stretch", best=-1, bounds=("bound_mean_stretch",), main=True),
    Metric("bound_max_stretch"),
    Metric("bound_mean_stretch"),
    Metric("capacity"),
    Metric("end"),
    Metric("events"),
)
LISTS = ("completion", "stretch", "shares")


class Buffer(Record):
    """How large, and who decides; everybody's part is in proportion to what the static sizing gives him."""

    capacity: Bytes | None = None
    part: Share | None = None  # of the static size
    strategy: Name = "fair"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.capacity is None) == (self.part is None):
            text = "needs one of 'capacity' (bytes) and 'part' (of the size with which nobody waits)"
            reject("Buffer", [((), None, text)])
        return self


def run(case: Case, options: Buffer) -> Values:
    """All metrics of one run; the sizing serves every plan."""
    sizing = case.once("static sizing", lambda: size_buffer(case.scenario, "static"))
    capacity = options.capacity if options.part is None else options.part * sizing.size
    found = buffer(case.scenario, capacity or 0.0, _parts(sizing), options.strategy)
    return {**values_of(found, METRICS), **{name: list(getattr(found, name)) for name in LISTS}}


def _parts(sizing: Sizing) -> dict[str, float]:
    shares = sizing.shares or {}
    if sizing.size <= 0.0:
        return dict.fromkeys(shares, 1.0 / len(shares))
    return {name: share / sizing.size for name, share in shares.items()}


def check(options: Buffer) -> None:
    """Refuse an unknown strategy."""
    find(options.strategy)


TASK = Task("buffer", Buffer, METRICS, LISTS, run, check)
