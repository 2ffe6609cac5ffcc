"""The Python face of the loop: prepare the arrays, let a policy run compiled or plain, turn refusals into sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from penstock.engine.link import loop
from penstock.engine.link.recording import Recording
from penstock.engine.link.state import (
    ACTIVE,
    CAPACITY,
    ENDED,
    EVENTS,
    LIMITED,
    NOW,
    SEGMENTS,
    STOP,
    WAITING,
    Segments,
    chains_of,
    initial_state,
    initial_view,
)
from penstock.engine.program import Program
from penstock.engine.stepping import Progress, Stepping
from penstock.engine.timeline import Timeline
from penstock.errors import PolicyError
from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import plain
from penstock.policies.sharing.asking import improper
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Outlook, Sharing
from penstock.policies.sharing.rules import movers
from penstock.policies.sharing.view import View, active_rows

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
    cut: Floats  # when it was cut off by its walltime; NaN if it was not
    timeline: Timeline | None

    @property
    def stopped(self) -> Floats:
        """When each application stopped: finished, cut off, or at the end."""
        ended = np.fmax(self.completion, self.cut)
        return np.where(np.isnan(ended), self.end, ended)


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


class Execution(Stepping):
    """One run under way.

    With `held`, nobody starts by its release: applications start when they are admitted, and the run can be taken
    from the end of one to the end of the next, or up to a time when others may be admitted.
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
        self.program = program
        self.tick = tick_of(policy, outlook, program)
        super().__init__(policy, origin_of(program, self.tick), np.zeros(len(program.names)))
        self.chains = chains_of(program, self.origin, held, policy.losses)
        self.state = initial_state(program, self.origin, held)
        if foresight is not None:
            start = np.full(len(program.names), np.inf) if held else foresight.start - self.origin
            foresight = foresight._replace(start=start, until=foresight.until - self.origin)
        self.view = initial_view(program, self.origin, policy, foresight)
        if program.efficiency.size:
            self.state = self.state._replace(remembered=np.zeros(self.view.memory.size))
        self.recording = Recording(self.rates.size, timeline)

    def finish(self, progress: Progress | None = None) -> Run:
        """Go on to the end of it all."""
        self.set_up()
        while self.stretch(_CHUNK, progress) != loop.DONE:
            pass
        return self._result()

    def admit(self, applications: Iterable[int], now: float) -> None:
        """Start applications that were held back; `now` is where the run stands, or later, up to its last stop."""
        if now > self.state.clock[NOW]:
            loop.advance(self.chains, self.state, self.view, self.recording.room, self.tick, now)
        # What was decided before they came does not count any more.
        self.rates[:] = 0.0
        self.decided = False
        for application in applications:
            loop.admit(self.chains, self.state, self.view, application, now)

    def save(self) -> None:
        """Remember where the run stands, so that it can go back there."""
        self.saved = [array.copy() for array in self._changing], self.decided

    def go_back(self) -> None:
        """Go back to where it was saved: what has happened since then is undone."""
        arrays, self.decided = self.saved
        for array, before in zip(self._changing, arrays, strict=True):
            array[:] = before

    @cached_property
    def _changing(self) -> list[Any]:
        """All that a run writes to."""
        shown = [column for column in self.view if isinstance(column, np.ndarray)]
        return [*self.state, *shown, self.chains.release, self.rates]

    def next_end(self, stop: float = np.inf) -> float:
        """Go on until an application ends, and return when; infinity if none does up to `stop`.

        Up to there others may then be admitted: nothing that would happen later has happened yet.
        """
        if self.state.counts[ENDED] > 0:
            self.state.counts[ENDED] = 0
            return self._now
        if self.state.counts[[ACTIVE, WAITING, LIMITED]].sum() == 0:
            return np.inf
        self.state.clock[STOP] = stop
        while (status := self.stretch(_CHUNK, None)) not in (loop.DONE, loop.SOMEONE_ENDED, loop.STOPPED):
            pass
        return np.inf if status == loop.STOPPED else self._now

    @property
    def completion(self) -> Floats:
        """When each application ended, or is known to end; NaN for the others."""
        return self.state.completion

    @property
    def cut(self) -> Floats:
        """When each application was cut off by its walltime; NaN for the others."""
        return self.state.cut

    def stretch(self, budget: int, progress: Progress | None) -> int:
        """Go on as any loop does; segments that fill their room are put aside."""
        status = super().stretch(budget, progress)
        if status == loop.ROOM_SPENT:
            self._keep_segments()
        elif status == loop.STOPPED:
            self._keep_decision()
        return status

    def _keep_decision(self) -> None:
        """If others may join at an instant at which nothing else happens, what was decided stands until they do."""
        now, stop = self.state.clock[NOW], self.state.clock[STOP]
        self.decided = bool(now * (1.0 + SAME) < stop)
        if self.decided:
            active = int(self.state.counts[ACTIVE])
            self.rates[:active] = self.view.rate[:active]

    def _run(self, budget: int, resuming: bool) -> int:
        pausing = not self.policy.compiled
        return loop.run(
            self.chains,
            self.state,
            self.view,
            self.decide,
            self.recording.room,
            self.rates,
            self.tick,
            budget,
            pausing,
            resuming,
        )

    @property
    def _now(self) -> float:
        return float(self.state.clock[NOW])

    @property
    def _events(self) -> int:
        return int(self.state.counts[EVENTS])

    def _shown(self, now: float) -> View:
        active = int(self.state.counts[ACTIVE])
        view = self.view._replace(capacity=float(self.state.clock[CAPACITY]))
        return active_rows(view, now, 0, active, plain(loop.lost_by_all)(self.chains, self.state, self.view, now))

    def _decide(self, view: View, rates: Floats) -> None:
        if self.chains.efficiency.size == 0:
            super()._decide(view, rates)
        else:
            self._decide_disturbed(view, rates)

    def _decide_disturbed(self, view: View, rates: Floats) -> None:
        """As the loop asks a compiled policy."""
        efficiency, remembered = self.chains.efficiency, view.memory.copy()
        count, share, settled = rates.size, plain(loop.left_by)(efficiency, rates.size), False
        before = share
        while True:
            super()._decide(view._replace(capacity=self.view.capacity * share), rates)
            number = plain(movers)(rates, view.limit, rates.size)
            if settled or number == count or plain(loop.left_by)(efficiency, number) == share:
                break
            settled = number > count
            count, share, before = number, before if settled else plain(loop.left_by)(efficiency, number), share
            view.memory[:] = remembered
            rates[:] = 0.0
        self.state.clock[CAPACITY] = self.view.capacity * share

    def _refused(self, view: View) -> str:
        return improper(self.policy, [self.program.names[row] for row in view.application], view, view.rate)

    def _keep_segments(self) -> None:
        self.recording.keep(int(self.state.counts[SEGMENTS]))
        self.state.counts[SEGMENTS] = 0

    def _result(self) -> Run:
        program, state, view = self.program, self.state, self.view
        end = float(state.clock[NOW] if program.windowed else np.nanmax(np.fmax(state.completion, state.cut)))
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
            state.cut,
            self._timeline(end, rows) if self.recording.wanted else None,
        )

    def _timeline(self, end: float, rows: slice) -> Timeline:
        """All segments, those still open at the end closed there."""
        self._keep_segments()
        view, state = self.view, self.state
        ended = np.fmax(state.completion, state.cut)
        starts = state.segment_start[rows]
        open_rows = np.flatnonzero(starts < end)
        owner = view.application[rows][open_rows]
        until, rate = np.full(open_rows.size, end), view.rate[rows][open_rows]
        still = Segments(owner, state.operation[owner], starts[open_rows], until, rate)
        return self.recording.timeline(self.program, self.origin, end, ended, still, -2 - state.operation)


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
