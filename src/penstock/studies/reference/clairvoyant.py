"""A search that knows the future: try many ways to go on, keep the one after which everybody has lost least.

At the begin of each stretch of the run, offsets are drawn and the engine goes on from where it stands with each of
them, on the true future, some stretches ahead. Those with the lowest soft maximum of losses are kept for one stretch.
Nothing is run again from the start, and what is found is a schedule that the engine itself has run.
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
from penstock.studies.reference.steering import Plan, steer
from penstock.studies.study import Part, Study

STRETCHES = 200
AHEAD = 20  # stretches that a trial looks ahead
SHARPNESS = 300.0  # of the soft maximum: losses that differ by a few thousandths count as alike
SMALLEST, LARGEST = -4.5, -2.0  # powers of ten of the run's length, between which offsets are spread

Progress = Callable[[float], None]  # share that is done
_ALL = 1 << 60


class Effort(NamedTuple):
    """What a search may try: the same effort finds the same schedule."""

    trials: int = 50  # in each stretch
    seed: int = 0


def search(study: Study, part: Part, horizon: float, effort: Effort, progress: Progress | None = None) -> Plan:
    """The offsets found for applications that share a bandwidth and run for about `horizon` seconds."""
    plan = Plan(horizon / STRETCHES, horizon, np.zeros((STRETCHES, len(part.rows))))
    policy = steer({part.program.names: plan}, "clairvoyant")
    trial = _Trial(Execution(part.program, policy, part.outlook, study.foresight_of(part)), plan)
    draw = np.random.default_rng(effort.seed)
    kept = np.zeros(len(part.rows))
    for stretch in range(STRETCHES):
        trial.run.save()
        tried = _tries(draw, kept, effort.trials, horizon)
        lost = [trial.loss_after(stretch, each) for each in tried]
        kept = tried[int(np.argmin(lost))]
        plan.offsets[stretch] = kept
        if trial.go_on(stretch, kept, stretch + 1) == loop.DONE:
            break
        if progress is not None:
            progress((stretch + 1) / STRETCHES)
    return plan


def _tries(draw: np.random.Generator, kept: Floats, trials: int, horizon: float) -> FloatTable:
    """Offsets to try: none, what was kept before, and random ones around either."""
    spread = horizon * 10.0 ** draw.uniform(SMALLEST, LARGEST, size=(trials, 1))
    tried: FloatTable = spread * draw.standard_normal((trials, kept.size))
    tried[1::2] += kept
    tried[0] = 0.0
    tried[1:2] = kept
    return tried


class _Trial:
    """A run that goes on from where it was saved, as often as there is something to try."""

    def __init__(self, run: Execution, plan: Plan) -> None:
        run.set_up()
        self.run, self.seconds = run, plan.seconds
        self.listed = listed_seconds(run.program)
        # The engine's own copy is written to: a trial's offsets are those that its policy reads.
        self.offsets = run.view.memory.reshape(plan.offsets.shape)

    def loss_after(self, stretch: int, tried: Floats) -> float:
        """What going on with these offsets for some stretches comes to."""
        self.go_on(stretch, tried, stretch + AHEAD)
        return soft_maximum(losses(self.run, self.listed))

    def go_on(self, stretch: int, tried: Floats, last: int) -> int:
        """Go back to where it was saved and on to the stretch `last`; how it came to stop."""
        self.run.go_back()
        self.offsets[stretch:] = tried
        self.run.state.clock[STOP] = last * self.seconds
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
