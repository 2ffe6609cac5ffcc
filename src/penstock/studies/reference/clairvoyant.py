"""A reference's search that knows the future: try many ways to go on to the end, and keep what leaves all the most.

At the begin of each stretch of the run offsets are drawn for all that follows, and the engine goes on from where it
stands with each of them, on the true future, to the end. The lowest soft maximum of losses there is kept, and the run
goes on for one stretch. It never gets worse than what it began with, nothing is run again from the start, and what is
found is a schedule that the engine itself has run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from penstock.engine.link import loop
from penstock.engine.link.execution import Execution
from penstock.engine.link.state import ACTIVE, NOW, STOP
from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, FloatTable
from penstock.studies.reference.steering import SteeringPlan, steer
from penstock.studies.study import Part, Study

STRETCHES = 50
SHARPNESS = 1000.0  # of the soft maximum: losses that differ by a thousandth count as alike
SMALLEST = 1 / 300  # of the longest operation: from there up to that operation itself offsets are spread

Progress = Callable[[float], None]  # share that is done
_ALL = 1 << 60


class Effort(NamedTuple):
    """What a search may try: the same effort finds the same schedule."""

    trials: int = 30  # in each stretch
    seed: int = 0


def search(study: Study, part: Part, horizon: float, effort: Effort, progress: Progress | None = None) -> SteeringPlan:
    """The offsets found for applications that share a bandwidth and run for about `horizon` seconds."""
    plan = SteeringPlan(horizon / STRETCHES, horizon, np.zeros((STRETCHES, len(part.rows))))
    policy = steer({part.program.names: plan}, "clairvoyant")
    trial = _Trial(Execution(part.program, policy, part.outlook, study.foresight_of(part)), plan)
    draw = np.random.default_rng(effort.seed)
    longest = float((part.program.volume / part.program.limit).max(initial=0.0))
    trial.run.save()
    best = trial.loss(plan.offsets)
    for stretch in range(STRETCHES):
        before = plan.offsets.copy()
        for number in range(effort.trials):
            tried = before.copy()
            # Around what was kept, or anew, in turn.
            tried[stretch:] = (number % 2) * before[stretch:] + _drawn(draw, len(part.rows), longest)
            if (lost := trial.loss(tried)) < best:
                best, plan.offsets[:] = lost, tried
        if trial.go_on(plan.offsets, (stretch + 1) * plan.seconds) == loop.DONE:
            break
        trial.run.save()
        if progress is not None:
            progress((stretch + 1) / STRETCHES)
    return plan


def _drawn(draw: np.random.Generator, count: int, longest: float) -> Floats:
    """Offsets of all sizes, some applications first and some last."""
    spread = longest * SMALLEST ** draw.uniform()
    offsets: Floats = spread * draw.standard_normal(count)
    return offsets


class _Trial:
    """A run that goes on from where it was saved, as often as there is something to try."""

    def __init__(self, run: Execution, plan: SteeringPlan) -> None:
        run.set_up()
        self.run = run
        self.listed = listed_seconds(run.program)
        # The engine's own copy is written to: a trial's offsets are those that its policy reads.
        self.offsets = run.view.memory.reshape(plan.offsets.shape)

    def loss(self, tried: FloatTable) -> float:
        """What going on to the end with these offsets comes to."""
        self.go_on(tried, np.inf)
        return soft_maximum(losses(self.run, self.listed))

    def go_on(self, tried: FloatTable, stop: float) -> int:
        """Go back to where it was saved and on to `stop`; how it came to stop."""
        self.run.go_back()
        self.offsets[:] = tried
        self.run.state.clock[STOP] = stop
        while (status := self.run.stretch(_ALL, None)) not in (loop.DONE, loop.STOPPED):
            pass
        return status


def soft_maximum(values: Floats) -> float:
    """Close to the largest, but with an eye on those that are nearly as large."""
    most = float(values.max())
    return most + float(np.log(np.exp(SHARPNESS * (values - most)).mean())) / SHARPNESS


def losses(run: Execution, listed: Floats) -> Floats:
    """The share of its life that each application has lost for good, were it to lose nothing more from now on."""
    program, state, view = run.program, run.state, run.view
    rows = slice(0, int(state.counts[ACTIVE]))
    lost = state.lost.copy()
    lost[view.application[rows]] = state.clock[NOW] - view.release[rows] - view.progress[rows]
    cut = ~np.isnan(state.cut)
    lost[cut] = (state.cut - run.chains.release - state.done)[cut]
    return lost / np.minimum(program.until - program.release, listed + lost)


def listed_seconds(program: Program) -> Floats:
    """Seconds that all phases of each application take alone, with what it had done before; infinity if endless."""
    seconds = np.concatenate([[0.0], np.cumsum(program.work + program.volume / program.limit)])
    listed = seconds[program.first[1:]] - seconds[program.first[:-1]] + program.tail
    return np.where(program.endless, np.inf, program.progress + listed)
