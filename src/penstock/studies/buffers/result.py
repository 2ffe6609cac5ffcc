"""What comes of a burst buffer of a given size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.kernels.arrays import Floats


@dataclass(frozen=True)
class Filling:
    """What the buffer holds, event by event."""

    time: Floats
    output: Floats  # events × applications: written and not drained yet
    input: Floats  # events × applications: fetched ahead


@dataclass(frozen=True)
class Buffered:
    """A run with a burst buffer. A stretch is (C - release) / (C_min - release), C_min with every phase at full cap."""

    capacity: float
    partition: str
    common: float  # the part of the capacity that anybody may use
    strategy: str
    names: tuple[str, ...]
    shares: tuple[float, ...]  # each application's own part of the buffer, bytes; all of it if there are none
    completion: tuple[float, ...]
    stretch: tuple[float, ...]
    max_stretch: float
    mean_stretch: float
    bound_max_stretch: float  # no strategy is better
    bound_mean_stretch: float
    end: float  # when everything had been drained
    peak: float  # the most that was held at a time; above the capacity where late jobs overlap others' reused parts
    events: int
    seconds: float
    filling: Filling | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("names", "filling")}
        named = ("shares", "completion", "stretch")
        return plain | {name: dict(zip(self.names, getattr(self, name), strict=True)) for name in named}
