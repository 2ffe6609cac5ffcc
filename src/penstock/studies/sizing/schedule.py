"""Sizing a buffer: schedules, by which bytes go to the file system or come from it between events (P5, theorem 1).

Between two events each application moves at one rate in each direction. Input may be fetched before the first event,
and output may leave after the last one: those rows are open at one end.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.arrays import Floats, Ints
from penstock.studies.sizing.both_ways import READS, WRITES, LinearProgram, SolvedProgram
from penstock.studies.sizing.one_way import Way, drained, way_of
from penstock.studies.sizing.static import Partition
from penstock.studies.sizing.traffic import Traffic

_DUST = 1e-9  # of the size: held by a solver's rounding only


@dataclass(frozen=True)
class BufferSchedule:
    """Rows in time; an infinite start or end is an open one."""

    names: tuple[str, ...]
    application: Ints  # index into names
    reading: NDArray[np.bool_]
    start: Floats
    end: Floats
    amount: Floats  # bytes
    stated: Floats | None = None  # the rates that a file states; NaN: none

    @property
    def rate(self) -> Floats:
        """Bytes per second; NaN for rows that are open."""
        seconds = self.end - self.start
        return np.where(np.isfinite(seconds), self.amount / seconds, np.nan)


class Flow(NamedTuple):
    """Who moves how much in which interval, in one direction; -1 is before the first event, L after the last."""

    application: Ints
    interval: Ints
    amount: Floats


def schedule_of(traffic: Traffic, writes: Flow, reads: Flow) -> BufferSchedule:
    """Both directions as one table."""
    application, interval, amount = (np.concatenate(parts) for parts in zip(writes, reads, strict=True))
    reading = np.repeat([False, True], [writes.amount.size, reads.amount.size])
    order = np.lexsort([reading, application, interval])
    times = np.concatenate([[-np.inf], traffic.events, [np.inf]])
    place = interval[order] + 1
    return BufferSchedule(
        traffic.names, application[order], reading[order], times[place], times[place + 1], amount[order]
    )


def oldest_first(traffic: Traffic, reading: bool, held: Floats) -> Flow:
    """Who moves what, if `held` is what the buffer holds of everybody at each event: the oldest bytes go first.

    Bytes stand in a row in the order in which applications move them, and cross to or from the file system in that
    order. What is between two marks on it appeared in one interval and crosses in one.
    """
    pieces = traffic.pieces()
    chosen = np.flatnonzero(pieces.reading == reading)
    chosen = chosen[np.argsort(pieces.interval[chosen], kind="stable")]
    owner, interval, amount = pieces.owner[chosen], pieces.interval[chosen], pieces.amount[chosen]
    count = traffic.count
    moved = np.concatenate([[0.0], np.cumsum(np.bincount(interval, amount, count))])
    crossed = _crossed(moved, held, reading)
    marks = np.unique(np.concatenate([moved, crossed]))
    appears = np.searchsorted(moved, marks[:-1], side="right") - 1
    crosses = np.searchsorted(crossed, marks[:-1], side="right") - 1
    first = np.searchsorted(interval, np.arange(count + 1))
    sizes = np.diff(first)[appears]
    part = np.repeat(np.arange(appears.size), sizes)
    piece = first[appears][part] + np.arange(part.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return _gathered(owner[piece], crosses[part], amount[piece] * (np.diff(marks) / np.diff(moved)[appears])[part])


def straight_first(traffic: Traffic, reading: bool, held: Floats) -> Flow:
    """The same, so that as little as possible crosses the buffer's port: nothing goes in while something comes out.

    What is written passes straight as far as that much is sent, in proportion; only what is sent beyond comes out of
    the buffer, the oldest first. Reads are writes in reversed time.
    """
    pieces, last = traffic.pieces(), traffic.count - 1
    chosen = np.flatnonzero(pieces.reading == reading)
    place = last - pieces.interval[chosen] if reading else pieces.interval[chosen]
    order = np.argsort(place, kind="stable")
    owner, place, amount = pieces.owner[chosen][order], place[order], pieces.amount[chosen][order]
    first = np.searchsorted(place, np.arange(traffic.count + 1))
    left = held[::-1] if reading else held
    rows: list[tuple[int, int, float]] = []
    waiting: deque[tuple[int, float]] = deque()
    for interval in range(traffic.count):
        own = slice(first[interval], first[interval + 1])
        written = float(amount[own].sum())
        kept = float(left[interval + 1] - left[interval])
        part = min(1.0, max(0.0, kept) / written) if written > 0.0 else 0.0
        for k, moved in zip(owner[own].tolist(), amount[own].tolist(), strict=True):
            rows.append((k, interval, moved * (1.0 - part)))
            waiting.append((k, moved * part))
        rows.extend((k, interval, out) for k, out in _taken(waiting, -kept))
    rows.extend((k, traffic.count, out) for k, out in waiting)
    application, interval_of, moved_of = np.array(rows).reshape(-1, 3).T
    flow = _gathered(application.astype(np.int64), interval_of.astype(np.int64), moved_of)
    there = flow.amount > 0.0
    flow = Flow(flow.application[there], flow.interval[there], flow.amount[there])
    return flow._replace(interval=last - flow.interval) if reading else flow


def _taken(waiting: deque[tuple[int, float]], amount: float) -> Iterator[tuple[int, float]]:
    """So much of what waits, the oldest first; who, and how much."""
    while amount > 0.0 and waiting:
        k, there = waiting.popleft()
        if there > amount:
            waiting.appendleft((k, there - amount))
        yield k, min(there, amount)
        amount -= there


def _crossed(moved: Floats, held: Floats, reading: bool) -> Floats:
    """What has crossed to or from the file system at each event; it never falls, whatever rounding says."""
    crossed: Floats = moved + held if reading else moved - held
    crossed = np.minimum.accumulate(crossed[::-1])[::-1] if reading else np.maximum.accumulate(crossed)
    return np.clip(crossed, 0.0, moved[-1])


def _gathered(application: Ints, interval: Ints, amount: Floats) -> Flow:
    """One row for each application and interval."""
    low = int(interval.min(initial=0))
    most = int(application.max(initial=0)) + 1
    key, place = np.unique((interval - low) * most + application, return_inverse=True)
    return Flow(key % most, key // most + low, np.bincount(place, amount, key.size).astype(np.float64))


def in_order(traffic: Traffic, reading: bool, held: Floats) -> Flow:
    """Who moves what, in the order that suits the buffer: the oldest bytes first, or as little through its port."""
    return (oldest_first if math.isinf(traffic.limits.port) else straight_first)(traffic, reading, held)


def of_program(program: LinearProgram, held: SolvedProgram) -> BufferSchedule:
    """What a linear program says: for everybody together, or for each application."""
    traffic = program.traffic
    dust = _DUST * held.size
    output, fetched = (np.where(amount > dust, amount, 0.0) for amount in (held.output, held.input))
    if program.aggregated:
        writes, reads = in_order(traffic, False, output[0]), in_order(traffic, True, fetched[0])
    else:
        writes = _each(program.amount[:, WRITES], output, False)
        reads = _each(program.amount[:, READS], fetched, True)
    return schedule_of(traffic, writes, reads)


def _each(amount: Floats, held: Floats, reading: bool) -> Flow:
    """The same where what each application holds is known."""
    owners = amount.shape[0]
    moved = np.hstack([np.zeros((owners, 1)), np.cumsum(amount, axis=1)])
    crossed = np.array([_crossed(*rows, reading) for rows in zip(moved, held, strict=True)])
    whole = np.hstack([np.zeros((owners, 1)), crossed, moved[:, -1:]])
    steps = np.diff(whole, axis=1)  # before the first event, in every interval, after the last
    application, place = np.nonzero(steps > 0.0)
    return Flow(application, place - 1, steps[application, place])


def latest_first(traffic: Traffic) -> Flow:
    """Who fetches what, if all is fetched as late as possible and nothing before its application enters."""
    way = way_of(traffic, True)
    flow = _by_deadline(traffic, way, way.total, np.inf)
    return flow._replace(interval=traffic.count - 1 - flow.interval)


def of_partition(traffic: Traffic, reading: bool, way: Way, found: Partition) -> BufferSchedule:
    """By earliest deadline in the direction that needs the buffer; the other one passes through."""
    flow = _by_deadline(traffic, way, found.shares, found.size)
    other = oldest_first(traffic, not reading, np.zeros(traffic.events.size))
    if reading:
        return schedule_of(traffic, other, flow._replace(interval=traffic.count - 1 - flow.interval))
    return schedule_of(traffic, flow, other)


def _by_deadline(traffic: Traffic, way: Way, shares: Floats, size: float) -> Flow:
    """Who drains what in which interval; what nobody asks for by any time goes after the last event."""
    records = 2 * (way.event.size + traffic.count) + 1
    while (done := drained(way, shares, size, records=records)).amount.size == records:
        records *= 2
    left = way.total - np.bincount(done.application, done.amount, way.total.size)
    late = np.flatnonzero(left > 1e-13 * way.total)
    return _gathered(
        np.concatenate([done.application, late]),
        np.concatenate([done.interval, np.full(late.size, traffic.count)]),
        np.concatenate([done.amount, left[late]]),
    )
