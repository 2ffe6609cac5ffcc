"""What a campaign says: per group of workloads and plan, a mean with its interval, paired with a reference plan.

Runs of two plans are paired if they had the same workload, settings and seed. What settings are averaged over is
averaged for each seed first: settings were chosen, only seeds are a sample, and runs that share one are alike. A
difference whose interval holds 0 is a tie: it is smaller than its noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.campaign.statistics import Interval, PairCounts, mean_intervals, means_by, quantiles, tally
from penstock.campaign.tasks import Metric
from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.model.problems import near

if TYPE_CHECKING:
    from penstock.campaign.results import Results  # needs pyarrow, which a summary of other runs does without
    from penstock.kernels.arrays import Ints  # needs pyarrow, which a summary of other runs does without

BETTER, WORSE, TIE = "better", "worse", "tie"
DIFFERENT = "different"  # in a metric of which neither more nor less is better
WORKLOAD = "workload"


@dataclass(frozen=True)
class Against:
    """A plan paired with the reference plan."""

    plan: str
    pairs: int
    difference: Interval
    ratio: Interval  # of each pair, then the mean
    tally: PairCounts
    verdict: str | None  # None: one pair says nothing


@dataclass(frozen=True)
class Entry:
    """One metric of one plan in one group of workloads."""

    metric: str
    group: dict[str, Any]  # what the workloads of the group have in common, by name
    plan: str
    reference: str  # the plan that it is compared with; maybe itself
    runs: int  # that have the metric
    missing: int
    failed: int
    mean: Interval
    quantiles: dict[float, float]
    of_bound: Interval | None  # the metric over what it cannot pass
    against: Against | None  # None for the reference itself

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: flat, so that it is a row of a table as well."""
        flat: dict[str, Any] = {"metric": self.metric, **self.group, "plan": self.plan, "runs": self.runs}
        flat |= {"missing": self.missing, "failed": self.failed, **self.mean._asdict()}
        flat |= {f"q{round(100 * part):02d}": value for part, value in self.quantiles.items()}
        flat |= _named("of_bound", self.of_bound)
        versus = self.against
        flat |= {"against": versus and versus.plan, "pairs": versus and versus.pairs}
        flat |= _named("difference", versus.difference if versus else None)
        flat |= _named("ratio", versus.ratio if versus else None)
        counts = versus.tally if versus else (None, None, None)
        flat |= dict(zip(PairCounts._fields, counts, strict=True))
        return flat | {"verdict": versus and versus.verdict}


def _named(name: str, interval: Interval | None) -> dict[str, float | None]:
    mean, low, high = interval or (None, None, None)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}


def summarise(
    results: Results,
    metrics: Sequence[str] | None = None,
    against: str | Sequence[str] | None = None,
    by: Sequence[str] | None = None,
) -> list[Entry]:
    """Every metric of every plan in every group, once for each plan to compare with.

    `metrics` are those of the campaign unless given, `against` is its first plan, and `by` all that its workloads
    differ in; what is left out of `by` is averaged over.
    """
    chosen = [results.metric(name) for name in metrics or results.metrics]
    references = [against] if isinstance(against, str) else against or results.plans[:1]
    names = results.varying if by is None else tuple(by)
    for name in names:
        if name != WORKLOAD and not any(name in point for point in results.points):
            known = dict.fromkeys(key for point in results.points for key in point)
            raise InvalidOption(
                f"the campaign has no setting {name!r}{near(name, known) or ';'} known: {', '.join(known)}"
            )
    grids = [_Grid(results, plan_place(results, reference)) for reference in dict.fromkeys(references)]
    entries = [
        entry
        for grid in grids
        for group, rows in _groups(results, names, grid)
        for entry in grid.entries(chosen, group, rows)
    ]
    order = {metric.name: place for place, metric in enumerate(chosen)}
    return sorted(entries, key=lambda entry: order[entry.metric])


def plan_place(results: Results, plan: str) -> int:
    """The place of a plan among the campaign's; an unknown one is refused."""
    if plan not in results.plans:
        hint = near(plan, results.plans) or ";"
        raise InvalidOption(f"the campaign has no plan {plan!r}{hint} known: {', '.join(results.plans)}")
    return results.plans.index(plan)


def _groups(results: Results, names: Sequence[str], grid: _Grid) -> Iterator[tuple[dict[str, Any], Ints]]:
    """Each group, and the scenarios in it."""
    groups: dict[str, tuple[dict[str, Any], list[int]]] = {}
    for place, point in enumerate(results.points):
        group = {name: point.get(name) for name in names}
        groups.setdefault(repr(group), (group, []))[1].append(place)
    for group, points in groups.values():
        yield group, np.flatnonzero(np.isin(grid.point, points))


class _Grid:
    """Runs as matrices: a row for each scenario, that is point and seed, and a column for each plan."""

    def __init__(self, results: Results, reference: int) -> None:
        self.results, self.reference = results, reference
        self.point: Ints = results.scenarios[:, 0]
        self.seed: Ints = results.scenarios[:, 1]
        self._there = results.spread(results.ended.astype(np.float64))
        self._failed = results.spread(results.failed.astype(np.float64))

    def entries(self, metrics: Sequence[Metric], group: dict[str, Any], rows: Ints) -> Iterator[Entry]:
        """Everything about one group; all of its intervals come from one resampling."""
        found = [self._numbers(metric, rows) for metric in metrics]
        columns = np.concatenate([part for parts in found for part in parts], axis=1)
        intervals = iter(mean_intervals(means_by(columns, self.seed[rows])))
        for metric, parts in zip(metrics, found, strict=True):
            value, difference, ratio, of_bound = ([next(intervals) for _ in self.results.plans] for _ in parts)
            for place, plan in enumerate(self.results.plans):
                column = parts[0][:, place]
                yield Entry(
                    metric.name,
                    group,
                    plan,
                    self.results.plans[self.reference],
                    int((~np.isnan(column)).sum()),
                    int((self._there[rows, place] == 0.0).sum()),
                    int((self._failed[rows, place] == 1.0).sum()),
                    value[place],
                    quantiles(column),
                    of_bound[place] if metric.bounds else None,
                    None
                    if place == self.reference
                    else self._against(metric, parts[0], place, difference[place], ratio[place]),
                )

    def _numbers(self, metric: Metric, rows: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Values, differences and ratios to the reference plan, and ratios to the bound."""
        values = self.results.matrix(metric.name)[rows]
        reference = values[:, [self.reference]]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio, of_bound = values / reference, values / self._bound(metric, rows)
        for quotient in (ratio, of_bound):
            quotient[~np.isfinite(quotient)] = np.nan
        return values, values - reference, ratio, of_bound

    def _bound(self, metric: Metric, rows: Ints) -> Floats:
        bounds = [self.results.matrix(name)[rows] for name in metric.bounds]
        if not bounds:
            return np.full((rows.size, len(self.results.plans)), np.nan)
        tightest: Floats = (np.fmin if metric.best > 0 else np.fmax).reduce(bounds)
        return tightest

    def _against(self, metric: Metric, values: Floats, place: int, difference: Interval, ratio: Interval) -> Against:
        reference = values[:, self.reference]
        counts = tally(values[:, place], reference, metric.best)
        return Against(
            self.results.plans[self.reference], sum(counts), difference, ratio, counts, verdict(difference, metric.best)
        )


def verdict(difference: Interval, best: int) -> str | None:
    """What a difference says: nothing if its interval holds 0."""
    if math.isnan(difference.low):
        return None
    if difference.low <= 0.0 <= difference.high:
        return TIE
    if best == 0:
        return DIFFERENT
    return BETTER if (difference.mean > 0.0) == (best > 0) else WORSE
