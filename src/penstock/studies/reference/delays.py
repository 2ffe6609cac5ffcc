"""For a reference, the exact optimum of a few applications: all delays that they can have at once, slot by slot.

Where everybody can use the whole bandwidth, sharing it gains nothing over serving one at a time: whoever serves the
operations of a fluid schedule by earliest deadline, each from its posting to its completion there, meets all of these.
Rounded up to slots, releases and completions keep that property as long as phases are whole numbers of slots, for the
bytes between two slots are a whole number, too. So every fluid schedule has one on the grid with every delay rounded
up. Phases that are no whole numbers are rounded down, which makes nothing impossible that was possible.

What can be reached slot by slot is a set of vectors of delays: who computes keeps its delay, one of those with an
operation posted is served and keeps it, too, and the others' grow by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import types

from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, FloatTable, Ints, IntTable
from penstock.kernels.compile import inlined, kernel
from penstock.kernels.numba_types import INTS
from penstock.metrics.bounds import aim
from penstock.studies.reference.grid import Grid, SoloProgress, grids, slots_down, slots_up

MOST_APPLICATIONS = 4
MOST_STATES = 60_000_000  # over all slots: a byte each
SLOTS = (4000, 3000, 2000, 1500, 1000, 700, 500, 350, 250, 180, 120, 80, 50, 30)  # tried in this order
_HALVINGS = 30
_BYTES = types.uint8[:, ::1]
_WHOLE = types.int64[:, ::1]


class Exact(NamedTuple):
    """No schedule has a higher minimum yield than `bound`; `served` says who has each slot (-1: nobody) in the best."""

    bound: float
    slot: float
    slots: int
    aligned: bool
    served: Ints


@dataclass(frozen=True)
class Delays:
    """Which delays are possible together, for schedules with a minimum yield of at least `least`."""

    grid: Grid
    least: float

    @cached_property
    def lines(self) -> tuple[SoloProgress, ...]:
        """Every application alone, its phases rounded down; in slots."""
        return tuple(shortened(each, self.grid.slot) for each in self.grid.lines)

    @cached_property
    def slots(self) -> int:
        """How many slots there are."""
        return self.grid.slots(self.least)

    @cached_property
    def most(self) -> Ints:
        """The largest delay of each."""
        return slots_up(self._delays(self.least))

    @property
    def states(self) -> int:
        """How many combinations of delays there are, over all slots."""
        return int((self.slots + 1) * np.prod(self.most + 1.0))

    def _delays(self, y: float) -> Floats:
        """The delay, in slots and not rounded, that each may have for a yield y."""
        program = self.grid.program
        need, due = aim(program, self.grid.listed, y)
        place = program.start - program.begin + need
        short = [np.interp(place[i], line.at, self.lines[i].at) for i, line in enumerate(self.grid.lines)]
        beyond = np.array([max(0.0, place[i] - line.at[-1]) for i, line in enumerate(self.grid.lines)])
        left: Floats = due / self.grid.slot - np.array(short) - np.floor(beyond / self.grid.slot)
        return left

    def values(self, top: float) -> FloatTable:
        """For each application and delay the highest yield that it can have with it, up to `top`."""
        low = np.full((self.most.size, int(self.most.max()) + 1), self.least)
        high = np.full(low.shape, top)
        allowed = np.arange(low.shape[1]) - 1.0  # a delay that is rounded up to d is above d - 1
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            fits = np.array([[self._delays(y)[i] for y in row] for i, row in enumerate(middle)]) > allowed
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return high

    def solve(self, top: float) -> Exact:
        """The best that can be reached; no schedule has more than `top`."""
        posted = np.zeros((self.most.size, self.slots + 1), np.int64)
        for row, line in zip(posted, self.lines, strict=True):
            for begin, end in zip(line.at[1::2].astype(int), line.at[2::2].astype(int), strict=True):
                row[begin:end] = 1
        size = np.cumprod(np.concatenate([[1], self.most + 1]))
        reached = np.zeros((self.slots + 1, int(size[-1])), np.uint8)
        served = np.full(self.slots, -1)
        best = explore(posted, self.most, size[:-1].copy(), self.values(top), reached, served)
        return Exact(max(best, self.least), self.grid.slot, self.slots, self.grid.aligned, served)


def shortened(line: SoloProgress, slot: float) -> SoloProgress:
    """The same with its start and all its phases rounded down to whole slots; places are in slots."""
    phases = slots_down(np.diff(line.at, prepend=0.0) / slot)
    return SoloProgress(np.cumsum(phases).astype(float), line.moved / slot)


def exact(program: Program, least: float, top: float) -> Exact | None:
    """The best on the finest grid that is affordable; None if there is none. `least` is what some schedule has."""
    for grid in grids(program, least, SLOTS):
        tried = Delays(grid, least)
        if tried.states <= MOST_STATES:
            return tried.solve(top)
    return None


@inlined
def delay_of(state: int, application: int, size: Ints, most: Ints) -> int:
    """The delay of an application in a state."""
    return (state // size[application]) % (most[application] + 1)  # type: ignore[no-any-return]


@inlined
def in_io(posted: IntTable, slot: int, delay: int, application: int) -> bool:
    """Whether an application has an operation posted in a slot if it has that delay."""
    return slot >= delay and posted[application, slot - delay] == 1


@inlined
def after(posted: IntTable, most: Ints, size: Ints, slot: int, state: int, chosen: int) -> int:
    """The state after a slot in which `chosen` is served; -1 if somebody's delay becomes too large."""
    then = state
    for i in range(most.size):
        delay = delay_of(state, i, size, most)
        if i != chosen and in_io(posted, slot, delay, i):
            if delay == most[i]:
                return -1
            then += size[i]
    return then


@inlined
def come_from(posted: IntTable, most: Ints, size: Ints, reached: Any, slot: int, state: int) -> tuple[int, int]:
    """A state from which `state` is reached in a slot, and who is served in it."""
    for waited in range(1 << most.size):
        before, possible = state, True
        for i in range(most.size):
            if waited >> i & 1:
                possible = possible and delay_of(state, i, size, most) > 0
                before -= size[i]
        if possible and reached[slot, before] == 1:
            idle = True
            for i in range(most.size):
                if in_io(posted, slot, delay_of(before, i, size, most), i):
                    idle = False
                    if after(posted, most, size, slot, before, i) == state:
                        return before, i
            if idle and before == state:
                return before, -1
    return -1, -1


@kernel(types.float64(_WHOLE, INTS, INTS, types.float64[:, ::1], _BYTES, INTS))
def explore(posted: IntTable, most: Ints, size: Ints, values: FloatTable, reached: Any, served: Ints) -> float:
    """Mark what can be reached, find the best at the end, and who was served on the way to it."""
    slots = served.size
    reached[0, 0] = 1
    for slot in range(slots):
        for state in range(reached.shape[1]):
            if reached[slot, state] == 0:
                continue
            idle = True
            for i in range(most.size):
                if in_io(posted, slot, delay_of(state, i, size, most), i):
                    idle = False
                    then = after(posted, most, size, slot, state, i)
                    if then >= 0:
                        reached[slot + 1, then] = 1
            if idle:
                reached[slot + 1, state] = 1
    best, last = -1.0, -1
    for state in range(reached.shape[1]):
        if reached[slots, state] == 1:
            lowest = np.inf
            for i in range(most.size):
                lowest = min(lowest, values[i, delay_of(state, i, size, most)])
            if lowest > best:
                best, last = lowest, state
    slot = slots
    while slot > 0 and last >= 0:
        slot -= 1
        last, served[slot] = come_from(posted, most, size, reached, slot, last)
    return best
