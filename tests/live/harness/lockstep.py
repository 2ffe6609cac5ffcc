"""The simulator's loop once more, in plain Python, with somebody else deciding: what is compared is the deciding.

It moves bytes exactly as the engine does, in the same order and with the same roundings. At every instant it says what
has happened, event by event, and is told the rates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from penstock.engine.link.execution import Run
from penstock.engine.link.state import chains_of, initial_state
from penstock.engine.program import Program
from penstock.engine.timeline import Timeline
from penstock.kernels.arrays import SAME
from penstock.kernels.heap import pop, push

WAITING = 1


class Decider(ABC):
    """Hears of everything that happens at an instant, `now`, then says what each application may use from then on."""

    now = 0.0

    @abstractmethod
    def released(self, application: int) -> None:
        """It exists from now on."""

    @abstractmethod
    def posted(self, application: int, operation: int) -> None:
        """It wants to move the bytes of that operation of the program."""

    @abstractmethod
    def completed(self, application: int, operation: int) -> None:
        """It has moved them."""

    @abstractmethod
    def finished(self, application: int) -> None:
        """It has ended."""

    @abstractmethod
    def rates(self, active: list[int]) -> list[float]:
        """Rates in force after this instant, for each of `active`."""


@dataclass
class Row:
    """A transfer under way."""

    application: int
    operation: int
    remaining: float
    limit: float
    rate: float = 0.0
    since: float = 0.0  # how long the rate has been in force


@dataclass
class Segments:
    """What happened, one entry per stretch of constant rate."""

    application: list[int] = field(default_factory=list)
    operation: list[int] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    stop: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)


class Lockstep:
    """One run of a program."""

    def __init__(self, program: Program, origin: float, tick: float, decider: Decider) -> None:
        self.program, self.origin, self.tick, self.decider = program, origin, tick, decider
        self.chains = chains_of(program, origin, False, False)
        self.state = initial_state(program, origin, False)
        self.now = 0.0
        self.events = 0
        self.next_tick = 1.0
        self.rows: list[Row] = []
        self.segments = Segments()
        self.ended: set[int] = set()

    def run(self) -> Run:
        """Go on to the end."""
        done = False
        while not done:
            soonest = self._decide()
            then, done = self._next_instant(soonest)
            self._advance(then)
            self.events += 1
            if self.tick > 0.0 and self.next_tick * self.tick <= then * (1.0 + SAME):
                self.next_tick = np.floor(then * (1.0 + SAME) / self.tick) + 1.0
            over = self.chains.end == np.inf and not self.rows and self.state.counts[WAITING] == 0
            done = done or over
        return self._result()

    def _decide(self) -> float:
        """Take the rates that hold from now on; the seconds to the first completion under them."""
        over = np.flatnonzero(self.state.completion <= self.now * (1.0 + SAME))
        for application in set(over.tolist()) - self.ended:
            self.decider.finished(application)
            self.ended.add(application)
        given = self.decider.rates([row.application for row in self.rows])
        soonest = np.inf
        for row, rate in zip(self.rows, given, strict=True):
            if rate != row.rate:
                self._record(row, last=False)
            row.rate = rate
            soonest = min(soonest, row.remaining / rate if rate > 0.0 else np.inf)
        return soonest

    def _next_instant(self, soonest: float) -> tuple[float, bool]:
        then = min(self.now + soonest, self.chains.end)
        if self.state.counts[WAITING] > 0:
            then = min(then, self.state.heap_time[0])
        if then == np.inf and self.tick <= 0.0:
            raise AssertionError(f"at {self.now:g} s nobody has any bandwidth, and nothing else will happen")
        if self.tick > 0.0:
            then = min(then, self.next_tick * self.tick)
        if then * (1.0 + SAME) >= self.chains.end:
            return self.chains.end, True
        return float(then), False

    def _advance(self, then: float) -> None:
        nearly, passed = SAME * then, then - self.now
        self.now = self.decider.now = then
        for row in self.rows:
            row.remaining -= row.rate * passed
        for place in range(len(self.rows) - 1, -1, -1):
            if self.rows[place].remaining <= self.rows[place].rate * nearly:
                self._complete(place)
        while self.state.counts[WAITING] > 0 and self.state.heap_time[0] <= then + nearly:
            self._wake()

    def _complete(self, place: int) -> None:
        row, state, chains = self.rows[place], self.state, self.chains
        self._record(row, last=True)
        application, operation = row.application, row.operation
        self.decider.completed(application, operation)
        state.transferred[application] += chains.volume[operation]
        state.done[application] += chains.volume[operation] / chains.limit[operation]
        self.rows[place] = self.rows[-1]
        self.rows.pop()
        self._enter(application, operation + 1)

    def _wake(self) -> None:
        state, chains = self.state, self.chains
        application = int(state.heap_application[0])
        pop(state.heap_time, state.heap_application, state.counts[WAITING])
        state.counts[WAITING] -= 1
        operation = int(state.operation[application])
        if operation < 0:
            self.decider.released(application)
            self._enter(application, int(chains.first[application]))
        else:
            state.compute_done[application] += chains.work[operation]
            state.done[application] += chains.work[operation]
            self._post(application)

    def _enter(self, application: int, operation: int) -> None:
        state, chains, now = self.state, self.chains, self.now
        state.operation[application] = operation
        if operation < chains.first[application + 1]:
            work = chains.work[operation]
            if work > SAME * now:
                state.since[application] = now
                push(state.heap_time, state.heap_application, state.counts[WAITING], now + work, application)
                state.counts[WAITING] += 1
            else:
                state.compute_done[application] += work
                state.done[application] += work
                self._post(application)
            return
        state.since[application] = now
        tail = chains.tail[application]
        if chains.endless[application] == 0 and now + tail <= chains.end * (1.0 + SAME):
            state.completion[application] = min(now + tail, chains.end)
            state.compute_done[application] += tail
            state.done[application] += tail

    def _post(self, application: int) -> None:
        operation = int(self.state.operation[application])
        volume, limit = float(self.chains.volume[operation]), float(self.chains.limit[operation])
        self.rows.append(Row(application, operation, volume, limit, since=self.now))
        self.decider.posted(application, operation)

    def _record(self, row: Row, last: bool) -> None:
        if last or self.now > row.since:
            self._segment(row, self.now)
        row.since = self.now

    def _segment(self, row: Row, stop: float) -> None:
        first = int(self.program.first[row.application])
        entry = (row.application, row.operation - first, row.since, stop, row.rate)
        for column, value in zip(vars(self.segments).values(), entry, strict=True):
            column.append(value)

    def _result(self) -> Run:
        program, state = self.program, self.state
        end = float(self.now if program.windowed else np.nanmax(state.completion))
        compute_done, transferred = state.compute_done.copy(), state.transferred.copy()
        io_seconds = state.done - program.progress - compute_done
        active = [row.application for row in self.rows]
        computing = np.isnan(state.completion) & (state.operation >= 0)
        computing[active] = False
        compute_done[computing] += np.maximum(0.0, end - state.since[computing])
        for row in self.rows:
            moved = program.volume[row.operation] - max(0.0, row.remaining)
            transferred[row.application] += moved
            io_seconds[row.application] += moved / row.limit
        timeline = self._timeline(end)
        io_seconds = np.maximum(0.0, io_seconds)
        moved = compute_done, transferred, io_seconds
        uncut = np.full_like(state.completion, np.nan)  # walltimes are the simulator's alone
        return Run(self.origin, end, self.events, 0.0, *moved, state.completion, uncut, timeline)

    def _timeline(self, end: float) -> Timeline:
        program, cut = self.program, len(self.segments.start)
        for row in self.rows:
            if row.since < end:
                self._segment(row, end)
        columns = {name: np.array(values) for name, values in vars(self.segments).items()}
        stopped = np.where(np.isnan(self.state.completion), end, self.state.completion)
        return Timeline(
            names=program.names,
            capacity=program.capacity,
            begin=program.begin,
            end=self.origin + end,
            started=program.start,
            stopped=self.origin + stopped,
            application=columns["application"].astype(np.int64),
            operation=columns["operation"].astype(np.int64),
            start=self.origin + columns["start"],
            stop=self.origin + columns["stop"],
            rate=columns["rate"],
            cut=cut,
        )
