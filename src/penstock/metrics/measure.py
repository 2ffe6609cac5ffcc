"""From what happened in a run to the numbers users compare (the metrics of the model, names as in the JSON)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.engine.dedicated import Dedicated
from penstock.engine.link.execution import Run
from penstock.engine.program import Program
from penstock.kernels.arrays import SAME, Floats
from penstock.metrics.losses import Lives, losses_of
from penstock.metrics.result import ApplicationResult, Result


class Yardsticks(NamedTuple):
    """What runs of a scenario are measured by: true of it whatever the policy."""

    alone: Dedicated
    volume_bound: float | None
    interval_bound: float
    pressure: float | None
    io_weight: float


def measure(program: Program, yardsticks: Yardsticks, sharing: str, run: Run) -> Result:
    """All metrics of one run."""
    finished = ~np.isnan(run.completion)
    age = run.stopped + (run.origin - program.release)
    yields = _yields(program, run, age)
    # What was done before the window is part of the dedicated time.
    stretch = age / (yardsticks.alone.listed + program.progress)
    end, completion = run.origin + run.end, run.origin + run.completion
    weight = program.nodes / program.nodes.sum() / (run.end + (run.origin - program.begin))
    cut = ~np.isnan(run.cut)
    lives = Lives(
        names=program.names,
        nodes=program.nodes,
        seconds=run.stopped + (run.origin - program.start),
        progress=run.compute_done + run.io_seconds,
        yields=yields,
        stretch=np.where(finished, stretch, np.nan),
        cut=cut,
    )
    best = min(bound for bound in (yardsticks.volume_bound, yardsticks.interval_bound) if bound is not None)
    return Result(
        **vars(losses_of(lives)),
        sharing=sharing,
        end=end,
        events=run.events,
        seconds=run.seconds,
        min_yield=float(yields.min()),
        utilization=float(weight @ run.compute_done),
        efficiency=float(weight @ (run.compute_done + run.io_seconds)),
        makespan=float(completion.max()) if finished.all() else None,
        max_stretch=float(stretch[finished].max()) if finished.any() else None,
        mean_stretch=float(stretch[finished].mean()) if finished.any() else None,
        pressure=yardsticks.pressure,
        io_weight=yardsticks.io_weight,
        bound_min_yield=yardsticks.volume_bound,
        bound_interval=yardsticks.interval_bound,
        distance_to_bound=float(1.0 - yields.min() / best) if best > 0.0 else None,
        applications=tuple(
            ApplicationResult(
                name,
                float(yields[i]),
                float(completion[i]) if finished[i] else None,
                float(stretch[i]) if finished[i] else None,
                float(run.compute_done[i]),
                float(run.transferred[i]),
                bool(cut[i]),
            )
            for i, name in enumerate(program.names)
        ),
        closed=_is_closed(program, run),
        timeline=run.timeline,
    )


def _is_closed(program: Program, run: Run) -> bool:
    """Whether everybody starts together, and stays to the end of the window if there is one.

    Only then do shares of the whole run, such as the efficiency, say how well it went.
    """
    together = bool(np.all(program.start <= program.start.min() * (1.0 + SAME)))
    return together and (not program.windowed or bool(np.all(run.stopped >= run.end * (1.0 - SAME))))


def _yields(program: Program, run: Run, age: Floats) -> Floats:
    done = program.progress + run.compute_done + run.io_seconds
    return np.divide(done, age, out=np.zeros_like(done), where=age > 0.0)
