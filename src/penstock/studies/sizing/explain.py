"""Sizing a buffer: why it cannot be smaller, by bursts that the file system cannot carry in time, and their sum."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.studies.sizing.both_ways import READS, LimitRows, LinearProgram, SolvedProgram
from penstock.studies.sizing.result import Burst, Proof
from penstock.studies.sizing.static import Partition
from penstock.studies.sizing.sweep import Swept
from penstock.studies.sizing.traffic import Limits, Traffic

_WORDS = {(0,): "write", (1,): "read", (0, 1): "both", (): "port"}
_NO_PRICE = 1e-9  # a price that counts for nothing


def of_sweep(traffic: Traffic, least: Swept) -> Proof:
    """At the fullest instant: what was written since the file system last kept up, and what is read until it does."""
    used = least.backlog + least.prefetched
    instant = int(np.argmax(used))
    bursts = []
    if least.backlog[instant] > 0.0:
        since = int(np.flatnonzero(least.backlog[:instant] == 0.0)[-1])
        bursts.append(_burst(traffic, (False,), since, instant, traffic.limits.write))
    if least.prefetched[instant] > 0.0:
        until = instant + int(np.flatnonzero(least.prefetched[instant:] == 0.0)[0])
        bursts.append(_burst(traffic, (True,), instant, until, traffic.limits.read))
    size = sum(burst.demand - burst.room for burst in bursts)
    when = float(traffic.events[instant]) if bursts else None
    return Proof(size, _weightiest_first(bursts), instant=when)


def of_partition(traffic: Traffic, reading: bool, found: Partition) -> Proof:
    """The cuts that the dual of the program weighs."""
    bursts = []
    for cut, weight in zip(found.cuts, found.weights, strict=True):
        if weight > _NO_PRICE:
            since, until = (traffic.count - cut.until, traffic.count - cut.since) if reading else (cut.since, cut.until)
            begin, end = float(traffic.events[since]), float(traffic.events[until])
            by = _largest_first(traffic.names, cut.counted)
            direction = "read" if reading else "write"
            bursts.append(Burst(begin, end, direction, cut.demand, cut.room, float(weight), by))
    return Proof(_value(bursts), _weightiest_first(bursts))


def of_program(program: LinearProgram, held: SolvedProgram) -> Proof:
    """The intervals in which a byte more to or from the file system would make the buffer smaller, by its dual.

    And those in which a byte more in or out of the buffer would: nothing forces that, so that they only take off.
    """
    bursts = [burst for limited in program.limited for burst in _priced(program.traffic, limited, held.prices)]
    # The rest: bytes that could not have moved earlier or later anyway, and what rounding leaves unproved.
    return Proof(held.proved, _weightiest_first(bursts), rest=_value(bursts) - held.proved)


def _priced(traffic: Traffic, limited: LimitRows, prices: Floats) -> Iterable[Burst]:
    """Neighbouring intervals with the same price are one burst."""
    price = prices[limited.row]
    counts = price > _NO_PRICE
    interval, price = limited.interval[counts], price[counts]
    fresh = np.append(True, (np.diff(interval) > 1) | (np.abs(np.diff(price)) > _NO_PRICE))[: interval.size]
    first = np.flatnonzero(fresh)
    last = np.append(first[1:], interval.size)[: first.size] - 1
    ways, limit = tuple(way == READS for way in limited.ways), _limit(traffic.limits, limited)
    for begin, end in zip(first, last, strict=True):
        yield _burst(traffic, ways, int(interval[begin]), int(interval[end]) + 1, limit, float(price[begin]))


def _limit(limits: Limits, limited: LimitRows) -> float:
    if not limited.ways:
        return limits.port
    return limits.joint if len(limited.ways) > 1 else limits.read if READS in limited.ways else limits.write


def _burst(
    traffic: Traffic, reading: tuple[bool, ...], since: int, until: int, limit: float, weight: float = 1.0
) -> Burst:
    """What moves between two events, against a limit; what is held changes at will, so that the port has no demand."""
    events = traffic.events
    begin, end = events[traffic.start], events[traffic.stop]
    part = np.minimum(end, events[until]) - np.maximum(begin, events[since])
    inside = np.where(np.isin(traffic.reading, reading), traffic.volume * np.maximum(0.0, part) / (end - begin), 0.0)
    amount = np.bincount(traffic.owner, inside, len(traffic.names)).astype(np.float64)
    span = float(events[until] - events[since])
    direction = _WORDS[tuple(int(way) for way in reading)]
    by = _largest_first(traffic.names, amount)
    return Burst(float(events[since]), float(events[until]), direction, float(amount.sum()), limit * span, weight, by)


def _largest_first(names: tuple[str, ...], amount: Floats) -> dict[str, float]:
    order = np.argsort(-amount, kind="stable")
    return {names[index]: float(amount[index]) for index in order if amount[index] > 0.0}


def _value(bursts: Iterable[Burst]) -> float:
    return sum(burst.weight * (burst.demand - burst.room) for burst in bursts)


def _weightiest_first(bursts: list[Burst]) -> tuple[Burst, ...]:
    return tuple(sorted(bursts, key=lambda burst: -burst.weight * (burst.demand - burst.room)))
