"""From what happened in a run to the numbers users compare (the metrics of the model, names as in the JSON)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.engine.compile import compile_scenario
from penstock.engine.foresight import foresee
from penstock.engine.link.execution import Run
from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, Ints
from penstock.metrics.bounds import interval_bound, volume_bound
from penstock.metrics.dedicated import Dedicated, dedicated, pressure
from penstock.metrics.result import ApplicationResult, Result
from penstock.metrics.weight import io_weight
from penstock.model import Scenario
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Outlook


@dataclass(frozen=True)
class Part:
    """Applications that share one bandwidth: all of a scenario, or those of one of its I/O nodes."""

    rows: Ints
    program: Program

    @cached_property
    def outlook(self) -> Outlook:
        """What policies may know before the start."""
        return outlook(self.program, dedicated(self.program))


@dataclass(frozen=True)
class Study:
    """A scenario and what is true of it whatever the policy, worked out when first asked for.

    Bounds may take longer than a run. Without them they are what is trivially true: none, and infinity.
    """

    scenario: Scenario
    bounds: bool = True

    @cached_property
    def program(self) -> Program:
        """The compiled scenario."""
        return compile_scenario(self.scenario)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Those who share a bandwidth; several where applications go through different I/O nodes."""
        if not self.scenario.by_io_node:
            rows = np.arange(len(self.program.names))
            return (Part(rows, self.program),)
        chosen = np.array([application.io_node for application in self.scenario.applications])
        groups = [np.flatnonzero(chosen == node) for node in np.unique(chosen)]
        return tuple(Part(rows, self.program.pick(rows)) for rows in groups)

    @cached_property
    def alone(self) -> Dedicated:
        """Every application run alone."""
        return dedicated(self.program)

    @cached_property
    def outlook(self) -> Outlook:
        """What policies may know before the start, were all to share one bandwidth."""
        return outlook(self.program, self.alone)

    @cached_property
    def foresight(self) -> Foresight:
        """What policies that plan ahead are told besides."""
        return foresee(self.scenario, self.program)

    def foresight_of(self, part: Part) -> Foresight:
        """The same for those who share one bandwidth."""
        return self.foresight if len(part.rows) == len(self.program.names) else self.foresight.pick(part.rows)

    @cached_property
    def volume_bound(self) -> float | None:
        """No policy has a higher minimum yield: all bytes must fit into the window."""
        if not self.bounds:
            return None
        bounds = [bound for part in self.parts if (bound := volume_bound(part.program)) is not None]
        return min(bounds, default=None)

    @cached_property
    def interval_bound(self) -> float:
        """Nor than this: every operation must fit between its earliest start and its deadline."""
        if not self.bounds:
            return math.inf
        return min(interval_bound(part.program) for part in self.parts)

    @cached_property
    def pressure(self) -> float | None:
        """I/O pressure."""
        of_one = pressure(self.program, self.alone)
        nodes = self.scenario.platform.io_nodes
        return of_one / nodes.count if of_one is not None and nodes and self.scenario.by_io_node else of_one

    @cached_property
    def io_weight(self) -> float:
        """I/O weight."""
        return io_weight(self.scenario)


def outlook(program: Program, runs: Dedicated) -> Outlook:
    """What policies may know of a program before it starts."""
    return Outlook(program.begin, program.end, int(runs.started.sum()))


def measure(study: Study, sharing: str, run: Run) -> Result:
    """All metrics of one run."""
    program = study.program
    finished = ~np.isnan(run.completion)
    age = np.where(finished, run.completion, run.end) + (run.origin - program.release)
    yields = _yields(program, run, age)
    # What was done before the window is part of the dedicated time.
    stretch = age / (study.alone.listed + program.progress)
    end, completion = run.origin + run.end, run.origin + run.completion
    weight = program.nodes / program.nodes.sum() / (run.end + (run.origin - program.begin))
    best = min(bound for bound in (study.volume_bound, study.interval_bound) if bound is not None)
    return Result(
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
        pressure=study.pressure,
        io_weight=study.io_weight,
        bound_min_yield=study.volume_bound,
        bound_interval=study.interval_bound,
        distance_to_bound=float(1.0 - yields.min() / best) if best > 0.0 else None,
        applications=tuple(
            ApplicationResult(
                name,
                float(yields[i]),
                float(completion[i]) if finished[i] else None,
                float(stretch[i]) if finished[i] else None,
                float(run.compute_done[i]),
                float(run.transferred[i]),
            )
            for i, name in enumerate(program.names)
        ),
        timeline=run.timeline,
    )


def _yields(program: Program, run: Run, age: Floats) -> Floats:
    done = program.progress + run.compute_done + run.io_seconds
    return np.divide(done, age, out=np.zeros_like(done), where=age > 0.0)
