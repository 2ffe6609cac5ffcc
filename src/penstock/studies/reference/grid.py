"""Time in slots, for a reference: what a yield asks of every application, as the delay that it may have.

An application that has waited for D seconds in all is, at time t, where it would be alone at t - D: at the *place*
t - D. A yield y leaves it a largest delay. Fluid schedules have any delays; on a grid of slots they are whole numbers,
and every fluid schedule becomes one of the grid's with delays rounded up (`delays.py`, `chain_bound.py` say why).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.engine.dedicated import dedicated
from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, Ints
from penstock.metrics.bounds import aim
from penstock.studies.optimum.chains import bicolored
from penstock.studies.optimum.integers import whole

_NEARLY = 1e-9  # of a slot: what rounding makes of a whole number


@dataclass(frozen=True)
class SoloProgress:
    """One application alone, by seconds from the begin: at `at` it reaches an end of a phase, and has moved `moved`."""

    at: Floats
    moved: Floats  # seconds of the whole bandwidth

    def transferred(self, place: Floats) -> Floats:
        """Seconds of the whole bandwidth that it has used at these places."""
        return np.interp(place, self.at, self.moved)


@dataclass(frozen=True)
class Grid:
    """A program that is cut into slots of `slot` seconds."""

    program: Program
    slot: float

    @cached_property
    def lines(self) -> tuple[SoloProgress, ...]:
        """Every application alone."""
        return tuple(line(self.program, i) for i in range(len(self.program.names)))

    @cached_property
    def aligned(self) -> bool:
        """Whether every phase begins and ends at the edge of a slot."""
        edges = np.concatenate([each.at for each in self.lines]) / self.slot
        return bool(np.all(np.abs(edges - np.round(edges)) <= _NEARLY * np.maximum(1.0, edges)))

    @cached_property
    def listed(self) -> Floats:
        """Seconds that all phases of each application take alone."""
        return dedicated(self.program).listed

    def needs(self, y: float) -> tuple[Floats, Ints]:
        """The place that each must reach for a yield y, and the delay in slots, rounded up, that this leaves it."""
        need, due = aim(self.program, self.listed, y)
        place = self.program.start - self.program.begin + need
        return place, slots_up((due - place) / self.slot)

    def slots(self, y: float) -> int:
        """How many slots pass until all have reached what they need for a yield y."""
        _, due = aim(self.program, self.listed, y)
        return int(slots_up(due.max() / self.slot))


def line(program: Program, application: int) -> SoloProgress:
    """An application alone."""
    own = slice(*program.first[application : application + 2])
    seconds = np.stack([program.work[own], program.volume[own] / program.limit[own]], axis=1).ravel()
    moved = np.stack([np.zeros(own.stop - own.start), program.volume[own] / program.capacity], axis=1).ravel()
    start = program.start[application] - program.begin
    return SoloProgress(start + np.concatenate([[0.0], np.cumsum(seconds)]), np.concatenate([[0.0], np.cumsum(moved)]))


def slots_up(slots: Floats) -> Ints:
    """Rounded up, where what is a rounding error above a whole number is that number; at least 0."""
    return np.maximum(0.0, np.ceil(slots - _NEARLY * np.maximum(1.0, np.abs(slots)))).astype(np.int64)


def slots_down(slots: Floats) -> Ints:
    """Rounded down, likewise."""
    return np.floor(slots + _NEARLY * np.maximum(1.0, np.abs(slots))).astype(np.int64)


def grids(program: Program, least: float, counts: tuple[int, ...]) -> Iterator[Grid]:
    """Grids with about so many slots, such that phases are whole numbers of slots wherever that is possible."""
    length = program.end - program.begin if program.windowed else float(aim_ends(program, least))
    known = whole(bicolored(program, program.begin), length)
    units = length / float(known.unit)
    step = round(units) if known.exact and abs(units - round(units)) <= _NEARLY * units else 1
    for count in counts:
        yield Grid(program, length / (count // step * step or count))


def aim_ends(program: Program, y: float) -> float:
    """When the last has reached what it needs for a yield y, in seconds from the begin."""
    _, due = aim(program, dedicated(program).listed, y)
    return float(due.max())
