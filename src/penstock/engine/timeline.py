"""Who did what when in a run of the engine: its I/O segments, each with a constant rate."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.kernels.arrays import Floats, Ints


@dataclass(frozen=True)
class Timeline:
    """Segments of I/O in order of their end; rate 0 means waiting. Between its segments an application computes.

    An application computes from `started` to its first segment, between segments that do not touch, and from
    its last segment to `stopped` (its completion, when its walltime cut it off, or the end of the window).
    """

    names: tuple[str, ...]
    capacity: float
    begin: float
    end: float  # the run's last instant
    started: Floats  # per application
    stopped: Floats  # per application
    application: Ints  # per segment: index into names
    operation: Ints  # per segment: which operation of the application, from 0
    start: Floats
    stop: Floats
    rate: Floats  # bytes/s
    cut: int  # segments from here on were cut off, by the end of the run or a walltime
