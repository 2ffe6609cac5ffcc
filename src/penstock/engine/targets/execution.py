"""The Python face of the loop on targets: a run to its end, or its first part, up to the first completion (P4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.engine.link import loop
from penstock.engine.link.execution import origin_of, tick_of
from penstock.engine.link.state import chains_of
from penstock.engine.program import Program
from penstock.engine.stepping import Progress, Stepping
from penstock.engine.targets.loop import capacity_of, lost_on, run_targets
from penstock.engine.targets.stripes import (
    EVENTS,
    NOW,
    TOUCHED,
    Bounds,
    Stripes,
    initial_stripe_state,
    stripes_view,
    with_memory,
)
from penstock.kernels.arrays import SAME, Bools, Floats, Ints
from penstock.kernels.compile import plain
from penstock.policies.sharing.asking import improper
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Outlook, Sharing
from penstock.policies.sharing.view import View, active_rows

_CHUNK = 100_000


@dataclass(frozen=True)
class TargetRun:
    """What happened to each application and on each target. Times of applications count from `origin`."""

    origin: float
    end: float  # in the scenario's time
    events: int  # how often something happened on a target
    seconds: float
    compute_done: Floats
    moved: Floats  # bytes
    io_seconds: Floats  # with an operation under way
    busy: Floats  # per target: seconds with a transfer
    carried: Floats  # per target: bytes
    until: Floats  # when it completed, was cut off, or the run ended
    completed: Bools
    cut: Bools  # at its deadline, before it had completed


def execute_on_targets(
    program: Program,
    stripes: Stripes,
    targets: Sequence[str],
    policy: Sharing,
    outlook: Outlook,
    foresight: Foresight | None = None,
    progress: Progress | None = None,
    *,
    deadline: Floats | None = None,
    first: bool = False,
) -> TargetRun:
    """Run `program` on its `targets`, each under `policy`; a policy that plans ahead needs `foresight`.

    `program` counts a second per byte (a bandwidth of 1), for how long a transfer takes is up to the stripes. Who is
    not finished at its `deadline` is cut off. The run stops with the first completion, or, not `first`, with the last;
    in either case with the window.
    """
    never = np.full(len(program.names), np.inf)
    due = never if deadline is None else np.maximum(deadline, program.start)
    return _TargetExecution(program, stripes, targets, policy, outlook, foresight, due, first).finish(progress)


class _TargetExecution(Stepping):
    def __init__(
        self,
        program: Program,
        stripes: Stripes,
        targets: Sequence[str],
        policy: Sharing,
        outlook: Outlook,
        foresight: Foresight | None,
        deadline: Floats,
        first: bool,
    ) -> None:
        self.program, self.targets = program, targets
        self.tick = tick_of(policy, outlook, program)
        super().__init__(policy, origin_of(program, self.tick), np.zeros(int(np.diff(stripes.row).max())))
        self.chains = chains_of(program, self.origin, watching=False, losses=policy.losses)
        if foresight is not None:
            foresight = foresight._replace(until=deadline)  # a plan must not wait for who is cut off
        self.stripes, memory = with_memory(stripes, policy, foresight, self.origin)
        self.bounds = Bounds(deadline - self.origin, program.end - self.origin, int(first))
        self.state = initial_stripe_state(program, self.stripes, self.bounds.deadline, self.origin)
        self.view = stripes_view(stripes, policy, memory, self.bounds.end)

    def finish(self, progress: Progress | None) -> TargetRun:
        self.set_up()
        while self.stretch(_CHUNK, progress) != loop.DONE:
            pass
        return self._result()

    def _run(self, budget: int, resuming: bool) -> int:
        pausing = not self.policy.compiled
        return run_targets(
            self.chains,
            self.stripes,
            self.bounds,
            self.state,
            self.view,
            self.decide,
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

    @property
    def _target(self) -> int:
        """The target that is to decide, or has decided badly."""
        return int(self.state.touched[self.state.counts[TOUCHED] - 1])

    def _shown(self, now: float) -> View:
        target = self._target
        own = slice(self.stripes.memory[target], self.stripes.memory[target + 1])
        start = int(self.stripes.row[target])
        lost = plain(lost_on)(self.chains, self.stripes, self.state, self.view, target, now)
        capacity = plain(capacity_of)(self.stripes, self.state, self.view, target)
        view = self.view._replace(memory=self.view.memory[own], capacity=capacity)
        return active_rows(view, now, start, int(self.state.active[target]), lost)

    def _refused(self, view: View) -> str:
        here = np.flatnonzero(self.stripes.target == self._target)
        names = [self.program.names[self.stripes.owner[here[place]]] for place in view.application]
        where = f" on target {self.targets[self._target]!r},"
        return improper(self.policy, names, view, view.rate, "of its time", where)

    def _result(self) -> TargetRun:
        state = self.state
        end = float(state.clock[NOW])
        compute_done, moved, io_seconds = state.compute_done.copy(), state.transferred.copy(), state.io_seconds.copy()
        transferring = state.under_way > 0
        computing = ~transferring & (state.operation >= 0)
        until = np.minimum(state.until, end)
        since = np.maximum(0.0, until - state.since)
        compute_done[computing] += since[computing]
        io_seconds[transferring] += since[transferring]
        finished = moved - np.bincount(self.stripes.owner, weights=state.broken, minlength=moved.size)
        moved += self._moved_so_far()
        nearly = end * (1.0 + SAME)
        completed = (state.cut == 0) & (state.until <= nearly) | self._completing_now()
        # A deadline at the very end of the run is one, too.
        cut = (state.cut == 1) | ~completed & (self.bounds.deadline <= nearly)
        return TargetRun(
            self.origin,
            self.origin + end,
            int(state.counts[EVENTS]),
            self.seconds,
            compute_done,
            moved,
            io_seconds,
            state.busy,
            self._carried(finished),
            until,
            completed,
            cut,
        )

    def _completing_now(self) -> Bools:
        """Who has a last operation that is over at the very end of the run, and nothing after it."""
        state, now = self.state, float(self.state.clock[NOW])
        last: Bools = (
            (state.under_way > 0) & (state.operation == self.chains.first[1:] - 1) & (self.chains.tail <= SAME * now)
        )
        rows = self._rows()
        under_way = self.view.remaining[rows] > self.view.rate[rows] * SAME * now
        last[self.stripes.owner[state.stripe[rows[under_way]]]] = False
        return last

    def _rows(self) -> Ints:
        """The rows of the View in use."""
        stripes = self.stripes
        in_use = np.repeat(stripes.row[:-1] + self.state.active, np.diff(stripes.row))
        return np.flatnonzero(np.arange(in_use.size) < in_use)

    def _moved_so_far(self) -> Floats:
        """Bytes of operations that are still under way: transfers that are over, and parts of the others."""
        state, stripes = self.state, self.stripes
        count = np.diff(stripes.first)
        transferring = state.under_way > 0
        over = np.where(transferring, count - state.under_way, 0).astype(np.float64)
        stripe, share = self._shares_over()
        over += np.bincount(stripes.owner[stripe], weights=share, minlength=over.size)
        return self._under_way() * over / count

    def _under_way(self) -> Floats:
        """The bytes of each operation that is under way."""
        transferring = self.state.under_way > 0
        volume = np.zeros(transferring.size)
        volume[transferring] = self.program.volume[self.state.operation[transferring]]
        return volume

    def _shares_over(self) -> tuple[Ints, Floats]:
        """Stripes with a transfer that is not over, and how much of it is."""
        rows = self._rows()
        stripe = self.state.stripe[rows]
        whole = self._under_way()[self.stripes.owner[stripe]] * self.stripes.seconds[stripe]
        return stripe, np.clip(1.0 - self.view.remaining[rows] / whole, 0.0, 1.0)

    def _carried(self, finished: Floats) -> Floats:
        """Bytes that each target has moved: of finished operations, of those under way, of those that were cut off."""
        stripes, count = self.stripes, np.diff(self.stripes.first)
        under_way = (self._under_way() / count)[stripes.owner]
        stripe, share = self._shares_over()
        under_way[stripe] *= share
        each = (finished / count)[stripes.owner] + under_way + self.state.broken
        return np.bincount(stripes.target, weights=each, minlength=self.state.busy.size).astype(np.float64)
