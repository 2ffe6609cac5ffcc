"""A job as any log tells it: who, when, on how many nodes, and when its bytes moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from penstock.traces.pieces import NONE, IoPieces

Origin = Literal["given", "measured", "lower_bound", "model", "assumed"]
Source = Literal["dxt", "heatmap", "counters", "accounting", "model"]

UNKNOWN_ABOVE = 0.05  # of the run time: bytes displaced by more say nothing about bursts
FINE = 0.005


@dataclass(frozen=True)
class Job:
    """Times of `pieces` are since `start`; `start` is in seconds since 1970, or since the begin of the trace."""

    id: str
    user: str
    executable: str
    start: float
    seconds: float
    pieces: IoPieces = NONE
    source: Source = "counters"
    complete: bool = True  # nothing that the source should hold was cut off
    timed: bool = True  # the source has times at all
    resolution: float | None = None  # seconds of a bin, where the source counts in bins
    nodes: int | None = None
    nodes_origin: Origin = "assumed"
    processes: int = 1
    io_seconds: float | None = None  # spent reading and writing, by the slowest process
    meta_seconds: float | None = None  # spent opening, closing, looking up: by a process, on average
    imbalance: float | None = None  # slowest process against the mean
    opens: int = 0
    stripes: Mapping[int, float] = field(default_factory=dict)  # Lustre: bytes by stripe count
    logs: int = 1
    flags: tuple[str, ...] = ()

    @property
    def end(self) -> float:
        """When it was over."""
        return self.start + self.seconds

    @property
    def read(self) -> float:
        """Bytes."""
        return float(self.pieces.volume[~self.pieces.writes].sum())

    @property
    def written(self) -> float:
        """Bytes."""
        return float(self.pieces.volume[self.pieces.writes].sum())

    @cached_property
    def structure(self) -> Literal["known", "unknown"]:
        """Whether the source can tell one burst from a hundred."""
        return "unknown" if self.pieces.bound > UNKNOWN_ABOVE * self.seconds else "known"

    @property
    def quality(self) -> str:
        """A: bytes within 0.5 % of the run, and complete; B: within 5 %; C: bursts unknown; D: cut off, or no times."""
        if not (self.complete and self.timed):
            return "D"
        if self.structure == "unknown":
            return "C"
        return "A" if self.pieces.bound <= FINE * self.seconds else "B"

    @property
    def application(self) -> tuple[str, int]:
        """What runs of the same thing have in common."""
        return self.executable, self.processes
