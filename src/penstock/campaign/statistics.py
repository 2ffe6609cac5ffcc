"""How sure a mean of a campaign is, by the bootstrap (Efron 1979): means of samples drawn anew from the sample itself.

The interval is that of the percentiles. All columns of a matrix are resampled alike, and by the same draw every time,
so that what is paired stays paired and a table never changes by itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.arrays import Floats

RESAMPLES = 10_000
LEVEL = 0.95
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NO_DIFFERENCE = 1e-9  # relative: no difference
_BLOCK = 1_000_000  # numbers at a time
_SEED = 20_260_101


class Interval(NamedTuple):
    """A mean and its interval; without one, of a single value, both ends are NaN."""

    mean: float
    low: float
    high: float


class PairCounts(NamedTuple):
    """In how many pairs the one was better than the other, as good, or worse."""

    wins: int
    ties: int
    losses: int


def mean_intervals(values: Floats, resamples: int = RESAMPLES, level: float = LEVEL) -> list[Interval]:
    """For each column its mean and interval; NaN counts as not there.

    >>> mean_intervals(np.array([[1.0], [1.0]]))
    [Interval(mean=1.0, low=1.0, high=1.0)]
    """
    found: list[Interval] = [Interval(np.nan, np.nan, np.nan)] * values.shape[1]
    there = ~np.isnan(values)
    patterns, which = np.unique(there, axis=1, return_inverse=True)
    for number, rows in enumerate(patterns.T):
        columns = np.flatnonzero(which.ravel() == number)
        if rows.any():
            for column, interval in zip(columns, _intervals(values[rows][:, columns], resamples, level), strict=True):
                found[column] = interval
    return found


def means_by(values: Floats, labels: NDArray[Any]) -> Floats:
    """The mean of the rows that have a label, a row for each; NaN counts as not there.

    >>> means_by(np.array([[1.0], [3.0], [np.nan]]), np.array([7, 7, 8])).tolist()
    [[2.0], [nan]]
    """
    _, which = np.unique(labels, return_inverse=True)
    there = ~np.isnan(values)
    count, total = np.zeros((2, which.max(initial=-1) + 1, values.shape[1]))
    np.add.at(count, which, there)
    np.add.at(total, which, np.where(there, values, 0.0))
    with np.errstate(invalid="ignore"):
        return np.array(total / count)


def tally(values: Floats, reference: Floats, best: int) -> PairCounts:
    """Pair by pair, with more being better if `best` is 1 or 0, and less if it is -1."""
    pairs = ~(np.isnan(values) | np.isnan(reference))
    one, other = values[pairs], reference[pairs]
    tied = np.abs(one - other) <= NO_DIFFERENCE * np.maximum(np.abs(one), np.abs(other))
    better = ((one < other) if best < 0 else (one > other)) & ~tied
    return PairCounts(int(better.sum()), int(tied.sum()), int((~better & ~tied).sum()))


def quantiles(values: Floats) -> dict[float, float]:
    """The quantiles that tables show; NaN counts as not there."""
    there = values[~np.isnan(values)]
    if not there.size:
        return dict.fromkeys(QUANTILES, np.nan)
    return dict(zip(QUANTILES, np.quantile(there, QUANTILES).tolist(), strict=True))


def _intervals(values: Floats, resamples: int, level: float) -> list[Interval]:
    # About their means, so that equal values give an interval without rounding noise.
    mean = values.mean(axis=0)
    if len(values) < 2:
        return [Interval(float(each), np.nan, np.nan) for each in mean]
    drawn = mean + _resampled_means(values - mean, resamples)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [Interval(*map(float, each)) for each in zip(mean, low, high, strict=True)]


def _resampled_means(values: Floats, resamples: int) -> Floats:
    """One row for each sample drawn anew. How often each value was drawn, times the values, is a matrix product."""
    draw, count = np.random.default_rng(_SEED), len(values)
    means = np.empty((resamples, values.shape[1]))
    step = max(1, _BLOCK // count)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        chosen = draw.integers(0, count, size=(rows, count)) + count * np.arange(rows)[:, None]
        often = np.bincount(chosen.ravel(), minlength=rows * count).reshape(rows, count)
        means[start : start + rows] = often @ values
    return means / count
