"""Sizing a buffer: what applications would move if nobody were in their way, the demand that it evens out (P5 §5.1).

With every phase at its full cap, each operation has a fixed time and a fixed rate. Between two *events* (an operation
or an application starts or ends) all rates are constant, and a schedule needs to say no more than what moves between
events (P5, theorem 1).
"""

from __future__ import annotations

import copy
import math
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from penstock.engine.compile import listed
from penstock.errors import InvalidScenario
from penstock.kernels.arrays import Floats, Ints
from penstock.model import Application, Scenario
from penstock.model.needs import need_end
from penstock.model.trace import COMPUTE, READ

SAME_EVENT = 1e-11  # relative to the whole span: times closer than this are one event


class Limits(NamedTuple):
    """What the file system moves at most, bytes/s; infinity: no such limit."""

    read: float
    write: float
    joint: float
    port: float = math.inf  # of the buffer: all that goes into it and comes out of it


class TrafficPieces(NamedTuple):
    """Who moves how much in which direction in which interval."""

    owner: Ints
    reading: NDArray[np.bool_]
    interval: Ints
    amount: Floats


class Traffic:
    """`m` applications, `n` operations and `L + 1` events; operations lie application after application, in time."""

    def __init__(self, scenario: Scenario, lead: float = math.inf) -> None:
        need_end(scenario)
        self.scenario, self.lead = scenario, lead
        self.names = tuple(application.name for application in scenario.applications)
        self.limits = limits_of(scenario)
        self.release = np.array([application.release for application in scenario.applications], dtype=np.float64)
        parts = [_operations(application, index, scenario) for index, application in enumerate(scenario.applications)]
        self.first = np.cumsum([0] + [part.volume.size for part in parts])
        self.owner = np.repeat(np.arange(len(parts)), np.diff(self.first))
        self.reading: NDArray[np.bool_] = np.concatenate([part.reading for part in parts])
        self.volume: Floats = np.concatenate([part.volume for part in parts])
        starts = np.concatenate([part.start for part in parts])
        stops = np.concatenate([part.stop for part in parts])
        self.completion = np.array([part.end for part in parts])  # C_min
        times = [starts, stops, self.release, self.completion]
        self.events, places = _snapped(times if math.isinf(lead) else [*times, self.release - lead])
        self.start, self.stop, self.begin, self.end = places[:4]
        # When its input may be fetched at the earliest; -1: at any time.
        self.entry = places[4] if len(places) > 4 else np.full(len(parts), -1)
        # An operation that is shorter than that takes the interval that follows, or the last one.
        self.start = np.minimum(self.start, self.count - 1)
        self.stop = np.maximum(self.stop, self.start + 1)

    @property
    def count(self) -> int:
        """L, how many intervals there are between events."""
        return self.events.size - 1

    @cached_property
    def seconds(self) -> Floats:
        """L: how long each interval is."""
        return np.diff(self.events)

    @property
    def joint_binds(self) -> bool:
        """Whether reads and writes can be in each other's way."""
        both = bool(self.reading.any()) and not bool(self.reading.all())
        return both and self.limits.joint < self.limits.read + self.limits.write

    def alone(self, index: int) -> Self:
        """One application as if it had the machine for itself; noise is as it was."""
        own = slice(self.first[index], self.first[index + 1])
        times = [self.start[own], self.stop[own], self.begin[[index]], self.end[[index]]]
        if self.entry[index] >= 0:
            times.append(self.entry[[index]])
        used, places = np.unique(np.concatenate(times), return_inverse=True)
        alone = self._copy()
        alone.entry = np.searchsorted(used, self.entry[[index]], side="right") - 1
        alone.names, alone.events = (self.names[index],), self.events[used]
        alone.start, alone.stop, alone.begin, alone.end = np.split(
            places, np.cumsum([part.size for part in times])[:-1]
        )[:4]
        alone.reading, alone.volume, alone.owner = self.reading[own], self.volume[own], np.zeros_like(self.owner[own])
        alone.first = np.array([0, alone.volume.size])
        alone.release, alone.completion = self.release[[index]], self.completion[[index]]
        return alone

    def behind(self, limits: Limits) -> Self:
        """The same demand in front of another file system."""
        other = self._copy()
        other.limits = limits
        return other

    def _copy(self) -> Self:
        other = copy.copy(self)
        other.__dict__.pop("seconds", None)  # computed from events, which the copy may have others of
        return other

    def pieces(self) -> TrafficPieces:
        """Every operation, cut at the events inside it."""
        counts = self.stop - self.start
        operation = np.repeat(np.arange(counts.size), counts)
        interval = self.start[operation] + np.arange(operation.size) - np.repeat(np.cumsum(counts) - counts, counts)
        whole = self.events[self.stop] - self.events[self.start]
        amount = self.volume[operation] * self.seconds[interval] / whole[operation]
        return TrafficPieces(self.owner[operation], self.reading[operation], interval, amount)

    def demand(self, reading: bool) -> Floats:
        """L: bytes that all applications together move in each interval, in one direction."""
        own = self.reading == reading
        rate = np.zeros(self.events.size)
        per_second = self.volume[own] / (self.events[self.stop[own]] - self.events[self.start[own]])
        np.add.at(rate, self.start[own], per_second)
        np.subtract.at(rate, self.stop[own], per_second)
        # What is left of a sum that should be 0 is rounding.
        busy = np.zeros(self.events.size, np.int64)
        np.add.at(busy, self.start[own], 1)
        np.subtract.at(busy, self.stop[own], 1)
        moved: Floats = np.where(np.cumsum(busy)[:-1] > 0, np.maximum(0.0, np.cumsum(rate)[:-1]), 0.0) * self.seconds
        return moved


class _Operations(NamedTuple):
    reading: NDArray[np.bool_]
    volume: Floats
    start: Floats
    stop: Floats
    end: float


def limits_of(scenario: Scenario) -> Limits:
    """The limits of the file system: those of each direction, and the one that holds for both together."""
    platform = scenario.platform
    joint = platform.bandwidth or math.inf
    read, write = platform.read_bandwidth or joint, platform.write_bandwidth or joint
    port = (platform.burst_buffer.bandwidth if platform.burst_buffer else None) or math.inf
    return Limits(min(read, joint), min(write, joint), joint, port)


def caps_of(application: Application, scenario: Scenario) -> tuple[float, float]:
    """How fast an application reads and writes at most. Not clipped to the file system: the buffer does that."""
    platform, own = scenario.platform, application.bandwidth
    if own is None and platform.node_bandwidth is not None:
        own = application.nodes * platform.node_bandwidth
    read = application.read_bandwidth or own or platform.read_bandwidth or platform.bandwidth
    write = application.write_bandwidth or own or platform.write_bandwidth or platform.bandwidth
    # The slowest node moves that many times the mean (P1 §3.1.2).
    return (read or math.inf) / application.node_skew, (write or math.inf) / application.node_skew


def _operations(application: Application, index: int, scenario: Scenario) -> _Operations:
    kind, amount = listed(application, index, scenario)
    caps = np.array([1.0, *caps_of(application, scenario)])
    moving = (kind != COMPUTE) & (amount > 0.0)
    if not np.isfinite(caps[kind[moving]]).all():
        raise InvalidScenario(
            f"application {application.name!r} has no limit to how fast it reads or writes; give it a bandwidth, or "
            "platform.node_bandwidth"
        )
    stop = application.release + np.cumsum(amount / caps[kind])
    start = np.concatenate([[application.release], stop[:-1]])
    return _Operations(kind[moving] == READ, amount[moving], start[moving], stop[moving], float(stop[-1]))


def _snapped(times: list[Floats]) -> tuple[Floats, list[Ints]]:
    """All times in order, those that differ by rounding only made one; and for each given time, which one it is."""
    every = np.concatenate(times)
    order = np.argsort(every, kind="stable")
    ranked = every[order]
    span = ranked[-1] - ranked[0]
    new = np.concatenate([[True], np.diff(ranked) > SAME_EVENT * span])
    number = np.empty(every.size, np.int64)
    number[order] = np.cumsum(new) - 1
    return ranked[new], list(np.split(number, np.cumsum([part.size for part in times])[:-1]))
