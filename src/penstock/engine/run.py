"""The Python face of the loop: prepare the arrays, let a policy run compiled or plain, turn refusals into sentences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.engine import loop
from penstock.engine.program import Floats, Program
from penstock.engine.state import (
    ACTIVE,
    EVENTS,
    NOW,
    SEGMENTS,
    WAITING,
    Segments,
    chains_of,
    initial_state,
    initial_view,
    no_segments,
    segments_room,
)
from penstock.engine.timeline import Timeline
from penstock.errors import PolicyError
from penstock.kernels import kernel
from penstock.sharing.asking import ask, at, first_class, improper, raised
from penstock.sharing.foresight import Foresight
from penstock.sharing.policy import Outlook, Sharing
from penstock.sharing.view import DECIDE, View, active_rows

Progress = Callable[[float, int], None]  # (simulated time, events so far)

_CHUNK = 200_000
MOST_TICKS = 1e9


@dataclass(frozen=True)
class Run:
    """What happened to each application. Times count from `origin`, so that no digit is lost."""

    origin: float
    end: float
    events: int
    seconds: float
    compute_done: Floats
    transferred: Floats
    io_seconds: Floats  # transferred bytes at full rate
    completion: Floats  # NaN if not finished
    timeline: Timeline | None


def execute(
    program: Program,
    policy: Sharing,
    outlook: Outlook,
    foresight: Foresight | None = None,
    *,
    timeline: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Run `program` under `policy` to its end. `seconds` is the time in the loop alone.

    A policy that plans ahead needs `foresight`.
    """
    return Execution(program, policy, outlook, foresight, timeline=timeline).finish(progress)


class Execution:
    """One run under way.

    With `held`, nobody starts by its release: applications start when they are admitted, and the run can be taken
    from the end of one to the end of the next.
    """

    def __init__(
        self,
        program: Program,
        policy: Sharing,
        outlook: Outlook,
        foresight: Foresight | None = None,
        *,
        timeline: bool = False,
        held: bool = False,
    ) -> None:
        self.program, self.policy = program, policy
        self.tick = tick_of(policy, outlook, program)
        self.origin = origin_of(program, self.tick)
        self.chains = chains_of(program, self.origin, held)
        self.state = initial_state(program, self.origin, held)
        if foresight is not None:
            start = np.full(len(program.names), np.inf) if held else foresight.start - self.origin
            foresight = foresight._replace(start=start)
        self.view = initial_view(program, self.origin, policy, foresight)
        self.rates = np.zeros(len(program.names))
        self.decide = first_class(policy) if policy.compiled else idle
        self.room = segments_room(max(4096, 8 * self.rates.size)) if timeline else no_segments()
        self.recorded: list[Segments] = []
        self.seconds = 0.0

    def finish(self, progress: Progress | None = None) -> Run:
        """Go on to the end of it all."""
        # The first call of a process sets things up: not part of the run.
        self._go_on(resuming=False, budget=0)
        self.seconds = 0.0
        status = loop.BUDGET_SPENT
        while status != loop.DONE:
            status = self._stretch(progress)
        return self._result()

    def admit(self, applications: Iterable[int], now: float) -> None:
        """Start applications that were held back; `now` is where the run stands, or later if it stood still."""
        self.state.clock[NOW] = now
        for application in applications:
            loop.admit(self.chains, self.state, self.view, application, now)

    def next_end(self) -> float:
        """Go on until an application ends, and return when; infinity if none is running."""
        if self.state.counts[ACTIVE] + self.state.counts[WAITING] == 0:
            return np.inf
        while self._stretch(None) not in (loop.DONE, loop.SOMEONE_ENDED):
            pass
        return float(self.state.clock[NOW])

    @property
    def completion(self) -> Floats:
        """When each application ended, or is known to end; NaN for the others."""
        return self.state.completion

    def _stretch(self, progress: Progress | None) -> int:
        """Go on for as long as nobody but the policy is needed, or a while."""
        status = self._go_on(resuming=False)
        while status == loop.PAUSED:
            self._ask()
            status = self._go_on(resuming=True)
        if status == loop.ROOM_SPENT:
            self._keep_segments()
        elif status in (loop.STALLED, loop.REFUSED):
            raise PolicyError(self._refusal(status))
        if progress is not None and status != loop.DONE:
            progress(self._time, int(self.state.counts[EVENTS]))
        return status

    def _go_on(self, resuming: bool, budget: int = _CHUNK) -> int:
        started = time.thread_time()
        try:
            status = loop.run(
                self.chains,
                self.state,
                self.view,
                self.decide,
                self.room,
                self.rates,
                self.tick,
                budget,
                not self.policy.compiled,
                resuming,
            )
        except Exception as error:  # only the policy's own code can raise in there
            raise raised(self.policy, self._time, error) from error
        self.seconds += time.thread_time() - started
        return status

    def _ask(self) -> None:
        """Let a plain Python policy decide."""
        active = int(self.state.counts[ACTIVE])
        started = time.thread_time()
        view = active_rows(self.view, float(self.state.clock[NOW]), 0, active)
        ask(self.policy, view, self.rates[:active])
        self.seconds += time.thread_time() - started

    @property
    def _time(self) -> float:
        """The scenario's time; the loop counts from the origin."""
        return self.origin + float(self.state.clock[NOW])

    def _refusal(self, status: int) -> str:
        if status == loop.STALLED:
            return f"{at(self.policy, self._time)} gave nobody any bandwidth, and nothing else would ever happen"
        active = int(self.state.counts[ACTIVE])
        view = active_rows(self.view, self._time, 0, active)
        names = [self.program.names[application] for application in view.application]
        return improper(self.policy, names, view, view.rate)

    def _keep_segments(self) -> None:
        used = int(self.state.counts[SEGMENTS])
        kept: Any = [column[:used].copy() for column in self.room]
        self.recorded.append(Segments(*kept))
        self.state.counts[SEGMENTS] = 0

    def _result(self) -> Run:
        program, state, view = self.program, self.state, self.view
        end = float(state.clock[NOW] if program.windowed else np.nanmax(state.completion))
        compute_done, transferred = state.compute_done.copy(), state.transferred.copy()
        io_seconds = state.done - program.progress - compute_done
        active = view.application[: state.counts[ACTIVE]]
        computing = np.isnan(state.completion) & (state.operation >= 0)
        computing[active] = False
        compute_done[computing] += np.maximum(0.0, end - state.since[computing])
        rows = slice(0, active.size)
        left = np.maximum(0.0, view.remaining[rows])
        moved = program.volume[state.operation[active]] - left
        transferred[active] += moved
        io_seconds[active] += moved / view.limit[rows]
        return Run(
            self.origin,
            end,
            int(state.counts[EVENTS]),
            self.seconds,
            compute_done,
            transferred,
            np.maximum(0.0, io_seconds),
            state.completion,
            self._timeline(end, rows) if self.room.start.size else None,
        )

    def _timeline(self, end: float, rows: slice) -> Timeline:
        """All segments, those still open at the end closed there."""
        self._keep_segments()
        view, state = self.view, self.state
        starts = state.segment_start[rows]
        open_rows = np.flatnonzero(starts < end)
        owner = view.application[rows][open_rows]
        cut = sum(part.start.size for part in self.recorded)
        self.recorded.append(
            Segments(
                owner,
                state.operation[owner],
                starts[open_rows],
                np.full(open_rows.size, end),
                view.rate[rows][open_rows],
            )
        )
        columns = (np.concatenate(column) for column in zip(*self.recorded, strict=True))
        application, operation, start, stop, rate = columns
        program = self.program
        return Timeline(
            names=program.names,
            capacity=program.capacity,
            begin=program.begin,
            end=self.origin + end,
            started=program.start,
            stopped=self.origin + np.where(np.isnan(state.completion), end, state.completion),
            application=application,
            operation=operation - program.first[application],
            start=self.origin + start,
            stop=self.origin + stop,
            rate=rate,
            cut=cut,
        )


def tick_of(policy: Sharing, outlook: Outlook, program: Program) -> float:
    """Seconds between the extra decisions that a policy wants; 0 if it wants none."""
    seconds = policy.ticks(outlook, policy.settings)
    if seconds is None:
        return 0.0
    if not 0.0 < seconds < np.inf:
        raise PolicyError(f"sharing policy {policy.name!r} asks for decisions every {seconds:g} s; give a time above 0")
    if (count := _longest(program) / seconds) > MOST_TICKS:
        raise PolicyError(
            f"sharing policy {policy.name!r} asks for decisions every {seconds:g} s, {count:.2g} in all; "
            f"at most {MOST_TICKS:.0e} are made"
        )
    return float(seconds)


def origin_of(program: Program, tick: float) -> float:
    """Where the clock starts; ticks without a window count from 0, so the last of them before the first start."""
    if program.windowed or tick == 0.0:
        return program.origin
    return float(np.floor(program.origin / tick) * tick)


def _longest(program: Program) -> float:
    """How long a run may take: the window, or everything one after the other."""
    if program.windowed:
        return program.end - program.begin
    alone = program.work.sum() + program.tail.sum() + (program.volume / program.limit).sum()
    return float(program.start.max() - program.origin + alone)


@kernel(DECIDE)
def idle(view: View, rates: Floats) -> None:
    """Stands in where a plain Python policy decides outside the loop."""
