"""Sizing a buffer: its own bandwidth, the *port*, where that is too small for a buffer of any size (models §8).

A buffer that is large enough need never drain, and can be filled before anything starts. But what applications move in
an interval beyond what the file system carries must cross the port at once. Where input may not be fetched early,
fetching it crosses the port, too: the smallest port that is enough is then a linear program, the one of the size with
the port for its goal.

How much longer somebody takes then, at least: an application that may end d seconds late moves every byte no earlier
than at full speed from its release, and no later than d seconds after that. What cannot be put off beyond that must fit
through file system and port; and each alone must get its bytes through them. Which order is best is a hard question of
its own (P2), so that is a bound.
"""

from __future__ import annotations

import math

import numpy as np

from penstock.kernels.arrays import Floats, Ints
from penstock.studies.sizing.both_ways import LinearProgram
from penstock.studies.sizing.excess import first_excess, scratch_of
from penstock.studies.sizing.lead import Infeasible, least_stretch
from penstock.studies.sizing.traffic import Traffic, caps_of

_ROUNDING = 1e-9
_PRICED = 1e-9


def too_narrow(traffic: Traffic) -> Infeasible | None:
    """Who moves more at some instant than file system and port carry, if anybody does."""
    needed = _least_crossing(traffic) / traffic.seconds
    interval = int(np.argmax(needed > traffic.limits.port * (1.0 + _ROUNDING)))
    if needed[interval] <= traffic.limits.port * (1.0 + _ROUNDING):
        return None
    if math.isfinite(traffic.lead):
        return too_narrow_to_fetch(traffic)  # which may need more than that
    pieces = traffic.pieces()
    there = pieces.interval == interval
    moved = np.bincount(pieces.owner[there], pieces.amount[there])
    return _named(traffic, int(np.argmax(moved)), interval, float(needed.max()))


def too_narrow_to_fetch(traffic: Traffic) -> Infeasible | None:
    """The same where nothing is fetched before its application enters; exact, and takes longer."""
    program = _LeastPort(traffic)
    found = program.solve()
    if found.size <= traffic.limits.port * (1.0 + _ROUNDING):
        return None
    # Where the port is full, somebody fetches what is read then or soon after.
    interval = int(np.flatnonzero(found.prices[program.port] > _PRICED)[-1])
    crossing = np.abs(np.diff(found.output)) + np.abs(np.diff(found.input))
    return _named(traffic, int(np.argmax(crossing[:, interval])), interval, found.size)


def _least_crossing(traffic: Traffic) -> Floats:
    """L: what crosses the port of the largest of buffers, at least."""
    limits, seconds = traffic.limits, traffic.seconds
    written, read = traffic.demand(False), traffic.demand(True)
    each = np.maximum(0.0, written - limits.write * seconds) + np.maximum(0.0, read - limits.read * seconds)
    crossing: Floats = np.maximum(each, written + read - limits.joint * seconds)
    return crossing


def _named(traffic: Traffic, index: int, interval: int, needed: float) -> Infeasible:
    """Who moves most through the port when it is too small, and what is possible."""
    stretch = max(1.0, _each_alone(traffic), _all_together(traffic))
    return Infeasible(traffic.names[index], float(traffic.events[interval]), stretch, needed)


def _each_alone(traffic: Traffic) -> float:
    """The largest stretch if each has file system and port for itself."""
    limits, scenario = traffic.limits, traffic.scenario
    known = {application.name: application for application in scenario.applications}
    caps = np.array([caps_of(known[name], scenario) for name in traffic.names])
    limit = np.array([limits.read, limits.write]) + limits.port
    way = 1 - traffic.reading
    slower = np.maximum(0.0, 1.0 / limit[way] - 1.0 / caps[traffic.owner, way])
    later = np.bincount(traffic.owner, traffic.volume * slower, len(traffic.names))
    return 1.0 + float((later / (traffic.completion - traffic.release)).max(initial=0.0))


def _all_together(traffic: Traffic) -> float:
    """The smallest stretch with which what must be moved between any two instants fits through both."""
    limits, pieces = traffic.limits, traffic.pieces()
    alone = (traffic.completion - traffic.release)[pieces.owner]
    begin = traffic.events - traffic.events[0]
    both = min(limits.joint, limits.read + limits.write)
    groups = [(pieces.reading, limits.read), (~pieces.reading, limits.write), (np.ones_like(pieces.reading), both)]

    def fits(stretch: float) -> bool:
        deadline = begin[pieces.interval + 1] + (stretch - 1.0) * alone
        return all(
            _fit(begin, pieces.interval[own], pieces.amount[own], deadline[own], limit + limits.port)
            for own, limit in groups
            if own.any() and math.isfinite(limit)
        )

    return 1.0 if fits(1.0) else least_stretch(fits)


def _fit(begin: Floats, place: Ints, amount: Floats, deadline: Floats, limit: float) -> bool:
    order = np.argsort(deadline, kind="stable")
    slack = _ROUNDING * float(amount.sum())
    columns = place[order], begin, amount[order], deadline[order]
    return first_excess(*columns, limit, slack, *scratch_of(begin.size)) < 0


class _LeastPort(LinearProgram):
    """The smallest port with which a buffer without bounds is enough: its last column, in place of the size."""

    def __init__(self, traffic: Traffic) -> None:
        super().__init__(traffic.behind(traffic.limits._replace(port=0.0)), together=True, through_port=True)

    def _size_rows(self) -> None:
        self.port = next(limited.row for limited in self.limited if not limited.ways)
        self.rows.put(self.port, np.full(self.port.size, self.size), -self.traffic.seconds)
