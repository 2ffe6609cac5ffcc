"""Rows of what jobs moved, from a log: the form that every kind of table is brought into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Bools, Floats
from penstock.traces.job import Source
from penstock.traces.result import Skipped


class Moved(NamedTuple):
    """A row per transfer, or per interval between two readings of a counter; `nodes` is 0 where unknown."""

    job: list[str]
    start: Floats
    end: Floats
    volume: Floats
    writes: Bools
    nodes: Floats
    source: Source
    resolution: float | None  # seconds between readings
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


def differences(readings: Iterable[tuple[float, float]], born: float | None = None) -> list[tuple[float, float, float]]:
    """Intervals (start, end, bytes) of a counter that only grows; one that shrinks was reset, and began again at 0.

    The first reading says nothing about when its bytes moved, unless it is known since when the counter is there.
    """
    found = []
    before: tuple[float, float] | None = (born, 0.0) if born is not None else None
    for time, value in readings:
        if before is not None and time > before[0]:
            grown = value - before[1] if value >= before[1] else value
            if grown > 0:
                found.append((before[0], time, grown))
        if before is None or time > before[0]:
            before = (time, value)
    return found


def gathered(
    rows: Iterable[tuple[str, bool, float, float, float]], resolution: float | None, notes: Iterable[str] = ()
) -> Moved:
    """Rows (job, writes, start, end, bytes) that were counted between readings."""
    listed = list(rows)
    start, end, volume = (np.array([row[i] for row in listed]) for i in (2, 3, 4))
    return Moved(
        job=[row[0] for row in listed],
        start=start,
        end=end,
        volume=volume,
        writes=np.array([row[1] for row in listed], bool),
        nodes=np.zeros(len(listed)),
        source="heatmap",
        resolution=resolution,
        notes=tuple(notes),
    )
