"""Paired tests of a campaign's plans, without a model of the noise: Wilcoxon's signed ranks, Holm's correction.

The p-value is exact for up to 50 pairs, ties among the differences included: if plans do not differ, either sign of
every difference is as likely as the other, and the distribution of the sum of ranks follows by counting. Beyond that it
is the normal one, with the usual correction for ties.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from penstock.kernels.arrays import Floats

MOST_EXACT = 50


def signed_ranks(differences: Floats, nothing: float = 0.0) -> float:
    """The two-sided p-value of Wilcoxon's test; NaN and differences of at most `nothing` are left out, 1 if all are.

    >>> signed_ranks(np.array([0.4, 0.1, 0.3, 0.2, 0.5]))
    0.0625
    """
    there = differences[np.abs(differences) > nothing]
    if not there.size:
        return 1.0
    twice = _twice_the_ranks(np.abs(there))
    above = int(twice[there > 0.0].sum())
    lesser = min(above, int(twice.sum()) - above)
    return _exact(twice, lesser) if there.size <= MOST_EXACT else _normal(twice, lesser)


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for their number (Holm 1979): with them, a wrong claim among all is as rare as with one test.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, highest = [0.0] * len(values), 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(1.0, (len(values) - place) * values[index]))
        corrected[index] = highest
    return corrected


def mean_ranks(values: Floats, best: int) -> Floats:
    """In each row the ranks of its columns, the best 1; equal values share the mean of theirs.

    `best` is 1 if more is better, -1 if less. Nine digits count: what is beyond them is rounding.

    >>> mean_ranks(np.array([[0.3, 0.1, 0.1 + 0.2]]), 1).tolist()
    [[1.5, 3.0, 1.5]]
    """
    with np.errstate(divide="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 9.0)
    rounded = np.where(values == 0.0, 0.0, np.round(values / np.where(values == 0.0, 1.0, unit)) * unit)
    return np.array([_twice_the_ranks(-best * row) / 2.0 for row in rounded]).reshape(values.shape)


def _twice_the_ranks(values: Floats) -> Floats:
    """Twice the ranks, so that the mean of two neighbours is a whole number, too."""
    _, which, often = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(often)
    return np.array((2 * last - often + 1)[which.ravel()], np.float64)


def _exact(twice: Floats, lesser: int) -> float:
    """How likely the lesser sum is at most that, on either side."""
    ways = np.zeros(int(twice.sum()) + 1)
    ways[0] = 1.0
    for rank in twice.astype(np.int64):
        ways[rank:] += ways[:-rank].copy()
    return min(1.0, 2.0 * float(ways[: lesser + 1].sum()) / 2.0**twice.size)


def _normal(twice: Floats, lesser: int) -> float:
    """The same for many: the sum of n signed ranks is nearly normal, with the variance of the ranks that are there."""
    ranks = twice / 2.0
    deviation = (lesser / 2.0 - ranks.sum() / 2.0) / math.sqrt(float((ranks**2).sum()) / 4.0)
    return min(1.0, math.erfc(abs(deviation) / math.sqrt(2.0)))
