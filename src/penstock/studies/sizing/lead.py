"""Sizing a buffer: how long before its release input may be fetched, and what is impossible then (models §8).

Whoever enters late and reads faster than the file system gives is held up, however large the buffer is. Then no size
lets everybody end as if alone. What is possible at best: an application that may end d seconds late needs its input at
full speed d seconds later, at the latest. So every byte of input has an instant before which it cannot be fetched, and
one by which it must be there. Output can always wait in a buffer that is large enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats, Ints
from penstock.model import Scenario
from penstock.studies.sizing.excess import first_excess, scratch_of
from penstock.studies.sizing.traffic import Traffic

_CLOSE = 1e-9
_ROUNDING = 1e-12  # of all that could be fetched, and of all that is


class Infeasible(NamedTuple):
    """Whose input cannot be there in time, at which instant, and the smallest possible largest stretch.

    Or, if the port is what is too small: who would move more than it lets through, from when on, and a stretch that
    somebody exceeds.
    """

    application: str
    instant: float
    stretch: float
    port: float | None = None  # the smallest with which some size is enough; None: the lead is what is too short


def lead_of(scenario: Scenario, given: float | None) -> float:
    """The lead asked for; by default any, where all are there from the beginning, and none where they come and go."""
    if given is None:
        return math.inf if all(each.release == 0.0 for each in scenario.applications) else 0.0
    if not isinstance(given, int | float) or not given >= 0.0:
        raise InvalidOption(f"the lead is {given!r}; accepted is a number of seconds ≥ 0, or infinity")
    return given


def infeasible(traffic: Traffic) -> Infeasible | None:
    """Who cannot have its input in time, if anybody cannot."""
    own = np.flatnonzero(traffic.reading)
    if math.isinf(traffic.lead) or math.isinf(traffic.limits.read) or not own.size:
        return None
    inputs = _Inputs(traffic, own)
    late = inputs.first_late(1.0)
    return None if late is None else Infeasible(*late, least_stretch(lambda stretch: not inputs.first_late(stretch)))


def least_stretch(in_time: Callable[[float], bool]) -> float:
    """The smallest stretch with which nobody is late; 1 is too small."""
    low, high = 1.0, 2.0
    while not in_time(high):
        low, high = high, 2.0 * high
    while high - low > _CLOSE * low:
        middle = (low + high) / 2.0
        low, high = (low, middle) if in_time(middle) else (middle, high)
    return high


class _Inputs:
    """The reads of all applications, each with the instant from which on it can be fetched."""

    def __init__(self, traffic: Traffic, own: Ints) -> None:
        self.names, self.origin = traffic.names, float(traffic.events[0])
        self.limit, self.owner, self.volume = traffic.limits.read, traffic.owner[own], traffic.volume[own]
        self.start = traffic.events[traffic.start[own]] - self.origin
        self.stop = traffic.events[traffic.stop[own]] - self.origin
        self.alone = (traffic.completion - traffic.release)[self.owner]
        # By the time of entry, so that equal ones count together.
        self.entries, self.place = np.unique(
            traffic.events[traffic.entry][self.owner] - self.origin, return_inverse=True
        )

    def first_late(self, stretch: float) -> tuple[str, float] | None:
        """Whose input is late at which instant, if everybody may take so many times as long; None: nobody's."""
        delay = (stretch - 1.0) * self.alone
        operation, deadline, amount = _cut(self.start + delay, self.stop + delay, self.volume)
        order = np.argsort(deadline, kind="stable")
        operation, deadline, amount = operation[order], deadline[order], amount[order]
        slack = _ROUNDING * (self.limit * float(deadline[-1]) + float(self.volume.sum()))
        columns = self.place[operation], self.entries, amount, deadline
        found = first_excess(*columns, self.limit, slack, *scratch_of(self.entries.size))
        if found < 0:
            return None
        return self.names[self.owner[operation[found]]], float(deadline[found]) + self.origin


def _cut(start: Floats, stop: Floats, volume: Floats) -> tuple[Ints, Floats, Floats]:
    """Operations cut where any of them stops: which one, by when, how much. Only there something can be late first."""
    marks = np.unique(stop)
    low, high = np.searchsorted(marks, start, side="right"), np.searchsorted(marks, stop)
    counts = high - low + 1
    operation = np.repeat(np.arange(counts.size), counts)
    mark = low[operation] + np.arange(operation.size) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = np.where(mark == low[operation], start[operation], marks[np.maximum(mark - 1, 0)])
    part = (marks[mark] - begin) / (stop - start)[operation]
    return operation, marks[mark], volume[operation] * part
