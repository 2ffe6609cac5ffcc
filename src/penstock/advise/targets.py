"""Advice: how many targets for whom? Ways to give them out, compared day by day like sharing policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.advise.estimate import DayBlocks
from penstock.advise.machine import machine_fate
from penstock.advise.policies import TieGroup, answer
from penstock.advise.runs import Fate
from penstock.advise.sample import Goal, read_both_ways, sample_days
from penstock.metrics.losses import HOUR
from penstock.model import Plan, Scenario
from penstock.studies.plans import plan_of_allotment
from penstock.studies.targets import allocate
from penstock.studies.targets.result import Allotment, Striped

PLACEMENT = "greedy-clairvoyant"
IN_USE = "static"
ALLOCATIONS = (IN_USE, "nsys", "best-bandwidth", "tcpu", "mckp")


@dataclass(frozen=True)
class TargetsAnswer:
    """The group of allocations, and the counts that the first of them gives."""

    policies: TieGroup
    counts: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {**self.policies.to_dict(), "placement": PLACEMENT, "counts": self.counts}


def missing(scenario: Scenario) -> str | None:
    """Why targets cannot be compared, if they cannot."""
    without = sum(each.profile is None for each in scenario.applications)
    if without == len(scenario.applications):
        return "no application was seen on several stripe counts, so nobody knows what more targets would give"
    if scenario.platform.targets is None:
        return "the number of storage targets is not stated (platform.targets of a scenario)"
    if without:
        return f"{without:,} of {len(scenario.applications):,} applications have no profile"
    return None


def targets_answer(
    readings: Sequence[Scenario],
    days: DayBlocks,
    goal: Goal | None,
    nodes_known: bool,
    overloaded: bool,
    sharing: str,
) -> TargetsAnswer:
    """Which allocation, against what a site has by default: counts by the nodes of a job.

    A scenario with a plan is run as a whole machine, with `sharing` on every resource.
    """
    runs = [{name: _allotted(each, name) for name in ALLOCATIONS} for each in readings]
    samples = [
        sample_days({name: _fate(run, scenario, sharing) for name, run in own.items()}, days)
        for scenario, own in zip(readings, runs, strict=True)
    ]
    found = answer(read_both_ways(samples, overloaded), IN_USE, goal, nodes_known)
    chosen = found.of if found.verdict == "better" else IN_USE
    return TargetsAnswer(found, {each.name: each.count for each in runs[0][chosen].applications})


def _allotted(scenario: Scenario, name: str) -> Allotment:
    return allocate(scenario.model_copy(update={"plan": None}), name, PLACEMENT, interval="all")


def _fate(run: Allotment, scenario: Scenario, sharing: str) -> Fate:
    if scenario.plan is not None:
        placed = Plan(placement=plan_of_allotment(run).placement)
        return machine_fate(scenario, placed, sharing)
    rows = run.applications
    yields = np.array([1.0 if each.yield_ is None else each.yield_ for each in rows])
    seconds = np.array([_seconds(each, run) for each in rows])
    nodes = np.array([float(each.nodes) for each in rows])
    return Fate(yields, nodes * seconds * (1.0 - yields) / HOUR, seconds)


def _seconds(each: Striped, run: Allotment) -> float:
    return max(0.0, (run.interval if each.completion is None else each.completion) - each.start)
