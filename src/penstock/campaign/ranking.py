"""Which plan is best over all workloads of a campaign, and which plans cannot be told apart.

Plans are ranked on every scenario and ordered by their mean rank, so that a workload with large numbers counts no more
than another. Two plans are compared by the relative difference of their values on the same scenario, averaged over
settings for each seed first: only seeds are a sample. Wilcoxon's signed ranks over the seeds give a p-value for each
pair, and Holm's correction counts all pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.campaign.paired_tests import holm, mean_ranks, signed_ranks
from penstock.campaign.statistics import NO_DIFFERENCE, Interval, mean_intervals, means_by
from penstock.campaign.summary import BETTER, TIE, WORSE, plan_place
from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.model.tabular import Tabular

if TYPE_CHECKING:
    from penstock.campaign.results import Results

ALPHA = 0.05  # a corrected p-value below it tells two plans apart


@dataclass(frozen=True)
class PlanPair:
    """Two plans on the same scenarios: by how much the first is larger, as a share, and whether that is luck."""

    plan: str
    other: str
    difference: float
    p: float
    corrected: float

    @property
    def apart(self) -> bool:
        """Whether the difference is more than luck, all pairs considered."""
        return self.corrected < ALPHA


@dataclass(frozen=True)
class RankedPlan:
    """A plan's place among all."""

    place: int
    plan: str
    mean_rank: float
    best_in: int  # scenarios in which no other plan was better
    mean: Interval
    p: float | None  # corrected, against the first; None for the first itself, and with a single seed
    verdict: str | None  # against the first: worse, a tie, or better where ranks and sizes of differences disagree

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, a row of a table."""
        mean, low, high = self.mean
        return {**asdict(self), "mean": mean, "low": low, "high": high}


@dataclass(frozen=True)
class Ranking(Tabular):
    """All plans by mean rank in one metric, and all pairs of them."""

    metric: str
    best: int  # 1 if more is better, -1 if less
    scenarios: int  # on which all plans were run
    seeds: int
    plans: tuple[RankedPlan, ...]
    pairs: tuple[PlanPair, ...]

    @property
    def leaders(self) -> tuple[RankedPlan, ...]:
        """The first, and all that cannot be told from it."""
        return tuple(each for each in self.plans if each.verdict != WORSE)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each plan, the best first."""
        return [each.to_dict() for each in self.plans]

    def headline(self) -> str:
        """What was ranked, and on how much."""
        return f"{self.metric}: {len(self.plans)} plans on {self.scenarios:,} scenarios ({self.seeds:,} seeds)"

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        facts = {"metric": self.metric, "scenarios": self.scenarios, "seeds": self.seeds, "alpha": ALPHA}
        return facts | {"rows": self.rows(), "pairs": [asdict(pair) | {"apart": pair.apart} for pair in self.pairs]}


def rank_plans(results: Results, metric: str | None = None, plans: Sequence[str] | None = None) -> Ranking:
    """The plans of a campaign in one metric (its first unless given), on the scenarios where all of them have it."""
    known = results.metric(metric or results.metrics[0])
    if known.best == 0:
        raise InvalidOption(
            f"neither more nor less {known.name} is better, so plans have no rank in it; choose another"
        )
    names = list(plans or results.plans)
    values = results.matrix(known.name)[:, [plan_place(results, plan) for plan in names]]
    whole = ~np.isnan(values).any(axis=1)
    values, seeds = values[whole], results.scenarios[whole, 1]
    if len(names) < 2 or not values.size:
        raise InvalidOption("a ranking needs two plans, and a scenario on which all of them were run")
    pairs = _pairs(values, seeds, names) if np.unique(seeds).size > 1 else ()
    return Ranking(
        known.name,
        known.best,
        len(values),
        int(np.unique(seeds).size),
        _ranked(values, seeds, names, known.best, pairs),
        pairs,
    )


def _pairs(values: Floats, seeds: Any, names: Sequence[str]) -> tuple[PlanPair, ...]:
    found = []
    for one, other in combinations(range(len(names)), 2):
        size = (np.abs(values[:, one]) + np.abs(values[:, other])) / 2.0
        with np.errstate(invalid="ignore"):
            relative = np.where(size > 0.0, (values[:, one] - values[:, other]) / size, 0.0)
        found.append((one, other, means_by(relative[:, None], seeds)[:, 0]))
    values_of_p = [signed_ranks(differences, NO_DIFFERENCE) for _, _, differences in found]
    return tuple(
        PlanPair(names[one], names[other], float(differences.mean()), p, corrected)
        for (one, other, differences), p, corrected in zip(found, values_of_p, holm(values_of_p), strict=True)
    )


def _ranked(
    values: Floats, seeds: Any, names: Sequence[str], best: int, pairs: Sequence[PlanPair]
) -> tuple[RankedPlan, ...]:
    ranks = means_by(mean_ranks(values, best), seeds).mean(axis=0)
    means = mean_intervals(means_by(values, seeds))
    top = (best * values).max(axis=1, keepdims=True)
    leading = (best * values >= top - NO_DIFFERENCE * np.abs(top)).sum(axis=0)
    order = np.argsort(ranks, kind="stable").tolist()
    first = names[order[0]]
    by_names = {frozenset((pair.plan, pair.other)): pair for pair in pairs}
    found = []
    for place, number in enumerate(order):
        pair = by_names.get(frozenset((first, names[number])))
        p = None if pair is None else pair.corrected
        said = None if pair is None else _verdict(pair, names[number], best)
        found.append(
            RankedPlan(place + 1, names[number], float(ranks[number]), int(leading[number]), means[number], p, said)
        )
    return tuple(found)


def _verdict(pair: PlanPair, plan: str, best: int) -> str:
    """How a plan of a pair does against the other."""
    if not pair.apart:
        return TIE
    larger = pair.difference > 0.0 if plan == pair.plan else pair.difference < 0.0
    return BETTER if larger == (best > 0) else WORSE
