"""Variants of a scenario under several policies, run like a campaign: each a draw of its noise, the same for everyone.

Policies are found, and compiled, once, before the workers are forked, and so they need no name: one may be a function
that somebody has just written.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from statistics import mean

import numpy as np

from penstock.campaign.executor import Executor, LostUnit
from penstock.campaign.perform import RunRow, words
from penstock.campaign.plan import CampaignPlan
from penstock.campaign.source import Source
from penstock.campaign.tasks import Metric
from penstock.campaign.tasks.simulate import SimulateOptions
from penstock.campaign.units import MOST_RUNS, PlannedRun, Unit
from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.metrics.result import Result
from penstock.model import Scenario
from penstock.policies.sharing.policy import Sharing
from penstock.studies.share import AnyStudy, run_study, study_of

LEAST_YIELD = 1e-6  # what no progress at all counts as
# Of those that do not finish, the stretch so far: what held them back must not go unseen. Of the others it is the same.
SO_FAR: dict[str, Callable[[list[float]], float]] = {"max_stretch": max, "mean_stretch": mean}


def run_variants(
    scenario: Scenario,
    policies: Sequence[Sharing],
    metric: Metric,
    seeds: range,
    place: Executor,
    progress: Callable[[int, int], None] | None = None,
) -> Floats:
    """The metric on every variant: a row for each seed, a column for each policy."""

    def perform(unit: Unit) -> list[RunRow]:
        variant = scenario.model_copy(update={"seed": unit.seed})
        with contextlib.redirect_stdout(sys.stderr):
            study = study_of(variant, bounds=False)
            return [_row(study, run, policies[int(run.key)], metric) for run in unit.runs]

    found, done = np.full((len(seeds), len(policies)), np.nan), 0
    with closing(place.map(perform, _units(policies, seeds, scenario.noise))) as outcomes:  # type: ignore[type-var]
        for unit, outcome in outcomes:
            if isinstance(outcome, LostUnit):
                raise PolicyError(f"the variant of seed {unit.seed} came to nothing: {outcome.reason}")
            for run, row in zip(unit.runs, outcome, strict=True):
                found[unit.seed - seeds.start, int(run.key)] = _value(unit, run, row, metric)
            done += len(outcome)
            if progress is not None:
                progress(done, found.size)
    return found


def _units(policies: Sequence[Sharing], seeds: range, noise: float) -> Iterator[Unit]:
    source = Source("variants", None, {}, None, noise)
    plans = [
        CampaignPlan(policy.label, "simulate", SimulateOptions(sharing=policy.label, bounds=False))
        for policy in policies
    ]
    runs = [PlannedRun(str(column), plan, plan.identity) for column, plan in enumerate(plans)]
    for seed in seeds:
        for first in range(0, len(runs), MOST_RUNS):
            yield Unit(source, seed, tuple(runs[first : first + MOST_RUNS]), ())


def _row(study: AnyStudy, run: PlannedRun, policy: Sharing, metric: Metric) -> RunRow:
    begun, values, error, seconds = time.perf_counter(), dict[str, float | None](), None, None
    try:
        result = run_study(study, policy)
        values, seconds = {metric.name: _taken(result, metric)}, result.seconds
    except SystemExit as leaving:
        error = f"the policy called exit({leaving.code!r}); it must return to its caller"
    except Exception as failure:
        error = words(failure)
    return RunRow(run.key, values, seconds, time.perf_counter() - begun, error=error)


def _value(unit: Unit, run: PlannedRun, row: RunRow, metric: Metric) -> float:
    if row.error is not None:
        raise PolicyError(f"{run.plan.label} on the variant of seed {unit.seed}: {row.error}")
    value = row.metrics[metric.name]
    assert isinstance(value, float)
    return value


def _taken(result: Result, metric: Metric) -> float:
    """The metric of one run, also where some applications do not finish."""
    if metric.name not in SO_FAR:
        return float(getattr(result, metric.name))
    return float(SO_FAR[metric.name]([1.0 / max(each.yield_, LEAST_YIELD) for each in result.applications]))
