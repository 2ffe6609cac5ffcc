"""What a study of a burst buffer gives: what comes of one of a given size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from penstock.kernels.arrays import Floats
from penstock.metrics.losses import RunLosses
from penstock.model.scales import byte_scale
from penstock.model.tabular import Tabular, shown
from penstock.studies.buffer_words import FOREVER
from penstock.studies.sizing.lead import Infeasible

_NAMED = ("shares", "completion", "stretch", "stretch_p5", "cut")
_WORSE = 1.0 + 1e-6  # by less than this nothing is worse: rounding


@dataclass(frozen=True)
class Filling:
    """What the buffer holds, event by event."""

    time: Floats
    output: Floats  # events × applications: written and not drained yet
    input: Floats  # events × applications: fetched ahead


@dataclass(frozen=True)
class Without:
    """The same run without a buffer."""

    max_stretch: float
    mean_stretch: float
    node_hours_lost: float


@dataclass(frozen=True, kw_only=True)
class Buffered(RunLosses, Tabular):
    """A run with a burst buffer. A stretch is (C - release) / (C_min - release), C_min with every phase at full cap.

    NaN stands for the completion and the stretch of who was cut off, and for the stretches of all if nobody finished.
    """

    capacity: float
    partition: str
    common: float  # the part of the capacity that anybody may use
    strategy: str
    lead: float  # how long before its release the input of an application was fetched at the earliest
    admit: str  # now, or wait: applications start when there is room for their parts
    infeasible: Infeasible | None  # no size is enough with that lead or port, so the parts are those of any
    names: tuple[str, ...]
    shares: tuple[float, ...]  # each application's whole part of the buffer, bytes; all of it if there are none
    completion: tuple[float, ...]
    stretch: tuple[float, ...]
    stretch_p5: tuple[float, ...]  # C / C_min, as P5 has it: it counts from time 0, not from the release
    cut: tuple[bool, ...]  # off by the walltime
    max_stretch: float
    mean_stretch: float
    max_stretch_p5: float
    mean_stretch_p5: float
    bound_max_stretch: float  # no strategy is better
    bound_mean_stretch: float
    end: float  # when everything had been drained
    peak: float  # the most that was held at a time, of those that had ended, too
    through_buffer: float  # bytes that were written into the buffer, by applications or from the file system
    drive_writes_per_day: float | None  # how often that would fill the buffer in a day; None without one
    events: int
    seconds: float
    without: Without | None = None
    filling: Filling | None = None

    def rows(self) -> list[dict[str, Any]]:
        """One row per application."""
        columns = {name: getattr(self, name) for name in _NAMED}
        return [
            {"name": name, **{column: values[place] for column, values in columns.items()}}
            for place, name in enumerate(self.names)
        ]

    def headline(self) -> str:
        """What was run, and how long the slowest took."""
        size = byte_scale(self.capacity, pure=False).show(self.capacity)
        return f"{self.strategy} behind {size}: max stretch {shown(self.max_stretch)}"

    @property
    def worse(self) -> tuple[str, ...]:
        """In what this is worse than no buffer at all; nothing, if that was not tried."""
        if self.without is None:
            return ()
        metrics = ("max_stretch", "mean_stretch", "node_hours_lost")
        return tuple(name for name in metrics if getattr(self, name) > _WORSE * getattr(self.without, name) + 1e-12)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        left = ("names", "filling", *_NAMED, "lead", "infeasible", "without")
        plain = {name: _known(getattr(self, name)) for name in self.__dataclass_fields__ if name not in left}
        named = {name: dict(zip(self.names, map(_known, getattr(self, name)), strict=True)) for name in _NAMED}
        return (
            plain
            | named
            | {
                "lead": self.lead if math.isfinite(self.lead) else FOREVER,
                "infeasible": None if self.infeasible is None else self.infeasible._asdict(),
                "without": None
                if self.without is None
                else {key: _known(each) for key, each in vars(self.without).items()},
                "worse_than_none": list(self.worse),
            }
        )


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
