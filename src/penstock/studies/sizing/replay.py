"""Sizing a buffer: its schedule replayed, what it holds when, and every rule of P5 §6.2 that is broken, if any is.

A schedule need not keep to the events of the demand: everything is looked at where either of them may bend.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.studies.sizing.schedule import BufferSchedule
from penstock.studies.sizing.traffic import Traffic

KEPT_WITHIN = 1e-7  # of the buffer, or of the largest operation if that is more
SOLVERS_WITHIN = 1e-8  # of the buffer: what solvers call equal
_CLOSE = 1e-9  # of the largest operation


class Violation(NamedTuple):
    """A rule that is broken: by whom (None: by all together), at what time, by how many bytes."""

    rule: str  # a key of RULES
    application: str | None
    time: float
    excess: float


RULES = {
    "negative": "moves less than nothing",
    "rate": "states a rate that is not its bytes over its time",
    "sent": "sends more to the file system than it has written",
    "late": "reads what has not been fetched yet",
    "fetched": "fetches more than it ever reads",
    "left": "never sends all that it writes",
    "read limit": "more is read from the file system than it can give",
    "write limit": "more is written to the file system than it can take",
    "joint limit": "more is moved to and from the file system than it can carry",
    "port limit": "more goes into the buffer and comes out of it than its own bandwidth lets through",
    "share": "holds more than its share",
    "size": "more is held, or set aside for those that run, than the buffer has room for",
}


class _Totals(NamedTuple):
    """Of one application, at each time: bytes moved since the beginning."""

    written: Floats
    sent: Floats
    read: Floats
    fetched: Floats

    @property
    def held(self) -> Floats:
        return self.written - self.sent + self.fetched - self.read

    @property
    def crossing(self) -> Floats:
        """What goes into the buffer and comes out of it between these times; the rest passes straight."""
        found: Floats = np.abs(np.diff(self.written - self.sent)) + np.abs(np.diff(self.fetched - self.read))
        return found


def usage_of(schedule: BufferSchedule, traffic: Traffic) -> Iterator[Floats]:
    """What each application holds at each event of the demand."""
    for totals in _replayed(schedule, traffic, traffic.events):
        yield totals.held


def keeps_port(schedule: BufferSchedule, traffic: Traffic) -> bool:
    """Whether what a schedule for the events of the demand sends through the buffer fits its own bandwidth."""
    pieces, count = traffic.pieces(), traffic.count
    timed = np.isfinite(schedule.start) & np.isfinite(schedule.end)
    owner = np.concatenate([pieces.owner, schedule.application[timed]])
    reading = np.concatenate([pieces.reading, schedule.reading[timed]])
    interval = np.concatenate([pieces.interval, np.searchsorted(traffic.events, schedule.start[timed])])
    # Those that move in neither way are many, so only rows are looked at.
    key, place = np.unique((2 * owner + reading) * count + interval, return_inverse=True)
    change = np.abs(np.bincount(place, np.concatenate([pieces.amount, -schedule.amount[timed]]), key.size))
    slack = _CLOSE * float(traffic.volume.max(initial=0.0))
    crossing = np.bincount(key % count, change, count)
    return bool((crossing <= traffic.limits.port * traffic.seconds + slack).all())


def verify(
    schedule: BufferSchedule, traffic: Traffic, size: float, shares: dict[str, float] | None = None
) -> list[Violation]:
    """Every rule that the schedule breaks with a buffer of that size, in time; `shares`: S_k, if they are fixed."""
    finite = [times[np.isfinite(times)] for times in (schedule.start, schedule.end)]
    times = np.unique(np.concatenate([traffic.events, *finite]))
    seconds = np.diff(times)
    whole = KEPT_WITHIN * max(size, float(traffic.volume.max(initial=0.0)))
    found: list[Violation] = []

    def expect(rule: str, name: str | None, excess: Floats, when: Floats, slack: float = whole) -> None:
        for place in np.flatnonzero(excess > slack):
            found.append(Violation(rule, name, float(when[place]), float(excess[place])))

    carried = np.zeros((2, seconds.size))  # writes, reads
    crossing = np.zeros(seconds.size)
    held_at = np.zeros((2, seconds.size))  # the two ends of each interval
    middle = (times[:-1] + times[1:]) / 2.0
    for index, (name, totals) in enumerate(zip(traffic.names, _replayed(schedule, traffic, times), strict=True)):
        own = schedule.application == index
        # Whoever moves little is not excused by those who move much, but for what a solver leaves.
        slack = max(KEPT_WITHIN * float(traffic.volume[traffic.owner == index].max(initial=0.0)), SOLVERS_WITHIN * size)
        expect("rate", name, _misstated(schedule)[own], np.maximum(schedule.start[own], times[0]), slack)
        expect("negative", name, -schedule.amount[own], np.maximum(schedule.start[own], times[0]), slack)
        sent = float(schedule.amount[own & ~schedule.reading].sum())
        # What leaves after the last time counts as well.
        expect("sent", name, np.append(totals.sent[:-1], sent) - totals.written, times, slack)
        expect("late", name, totals.read - totals.fetched, times, slack)
        expect("fetched", name, (totals.fetched - totals.read[-1])[-1:], times[-1:], slack)
        expect("left", name, totals.written[-1:] - sent, times[-1:], slack)
        carried += np.diff(totals.sent), np.diff(totals.fetched)
        crossing += totals.crossing
        ends = np.array([totals.held[:-1], totals.held[1:]])
        if shares is not None:
            begin, end = traffic.events[traffic.begin[index]], traffic.events[traffic.end[index]]
            runs = (times >= begin) & (times <= end)
            expect("share", name, totals.held[runs] - shares[name], times[runs])
            ends = np.where((middle > begin) & (middle < end), shares[name], ends)
        held_at += ends
    limits = traffic.limits
    rules: tuple[tuple[str, Floats, float], ...] = (
        ("write limit", carried[0], limits.write),
        ("read limit", carried[1], limits.read),
        ("joint limit", carried.sum(axis=0), limits.joint),
        ("port limit", crossing, limits.port),
    )
    for rule, moved, limit in rules:
        expect(rule, None, moved - limit * seconds, times[:-1])
    expect("size", None, held_at.max(axis=0, initial=0.0) - size, times[:-1])
    return sorted(found, key=lambda violation: violation.time)


def _misstated(schedule: BufferSchedule) -> Floats:
    """By how many bytes each row's stated rate is off; a row that is open has none."""
    if schedule.stated is None:
        return np.zeros(schedule.amount.size)
    seconds = schedule.end - schedule.start
    known = np.isfinite(schedule.stated)
    off = np.abs(np.where(known, schedule.stated, 0.0) * np.where(np.isfinite(seconds), seconds, 0.0) - schedule.amount)
    found: Floats = np.where(known, off, 0.0)
    return found


def _replayed(schedule: BufferSchedule, traffic: Traffic, times: Floats) -> Iterator[_Totals]:
    """The totals of each application at these times, among which are all at which its rates change."""
    order = np.argsort(schedule.application, kind="stable")
    first = np.searchsorted(schedule.application[order], np.arange(len(traffic.names) + 1))
    for index in range(len(traffic.names)):
        rows = order[first[index] : first[index + 1]]
        own = slice(traffic.first[index], traffic.first[index + 1])
        begin, end = traffic.events[traffic.start[own]], traffic.events[traffic.stop[own]]
        totals = []
        for reading in (False, True):
            asked = traffic.reading[own] == reading
            moved = rows[schedule.reading[rows] == reading]
            totals.append(_total(begin[asked], end[asked], traffic.volume[own][asked], times))
            totals.append(_total(schedule.start[moved], schedule.end[moved], schedule.amount[moved], times))
        yield _Totals(*totals)


def _total(start: Floats, end: Floats, amount: Floats, times: Floats) -> Floats:
    """What has moved at each time, each amount evenly between its start and its end."""
    whole = np.zeros(times.size)
    early, late = np.isneginf(start), np.isposinf(end)
    whole += amount[early].sum()
    inside = ~(early | late)
    low, high = np.searchsorted(times, start[inside]), np.searchsorted(times, end[inside])
    counts = high - low
    row = np.repeat(np.arange(counts.size), counts)
    interval = low[row] + np.arange(row.size) - np.repeat(np.cumsum(counts) - counts, counts)
    part = np.diff(times)[interval] / (end[inside] - start[inside])[row]
    whole[1:] += np.cumsum(np.bincount(interval, amount[inside][row] * part, times.size - 1))
    return whole
