"""From a campaign to its runs, and to units of work: a scenario with the plans that are still missing for it.

A unit makes its scenario once for all of its plans; where there are many of them, several workers share them. Units
come seed by seed through all workloads, so that what has been finished at any time is a fair sample of the whole, and
so is the time it took.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from penstock.campaign.canonical import digest
from penstock.campaign.document import Campaign
from penstock.campaign.plan import CampaignPlan
from penstock.campaign.source import Source

MOST_RUNS = 16  # of a unit: enough for the making of a scenario to count for little


class PlannedRun(NamedTuple):
    """A plan to be carried out, the key of its result, and what the plan was for this key: its files may change."""

    key: str
    plan: CampaignPlan
    identity: str


@dataclass(frozen=True)
class Unit:
    """A scenario, and what to do with it."""

    source: Source
    seed: int
    runs: tuple[PlannedRun, ...]
    keep: tuple[str, ...]  # lists of a number per application that are kept


class Keys:
    """The keys of a campaign's runs: hashes of source, seed, plan and what is kept."""

    def __init__(self, campaign: Campaign) -> None:
        self._plans = [(plan, plan.identity) for plan in campaign.plans]
        self._sources = {id(source): source.identity for workload in campaign.workloads for source in workload.sources}
        self._keep = ",".join(sorted(campaign.keep))

    def runs(self, source: Source, seed: int) -> Iterator[PlannedRun]:
        """Every plan with the key that its run on this scenario has."""
        made = self._sources[id(source)]
        for plan, identity in self._plans:
            yield PlannedRun(digest(made, str(seed), identity, self._keep), plan, identity)


class AskedRun(NamedTuple):
    """One run that a campaign asks for."""

    source: Source
    seed: int
    run: PlannedRun


def asked(campaign: Campaign, keys: Keys) -> Iterator[AskedRun]:
    """All runs, in the order in which results are listed."""
    for workload in campaign.workloads:
        for source in workload.sources:
            for seed in workload.seeds:
                for run in keys.runs(source, seed):
                    yield AskedRun(source, seed, run)


def units(campaign: Campaign, keys: Keys, done: Collection[str]) -> Iterator[Unit]:
    """What is left to do, in the order in which it is done. A run that two workloads ask for is done once."""
    begun: set[str] = set()
    for place in range(max(len(workload.seeds) for workload in campaign.workloads)):
        for workload in campaign.workloads:
            if place < len(workload.seeds):
                seed = workload.seeds[place]
                for source in workload.sources:
                    left = [run for run in keys.runs(source, seed) if run.key not in done and run.key not in begun]
                    begun.update(run.key for run in left)
                    for first in range(0, len(left), MOST_RUNS):
                        yield Unit(source, seed, tuple(left[first : first + MOST_RUNS]), campaign.keep)
