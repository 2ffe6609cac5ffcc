"""Metrics of how even a run is over time: the lowest yield at every instant, and in every stretch of time.

The min yield at the end of a window says nothing about what happened before: who was held back for weeks and made it
good in the last days looks as well served as one that never waited.

    even_yield    mean over time of the lowest yield at that instant, of those that are there
    sliding_min   lowest share of any stretch of time that somebody spent usefully, of those that are there throughout

Both come from the segments of the run, in which everybody loses time at a constant rate: exact but for rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.engine.program import Program
from penstock.engine.timeline import Timeline
from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.compile import inlined, kernel

# Of the run: P1's windows are four times as long as the 5e5 s in which its jobs, of up to 2e5 s an iteration, are
# expected to be served alike.
STRETCH = 0.25

_COMES, _CHANGES, _GOES = 0.0, 1.0, 2.0
_CLOSE = 1e-6  # of a piece of time: two yields that cross within it are taken for equal
_F, _I = types.float64[::1], types.int64[::1]


class Evenness(NamedTuple):
    """None: nobody was there, or nobody for so long."""

    even_yield: float | None
    sliding_min: float | None


def evenness_of(program: Program, timeline: Timeline, stretch: float | None = None) -> Evenness:
    """How even a run was; `stretch` is the length, in seconds, of the stretches for `sliding_min`."""
    losing = 1.0 - timeline.rate / program.limit[program.first[timeline.application] + timeline.operation]
    losing = np.where(losing > SAME, losing, 0.0)
    begin = float(timeline.started.min())
    seconds = STRETCH * (timeline.end - begin) if stretch is None else stretch
    return Evenness(_even_yield(program, timeline, losing), _sliding_min(timeline, losing, seconds))


def _even_yield(program: Program, timeline: Timeline, losing: Floats) -> float | None:
    everybody = np.arange(len(program.names))
    # Who goes, goes first of all that happens at an instant, and a segment that ends does so before the next begins.
    when = np.concatenate([timeline.stopped, timeline.stop, timeline.start, timeline.started])
    who = np.concatenate([everybody, timeline.application, timeline.application, everybody])
    kinds = [_GOES, _CHANGES, _CHANGES, _COMES]
    what = np.repeat(kinds, [everybody.size, losing.size, losing.size, everybody.size])
    first = timeline.started - program.release
    value = np.concatenate([np.zeros(everybody.size + losing.size), losing, first])
    rank = np.repeat([1, 0, 3, 2], [everybody.size, losing.size, losing.size, everybody.size])
    order = np.lexsort([rank, when])
    age, slopes, there = np.zeros((3, everybody.size))
    # Who lost nothing has a loss of 0, lest rounding errors cross each other all the time.
    lost = np.where(first - program.progress > SAME * first, first - program.progress, 0.0)
    area, seconds = _lowest_area(when[order], who[order], what[order], value[order], age, lost, slopes, there)
    return float(area / seconds) if seconds > 0.0 else None


@inlined
def _loss(i: int, x: float, age: Floats, lost: Floats, losing: Floats) -> float:
    """The share of its age that an application has lost x seconds from now."""
    return (lost[i] + losing[i] * x) / (age[i] + x) if age[i] + x > 0.0 else 0.0


@inlined
def _next_crossing(i: int, j: int, after: float, age: Floats, lost: Floats, losing: Floats) -> float:
    """How many seconds from now, beyond `after`, two losses are the same again."""
    # (lost_i + s_i·x)·(age_j + x) = (lost_j + s_j·x)·(age_i + x), a quadratic equation.
    two = losing[i] - losing[j]
    one = lost[i] + losing[i] * age[j] - lost[j] - losing[j] * age[i]
    none = lost[i] * age[j] - lost[j] * age[i]
    if two == 0.0:
        root = -none / one if one != 0.0 else np.inf
        return root if root > after else np.inf
    inside, found = one * one - 4.0 * two * none, np.inf
    if inside >= 0.0:
        # The root that does not cancel, and the other by their product.
        half = -0.5 * (one + np.copysign(np.sqrt(inside), one))
        other = none / half if half != 0.0 else np.inf
        if half / two > after:
            found = half / two
        if after < other < found:
            found = other
    return found


@inlined
def _area(i: int, x: float, until: float, age: Floats, lost: Floats, losing: Floats) -> float:
    """The integral of one application's loss from x to `until` seconds from now."""
    # s + K/age, with K = lost - s·age.
    apart = lost[i] - losing[i] * age[i]
    area: float = losing[i] * (until - x)
    if apart != 0.0:
        area += apart * np.log((age[i] + until) / (age[i] + x))
    return area


@inlined
def _worst(x: float, age: Floats, lost: Floats, losing: Floats, there: Floats) -> int:
    """Who has lost most x seconds from now; -1 if nobody is there."""
    worst, most = -1, -np.inf
    for i in range(age.size):
        if there[i] > 0.0:
            loss = _loss(i, x, age, lost, losing)
            if loss > most:
                worst, most = i, loss
    return worst


@inlined
def _most_lost(span: float, age: Floats, lost: Floats, losing: Floats, there: Floats) -> float:
    """The integral of the largest loss over the next `span` seconds; NaN if nobody is there."""
    area, x = 0.0, 0.0
    while x < span:
        near = x + _CLOSE * (span - x)
        worst, until = _worst(near, age, lost, losing, there), span
        if worst < 0:
            return np.nan
        # Where x and span are one but for rounding, there is nothing between them.
        if near > x:
            for i in range(age.size):
                if there[i] > 0.0 and i != worst:
                    until = min(until, _next_crossing(worst, i, near, age, lost, losing))
        area += _area(worst, x, until, age, lost, losing)
        x = until
    return area


@kernel(types.UniTuple(types.float64, 2)(_F, _I, _F, _F, _F, _F, _F, _F))
def _lowest_area(
    when: Floats,
    who: Ints,
    what: Floats,
    value: Floats,
    age: Floats,
    lost: Floats,
    losing: Floats,
    there: Floats,
) -> tuple[float, float]:
    """The integral of the lowest yield of those that are there, and for how long there was anybody."""
    area, seconds = 0.0, 0.0
    for event in range(when.size):
        span = when[event] - when[max(0, event - 1)]
        if span > 0.0:
            most = _most_lost(span, age, lost, losing, there)
            if most == most:  # noqa: PLR0124  # a number
                area += span - most
                seconds += span
            for i in range(age.size):
                # A first segment may begin a rounding error before its application comes.
                lost[i] += losing[i] * span * there[i]
                age[i] += span
        i = who[event]
        if what[event] == _CHANGES:
            losing[i] = value[event]
        else:
            there[i] = 1.0 if what[event] == _COMES else 0.0
            age[i] = value[event]
    return area, seconds


def _sliding_min(timeline: Timeline, losing: Floats, seconds: float) -> float | None:
    """The lowest share that somebody has, of all stretches of so many seconds.

    What is lost in a stretch that slides changes at a constant rate until it begins or ends with a segment.
    """
    order = np.lexsort([timeline.start, timeline.application])
    bounds = np.searchsorted(timeline.application[order], np.arange(len(timeline.names) + 1))
    most = -np.inf
    for i in range(len(timeline.names)):
        first, last = timeline.started[i], timeline.stopped[i] - seconds
        if last < first * (1.0 - 1e-12):
            continue
        own = order[bounds[i] : bounds[i + 1]]
        knots, lost = _lost(timeline.start[own], timeline.stop[own], losing[own], first)
        begins = np.clip(np.concatenate([knots, knots - seconds, [first, last]]), first, max(first, last))
        most = max(most, float((np.interp(begins + seconds, knots, lost) - np.interp(begins, knots, lost)).max()))
    return float(1.0 - most / seconds) if most >= 0.0 and seconds > 0.0 else None


def _lost(start: Floats, stop: Floats, losing: Floats, first: float) -> tuple[Floats, Floats]:
    """When somebody's loss changes its rate, and what is lost until then."""
    knots = np.concatenate([[first], np.column_stack([start, stop]).ravel()])
    lost = np.concatenate([[0.0], np.cumsum((stop - start) * losing)])
    return knots, np.concatenate([[0.0], np.column_stack([lost[:-1], lost[1:]]).ravel()])
