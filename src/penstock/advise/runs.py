"""Runs that advice rests on: many scenarios under many policies, and how each job fared in each of them."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from penstock.campaign.executor import Executor, LostUnit
from penstock.campaign.perform import RunRow, words
from penstock.campaign.plan import CampaignPlan
from penstock.campaign.source import Source
from penstock.campaign.tasks.simulate import SimulateOptions
from penstock.campaign.units import MOST_RUNS, PlannedRun, Unit
from penstock.engine.program import Program
from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.metrics.losses import HOUR
from penstock.metrics.result import Result
from penstock.model import Scenario
from penstock.model.plan import AS_PLANNED
from penstock.policies.sharing import Sharing, find
from penstock.studies.share import AnyStudy, run_study, study_of

__all__ = ["AS_PLANNED", "Fate", "Given", "RunRequest", "fate_of", "fates", "perform", "policy_named"]

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Given(Source):
    """A scenario that is there already, so that no file need be read where it is run."""

    scenario: Scenario | None = None

    def make(self, seed: int) -> Scenario:
        """It."""
        assert self.scenario is not None
        return self.scenario


class Fate(NamedTuple):
    """A number for each job: its yield, the node-hours it lost, and how long it took."""

    yields: Floats
    lost: Floats
    seconds: Floats


class RunRequest(NamedTuple):
    """One scenario and the policies to run it under."""

    scenario: Scenario
    policies: tuple[str, ...]


def fates(asked: Sequence[RunRequest], place: Executor, progress: Progress | None = None) -> list[dict[str, Fate]]:
    """For each scenario, by policy, how its jobs fared."""
    found: list[dict[str, Fate]] = [{} for _ in asked]
    total, done = sum(len(each.policies) for each in asked), 0
    with closing(place.map(perform, _units(asked))) as outcomes:  # type: ignore[type-var]
        for unit, outcome in outcomes:
            if isinstance(outcome, LostUnit):
                raise PolicyError(f"a run came to nothing: {outcome.reason}")
            for run, row in zip(unit.runs, outcome, strict=True):
                found[unit.seed][run.plan.label] = _fate(run, row)
            done += len(outcome)
            if progress is not None:
                progress(done, total)
    return found


def policy_named(name: str) -> Sharing | None:
    """A sharing policy; None for what the plan of a scenario says."""
    return None if name == AS_PLANNED else find(name)


def perform(unit: Unit) -> list[RunRow]:
    """What a worker does."""
    with contextlib.redirect_stdout(sys.stderr):
        study = study_of(unit.source.make(unit.seed), bounds=False)
        return [_row(study, run) for run in unit.runs]


def fate_of(program: Program, result: Result) -> Fate:
    """How the jobs of a run fared."""
    stopped = np.array([_stopped(each.completion, each.cut, result.end) for each in result.applications])
    yields = np.array([each.yield_ for each in result.applications])
    cut = np.array([each.cut for each in result.applications])
    age = np.where(cut, program.walltime, stopped - program.release) if cut.any() else stopped - program.release
    seconds = age - (program.start - program.release)
    progress = np.where(cut, 0.0, yields * age - program.progress)
    return Fate(yields, program.nodes * (seconds - progress) / HOUR, age)


def _stopped(completion: float | None, cut: bool, end: float) -> float:
    return end if completion is None or cut else completion


def _units(asked: Sequence[RunRequest]) -> Iterator[Unit]:
    for number, each in enumerate(asked):
        source = Given("advice", None, {}, None, None, each.scenario)
        plans = [CampaignPlan(name, "simulate", SimulateOptions(sharing=name, bounds=False)) for name in each.policies]
        runs = [PlannedRun(f"{number} {plan.label}", plan, plan.identity) for plan in plans]
        for first in range(0, len(runs), MOST_RUNS):
            yield Unit(source, number, tuple(runs[first : first + MOST_RUNS]), ())


def _row(study: AnyStudy, run: PlannedRun) -> RunRow:
    begun = time.perf_counter()
    try:
        result = run_study(study, policy_named(run.plan.label))
        fate = fate_of(study.program, result)
    except Exception as failure:
        return RunRow(run.key, {}, None, time.perf_counter() - begun, error=words(failure))
    values = {name: column.tolist() for name, column in fate._asdict().items()}
    return RunRow(run.key, values, result.seconds, time.perf_counter() - begun)


def _fate(run: PlannedRun, row: RunRow) -> Fate:
    if row.error is not None:
        raise PolicyError(f"{run.plan.label}: {row.error}")
    return Fate._make(np.array(row.metrics[name], dtype=float) for name in Fate._fields)
