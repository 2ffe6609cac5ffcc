"""Sizing a buffer for one direction, with fixed shares: which S_k are enough, and if not, which interval proves it.

Everything is told for writes; reads are writes in reversed time. While application k runs, what it has written beyond
S_k must have left; after its end it may keep, together with everybody else who has ended, what those that run then
leave of the buffer, S - Σ S_j. So every byte has a time when it appears and one when it must be gone at the latest (of
those that have ended, the bytes that appeared first go first), and serving the earliest deadline first meets all
deadlines if any order does. If one is missed, there are two events s < t such that what appears after s and must be
gone by t is more than B·(t - s): a *cut*, a linear inequality in all S_k and S.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from penstock.kernels.arrays import Floats, FloatTable, Ints, IntTable
from penstock.kernels.compile import inlined, kernel
from penstock.kernels.numba_types import numba_type
from penstock.studies.sizing.traffic import Traffic

_F = types.float64[::1]
_I = types.int64[::1]
_F2 = types.float64[:, ::1]
_I2 = types.int64[:, ::1]

NEVER = np.iinfo(np.int64).max


class Way(NamedTuple):
    """The writes of `m` applications between `L + 1` events.

    A *point* says how much an application has written up to an event inside, or at the end of, one of its operations;
    the points of application k are `first[k] : first[k + 1]`, in time.
    """

    first: Ints  # m + 1
    event: Ints  # p
    written: Floats  # p
    total: Floats  # m: what it writes in all
    begin: Ints  # m: its release, an event
    end: Ints  # m: its completion, an event
    room: Floats  # L: what can be drained in an interval
    gone_by: Ints  # m: the event by which nothing is left of it, whatever it may keep; NEVER: none

    def written_at(self, event: int) -> Floats:
        """m: what each has written up to an event."""
        # Points lie application after application, in time: one search finds the last one of each.
        span = self.room.size + 2
        key = np.repeat(np.arange(self.total.size), np.diff(self.first)) * span + self.event
        place = np.searchsorted(key, np.arange(self.total.size) * span + event, side="right")
        amount = np.zeros(self.total.size)
        there = place > self.first[:-1]
        amount[there] = self.written[place[there] - 1]
        return amount


WAY = numba_type(Way)


def way_of(traffic: Traffic, reading: bool) -> Way:
    """The writes of all applications, or their reads in reversed time."""
    own = np.flatnonzero(traffic.reading == reading)
    start, stop, owner = traffic.start[own], traffic.stop[own], traffic.owner[own]
    volume, begin, end, events = traffic.volume[own], traffic.begin, traffic.end, traffic.events
    limit = traffic.limits.read if reading else traffic.limits.write
    gone_by = np.full(begin.size, NEVER)
    if reading:
        last = traffic.count
        order = np.lexsort([-start, owner])
        start, stop, owner, volume = last - stop[order], last - start[order], owner[order], volume[order]
        begin, end, events = last - end, last - begin, -events[::-1]
        # Nothing is fetched before the entry.
        gone_by = np.where(traffic.entry >= 0, last - traffic.entry, NEVER)
    return _points(start, stop, owner, volume, begin, end, events, limit)._replace(gone_by=gone_by)


def _points(
    start: Ints, stop: Ints, owner: Ints, volume: Floats, begin: Ints, end: Ints, events: Floats, limit: float
) -> Way:
    m = begin.size
    counts = stop - start
    operation = np.repeat(np.arange(counts.size), counts)
    event = start[operation] + 1 + np.arange(operation.size) - np.repeat(np.cumsum(counts) - counts, counts)
    total = np.bincount(owner, weights=volume, minlength=m).astype(np.float64)
    # Summed per application: a sum over all of them would lose digits.
    before = np.concatenate([[0.0], *(np.cumsum(volume[owner == k]) for k in range(m))])[:-1] if volume.size else volume
    before = before.copy()
    before[np.flatnonzero(np.diff(owner, prepend=-1))] = 0.0
    part = (events[event] - events[start[operation]]) / (events[stop] - events[start])[operation]
    written = before[operation] + volume[operation] * part
    first = np.concatenate([[0], np.cumsum(np.bincount(owner[operation], minlength=m))])
    return Way(first, event, written, total, begin, end, limit * np.diff(events), np.full(m, NEVER))


class Cut(NamedTuple):
    """demand - Σ shares·S_k - whole·S ≤ room: what must be drained between two events, and what can be."""

    since: int
    until: int
    demand: float
    shares: Floats  # m: how often S_k may be taken off
    whole: int  # how often S may
    room: float
    counted: Floats  # m: what each adds to the demand

    @property
    def key(self) -> bytes:
        """Which cut it is."""
        return bytes(np.array([self.since, self.until, self.whole])) + self.shares.tobytes()

    def missing(self, shares: Floats, size: float) -> float:
        """How much too small these shares are."""
        return self.demand - float(self.shares @ shares) - self.whole * size - self.room


def checks_of(way: Way) -> Ints:
    """The events at which the set of running applications changes, where those that have ended must make room."""
    return np.unique(np.concatenate([way.begin, way.end]))


def room_left(way: Way, checks: Ints, shares: Floats, size: float) -> Floats:
    """For each check, what those that run in the interval after it leave of the buffer."""
    running = (way.begin[:, None] <= checks) & (checks < way.end[:, None])
    left: Floats = size - shares @ running
    return left


class Duties(NamedTuple):
    """By when each application must have drained what, once it has ended: `size[k]` pairs of an event and an amount."""

    event: IntTable  # m × checks
    amount: FloatTable  # m × checks
    size: Ints  # m


class Drain(NamedTuple):
    """Where draining stands, per application; and what was drained, interval by interval, if there is room for it."""

    produced: Floats
    drained: Floats
    point: Ints  # the next point that is not produced yet
    due: Ints  # the next point that has to be met
    duty: Ints  # the next duty after its end
    deadline: Ints  # the event of whichever comes next
    wanted: Floats  # what must have been drained by then
    latest: Ints  # L: the latest deadline that was served in an interval; NEVER if there was room for more
    missed: Ints  # events at which a deadline was missed
    lacking: Floats  # what was missing there
    served: Ints  # L + 1: where the records of an interval start
    who: Ints
    amount: Floats


DUTIES = numba_type(Duties)
DRAIN = numba_type(Drain)


@kernel(types.void(WAY, _I, _F, _F, _I, DUTIES))
def _share_what_is_left(way: Way, checks: Ints, left: Floats, gone: Floats, place: Ints, duties: Duties) -> None:
    """What those that have ended must have drained at each check, so that together they keep no more than is left.

    `gone` is what each must have drained while it ran. Of all that have ended, the bytes that appeared first go first.
    """
    m = gone.size
    for check in range(checks.size):
        need = -left[check]
        for k in range(m):
            if way.gone_by[k] <= checks[check]:
                gone[k] = way.total[k]
            if way.end[k] <= checks[check]:
                need += way.total[k] - gone[k]
        while need > 0.0:
            best = -1
            for k in range(m):
                if way.end[k] <= checks[check] and gone[k] < way.total[k]:
                    while way.written[place[k]] <= gone[k]:
                        place[k] += 1
                    if best < 0 or way.event[place[k]] < way.event[place[best]]:
                        best = k
            if best < 0:
                break
            taken = min(need, way.written[place[best]] - gone[best])
            gone[best] += taken
            need -= taken
            last = duties.size[best] - 1
            if last < 0 or duties.event[best, last] != checks[check]:
                last += 1
                duties.size[best] = last + 1
            duties.event[best, last] = checks[check]
            duties.amount[best, last] = gone[best]


@inlined
def _look_ahead(way: Way, shares: Floats, duties: Duties, drain: Drain, k: int, slack: float) -> None:
    """Find the next deadline of an application that is not met yet."""
    done = drain.drained[k] + slack
    while drain.due[k] < way.first[k + 1] and way.written[drain.due[k]] - shares[k] <= done:
        drain.due[k] += 1
    if drain.due[k] < way.first[k + 1]:
        drain.deadline[k] = way.event[drain.due[k]]
        drain.wanted[k] = way.written[drain.due[k]] - shares[k]
        return
    while drain.duty[k] < duties.size[k] and duties.amount[k, drain.duty[k]] <= done:
        drain.duty[k] += 1
    if drain.duty[k] < duties.size[k] and duties.event[k, drain.duty[k]] < way.gone_by[k]:
        drain.deadline[k] = duties.event[k, drain.duty[k]]
        drain.wanted[k] = duties.amount[k, drain.duty[k]]
    else:
        drain.deadline[k] = way.gone_by[k] if done < way.total[k] else NEVER
        drain.wanted[k] = way.total[k]


@kernel(types.int64(DRAIN))
def _most_urgent(drain: Drain) -> int:
    """Whose deadline comes first of those who have something to drain; -1 if nobody has."""
    best = -1
    for k in range(drain.drained.size):
        if drain.produced[k] > drain.drained[k] and (best < 0 or drain.deadline[k] < drain.deadline[best]):
            best = k
    return best


@kernel(types.UniTuple(types.int64, 2)(WAY, _F, DUTIES, DRAIN, types.float64))
def _drain(way: Way, shares: Floats, duties: Duties, drain: Drain, slack: float) -> tuple[int, int]:
    """Drain by earliest deadline; what misses one is dropped, so that all goes on. How many missed, and records."""
    m = shares.size
    missed, records = 0, 0
    for k in range(m):
        _look_ahead(way, shares, duties, drain, k, slack)
    for interval in range(way.room.size):
        room = way.room[interval]
        drain.latest[interval] = -1
        drain.served[interval] = records
        for k in range(m):
            while drain.point[k] < way.first[k + 1] and way.event[drain.point[k]] <= interval + 1:
                drain.produced[k] = way.written[drain.point[k]]
                drain.point[k] += 1
        while room > 0.0:
            best = _most_urgent(drain)
            if best < 0:
                drain.latest[interval] = NEVER
                break
            taken = min(room, min(drain.produced[best], drain.wanted[best]) - drain.drained[best])
            drain.drained[best] += taken
            room -= taken
            drain.latest[interval] = max(drain.latest[interval], drain.deadline[best])
            if records < drain.who.size:
                drain.who[records] = best
                drain.amount[records] = taken
                records += 1
            _look_ahead(way, shares, duties, drain, best, slack)
        lacking = 0.0
        for k in range(m):
            while drain.deadline[k] <= interval + 1:
                lacking += drain.wanted[k] - drain.drained[k]
                drain.drained[k] = drain.wanted[k]
                _look_ahead(way, shares, duties, drain, k, slack)
        if lacking > 0.0:
            drain.missed[missed] = interval + 1
            drain.lacking[missed] = lacking
            missed += 1
    drain.served[way.room.size] = records
    return missed, records


class Drained(NamedTuple):
    """Who drained how much in which interval, and the events at which a deadline was missed."""

    missed: Ints
    lacking: Floats
    latest: Ints
    interval: Ints
    application: Ints
    amount: Floats


def drained(way: Way, shares: Floats, size: float, *, records: int = 0) -> Drained:
    """Drain by earliest deadline; keep up to `records` of what was done."""
    m, checks = shares.size, checks_of(way)
    gone = np.maximum(0.0, way.total - shares)
    duties = Duties(np.zeros((m, checks.size), np.int64), np.zeros((m, checks.size)), np.zeros(m, np.int64))
    _share_what_is_left(way, checks, room_left(way, checks, shares, size), gone, way.first[:-1].copy(), duties)
    intervals = way.room.size
    drain = Drain(
        produced=np.zeros(m),
        drained=np.zeros(m),
        point=way.first[:-1].copy(),
        due=way.first[:-1].copy(),
        duty=np.zeros(m, np.int64),
        deadline=np.zeros(m, np.int64),
        wanted=np.zeros(m),
        latest=np.zeros(intervals, np.int64),
        missed=np.zeros(intervals, np.int64),
        lacking=np.zeros(intervals),
        served=np.zeros(intervals + 1, np.int64),
        who=np.zeros(records, np.int64),
        amount=np.zeros(records),
    )
    missed, used = _drain(way, shares, duties, drain, slack_of(way, size))
    interval = np.repeat(np.arange(intervals), np.diff(drain.served))
    return Drained(
        drain.missed[:missed], drain.lacking[:missed], drain.latest, interval, drain.who[:used], drain.amount[:used]
    )


def slack_of(way: Way, size: float) -> float:
    """Amounts that differ by less differ by rounding only."""
    return 1e-11 * min(size, float(way.total.sum())) + 8.0 * float(
        np.finfo(np.float64).eps * way.total.max(initial=0.0)
    )


_MOST_CUTS = 20  # at a time, or one for each application: the worst ones settle most of the others, too


def violated(way: Way, shares: Floats, size: float) -> list[Cut]:
    """The worst of the cuts that these shares do not keep; none if the shares are enough."""
    found = drained(way, shares, size)
    cuts = []
    most = max(_MOST_CUTS, shares.size)
    for until in found.missed[np.argsort(-found.lacking, kind="stable")[:most]]:
        since = int(until)
        while since > 0 and found.latest[since - 1] <= until:
            since -= 1
        cuts.append(strongest_cut(way, shares, size, since, int(until)))
    return cuts


def strongest_cut(way: Way, shares: Floats, size: float, since: int, until: int) -> Cut:
    """Of all inequalities for what appears after one event and must be gone by another, the one kept least.

    Every application either counts what it may not keep while it runs, W - S_k; or, if it has ended, everything it
    wrote, against what those that run at a later check leave to all that have ended by then.
    """
    appeared = way.written_at(until) - way.written_at(since)
    own = np.maximum(0.0, appeared - shares)
    checks = checks_of(way)
    checks = checks[(checks > since) & (checks <= until)]
    left = room_left(way, checks, shares, size)
    # What those that have ended by a check would add; 0 stands for no check.
    by_end = np.argsort(way.end, kind="stable")
    gained = np.concatenate([[0.0], np.cumsum((appeared - own)[by_end])])
    ended = np.concatenate([[0.0], gained[np.searchsorted(way.end[by_end], checks, side="right")]])
    chosen_before = np.full(checks.size + 1, -1)
    # The most that can be added with check c as the last; each takes those that ended since the one chosen before it.
    value = np.zeros(checks.size + 1)
    best = 0
    for c in range(1, checks.size + 1):
        value[c] = value[best] - ended[best] + ended[c] - left[c - 1]
        chosen_before[c] = best
        if value[c] - ended[c] > value[best] - ended[best]:
            best = c
    last = int(np.argmax(value))
    chosen = []
    while last > 0:
        chosen.append((int(chosen_before[last]), last))
        last = int(chosen_before[last])
    together = np.zeros(shares.size, dtype=bool)
    weights = np.zeros(shares.size)
    for before, c in chosen:
        together |= _ended(way, checks, before, c)
        running = (way.begin <= checks[c - 1]) & (checks[c - 1] < way.end)
        weights[running] -= 1.0
    alone = (own > 0.0) & ~together
    weights[alone] += 1.0
    counted = np.where(alone | together, appeared, 0.0)
    room = float(way.room[since:until].sum())
    return Cut(since, until, float(counted.sum()), weights, len(chosen), room, counted)


def _ended(way: Way, checks: Ints, before: int, c: int) -> NDArray[np.bool_]:
    """Who ended after check `before` (0: since ever) and not after check `c`, both counted from 1."""
    low = checks[before - 1] if before else -1
    ended: NDArray[np.bool_] = (way.end > low) & (way.end <= checks[c - 1])
    return ended
