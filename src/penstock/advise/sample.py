"""What advice compares policies on: the days of a trace, or, of one or two days, draws of their jobs.

Days are paired: the same jobs met under every policy. Where there are too few of them, jobs are drawn anew with
repetition, each shifted at random: without shifts two copies of a job would run in lockstep and fight for ever. Such an
interval holds within this day and says nothing about other days.

Bins blur where bursts begin and end, and neither reading of slack is the truth then. So both are run, and an interval
spans those of both and half of their difference more, on either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from penstock.advise.estimate import DayBlocks, Estimate, percentiles, student
from penstock.advise.machine import redrawn
from penstock.advise.runs import Fate
from penstock.kernels.arrays import SAME, Floats
from penstock.model import COMPUTE, Application, Scenario, Trace
from penstock.model.phases import Compute

Goal = Literal["node-hours", "min-yield"]
GOALS: tuple[Goal, ...] = ("node-hours", "min-yield")
DRAWS = 100
_SEED = 20_261_117


@dataclass(frozen=True)
class Sample:
    """Rows are days, or draws; columns are policies. `whole` has, by goal, the figure of the data themselves."""

    policies: tuple[str, ...]
    min_yield: Floats
    lost: Floats  # node-hours per day
    whole: Mapping[str, Floats]
    by_days: bool
    overloaded: bool = False  # backlogs carry over, so days are no sample of what is lost in them
    otherwise: Sample | None = None  # the same jobs, their bins read in the other way

    def figure(self, goal: Goal, name: str) -> float:
        """How well a policy did; more is better."""
        return float(self.whole[goal][self.policies.index(name)])

    def gain(self, goal: Goal, name: str, against: str) -> Estimate:
        """What a policy has over another: more yield of the worst job of a day, or fewer node-hours lost in it."""
        own = self._gain(goal, name, against)
        return own if self.otherwise is None else spanning(own, self.otherwise.gain(goal, name, against))

    def _gain(self, goal: Goal, name: str, against: str) -> Estimate:
        one, other = self.policies.index(name), self.policies.index(against)
        values = self.min_yield if goal == "min-yield" else -self.lost
        apart = without_rounding(values[:, one], values[:, other])
        if self.by_days:
            return Estimate(float(np.nanmean(apart))) if self.overloaded and goal == "node-hours" else student(apart)
        whole = self.whole[goal]
        return percentiles(apart, float(without_rounding(whole[[one]], whole[[other]])[0]))


def read_both_ways(samples: Sequence[Sample], overloaded: bool) -> Sample:
    """One sample of one reading, or of two."""
    first, *rest = (replace(each, overloaded=overloaded) for each in samples)
    return replace(first, otherwise=rest[0]) if rest else first


def spanning(one: Estimate, other: Estimate) -> Estimate:
    """The first figure, with an interval that holds both and half of their difference more."""
    if np.isnan(one.low) or np.isnan(other.low):
        return one._replace(low=np.nan, high=np.nan)
    more = abs(one.value - other.value) / 2.0
    return Estimate(one.value, min(one.low, other.low) - more, max(one.high, other.high) + more)


def without_rounding(one: Floats, other: Floats) -> Floats:
    """Differences, nothing where two numbers differ by rounding alone."""
    same = np.abs(one - other) <= SAME * np.maximum(np.abs(one), np.abs(other))
    return np.where(same, 0.0, one - other)


def sample_days(fates: Mapping[str, Fate], days: DayBlocks) -> Sample:
    """A row for each day."""
    columns = [(_least(fate.yields, days), _added(fate.lost, days)) for fate in fates.values()]
    least, lost = (np.column_stack(parts) for parts in zip(*columns, strict=True))
    whole = {"min-yield": _means(least), "node-hours": -_means(lost)}
    return Sample(tuple(fates), least, lost, whole, True)


def sample_draws(fates: Mapping[str, Fate], drawn: Sequence[Mapping[str, Fate]]) -> Sample:
    """A row for each draw; the figure is that of the jobs as they were."""
    least = np.array([[fate.yields.min() for fate in each.values()] for each in drawn])
    lost = np.array([[fate.lost.sum() for fate in each.values()] for each in drawn])
    own = {
        "min-yield": np.array([fate.yields.min() for fate in fates.values()]),
        "node-hours": -np.array([fate.lost.sum() for fate in fates.values()]),
    }
    return Sample(tuple(fates), least, lost, own, False)


def draws(scenario: Scenario, count: int) -> Iterable[Scenario]:
    """The scenario with its jobs drawn anew, each shifted at random."""
    rng = np.random.default_rng(_SEED)
    for _ in range(count):
        chosen = rng.integers(0, len(scenario.applications), len(scenario.applications))
        moved = rng.uniform(-0.5, 0.5, len(chosen))
        jobs = tuple(
            _shifted(scenario.applications[place], scenario, f"{number}", float(shift))
            for number, (place, shift) in enumerate(zip(chosen.tolist(), moved.tolist(), strict=True))
        )
        yield redrawn(scenario, jobs, [scenario.applications[place].name for place in chosen.tolist()])


def _shifted(job: Application, scenario: Scenario, name: str, shift: float) -> Application:
    begin, length = (scenario.window.begin if scenario.window else 0.0), _length(job, scenario)
    if scenario.window and job.release < begin:
        # Its phases are those left at the begin; it computes a little longer before they go on.
        waits = (shift + 0.5) * length / max(1, job.unrolled)
        return job.model_copy(update={"name": name, "phases": _later(job, waits)})
    latest = np.inf if scenario.window is None else begin + 0.99 * (scenario.window.end - begin)
    release = min(max(begin, job.release + shift * length), latest)
    return job.model_copy(update={"name": name, "release": release})


def _length(job: Application, scenario: Scenario) -> float:
    """Seconds of computing, at least: what a shift must be of the order of."""
    if isinstance(job.phases, Trace):
        return float(job.phases.amount[job.phases.kind == COMPUTE].sum())
    whole = Trace.of(job.phases)
    if whole is not None:
        return float(whole.amount[whole.kind == COMPUTE].sum())
    return scenario.window.end - scenario.window.begin if scenario.window else 3600.0


def _later(job: Application, seconds: float) -> object:
    if isinstance(job.phases, Trace):
        return Trace(np.append(COMPUTE, job.phases.kind), np.append(seconds, job.phases.amount))
    return (Compute(compute=seconds), *job.phases)


def _least(yields: Floats, days: DayBlocks) -> Floats:
    found = np.full(days.count, np.inf)
    np.minimum.at(found, days.of, yields)
    return np.where(np.isinf(found), np.nan, found)


def _added(lost: Floats, days: DayBlocks) -> Floats:
    """Node-hours per day; a day without jobs counts for nothing."""
    jobs = np.bincount(days.of, minlength=days.count)
    found: Floats = np.bincount(days.of, lost, days.count) / days.length
    return np.where(jobs > 0, found, np.nan)


def _means(values: Floats) -> Floats:
    means: Floats = np.nanmean(values, axis=0)
    return means
