"""A paper's figures against what is not set but comes out, as an I/O load: instances near each other are put together.

Everything here takes a matrix with a row for each instance and a column for each name, and for each row the key of the
bin it is in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from penstock.campaign.statistics import mean_intervals
from penstock.kernels.arrays import Floats
from penstock.reproduce.experiment import Summary
from penstock.reproduce.means import half_width


def by_bin(values: Floats, names: Sequence[str], bins: Sequence[str]) -> tuple[Summary, Summary]:
    """{name: {bin: mean}}, bins by rising number, and half the widths of the intervals in the same shape."""
    means: Summary = {name: {} for name in names}
    widths: Summary = {name: {} for name in names}
    for key in in_order(bins):
        rows = np.array([each == key for each in bins])
        for name, interval in zip(names, mean_intervals(values[rows]), strict=True):
            means[name][key] = interval.mean
            widths[name][key] = half_width(interval)
    return means, widths


def overall(values: Floats, names: Sequence[str]) -> tuple[Summary, Summary]:
    """{name: mean} of all instances, and half the widths."""
    intervals = mean_intervals(values)
    means = {name: each.mean for name, each in zip(names, intervals, strict=True)}
    return means, {name: half_width(each) for name, each in zip(names, intervals, strict=True)}


def counts(bins: Sequence[str]) -> dict[str, int]:
    """How many instances each bin has."""
    number = Counter(bins)
    return {key: number[key] for key in in_order(bins)}


def in_order(bins: Sequence[str]) -> list[str]:
    """Every bin once, by rising number.

    >>> in_order(["10", "0.5", "10", "2"])
    ['0.5', '2', '10']
    """
    return sorted(set(bins), key=float)
