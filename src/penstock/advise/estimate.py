"""How sure advice is: a mean that was taken over days, by Student's t, and days as blocks.

Jobs of one day meet each other, so they are no sample; days nearly are. With seven of them t covers 91 % where a
percentile bootstrap, which takes the few days for all there are, covers 81 to 84 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats, Ints

DAY = 86_400.0
LEVEL = 0.95
ENOUGH = 5  # days to see whether neighbours are alike
MOST_ALIKE = 0.6
FEWEST = 3  # days that say something about other days


class Estimate(NamedTuple):
    """A figure and its 95 % interval; NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def sign(self) -> int:
        """1: above 0 by more than the noise, -1: below it, 0: nobody can tell."""
        return int(self.low > 0.0) - int(self.high < 0.0)

    def to_dict(self) -> dict[str, float | None]:
        """The JSON form."""
        return {name: None if math.isnan(value) else value for name, value in self._asdict().items()}


@dataclass(frozen=True)
class DayBlocks:
    """Blocks of about a day. `of` has the block of each application, `length` is in days."""

    of: Ints
    count: int
    length: float

    @property
    def enough(self) -> bool:
        """Whether there are days to compare."""
        return self.count >= FEWEST


def days_of(starts: Floats, span: float | None = None) -> DayBlocks:
    """Applications by the day they started on; all days are equally long. What is no longer than a day is one block.

    >>> days_of(np.array([0.0, 90_000.0, 250_000.0])).of.tolist()
    [0, 1, 2]
    """
    first = float(starts.min())
    length = float(starts.max()) - first if span is None else span
    count = max(1, round(length / DAY))
    block = np.floor((starts - first) / max(length, 1e-9) * count).astype(np.int64)
    return DayBlocks(np.clip(block, 0, count - 1), count, length / count / DAY if count > 1 else 1.0)


def student(values: Floats) -> Estimate:
    """The mean of days and its interval; days without a value do not count."""
    there = values[~np.isnan(values)]
    if not there.size:
        return Estimate(math.nan)
    mean = float(there.mean())
    if there.size < 2:
        return Estimate(mean)
    half = _alike(there) * t_quantile(there.size - 1) * float(there.std(ddof=1)) / math.sqrt(there.size)
    return Estimate(mean, mean - half, mean + half)


def _alike(days: Floats) -> float:
    """How much wider an interval is because a day resembles the one before it; of few days nobody can tell.

    The correlation of neighbours r makes n days worth n·(1 − r)/(1 + r); estimated from n of them it is 1/n too low.
    """
    apart = days - days.mean()
    varies = float(apart @ apart)
    if days.size < ENOUGH or varies == 0.0:
        return 1.0
    r = min(max(float(apart[1:] @ apart[:-1]) / varies + 1.0 / days.size, 0.0), MOST_ALIKE)
    return math.sqrt((1.0 + r) / (1.0 - r))


def percentiles(values: Floats, figure: float) -> Estimate:
    """The figure of the data, and where 95 % of those of resampled data lie; the figure is always inside."""
    there = values[~np.isnan(values)]
    if there.size < 2:
        return Estimate(figure)
    low, high = np.quantile(there, [(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0])
    return Estimate(figure, min(float(low), figure), max(float(high), figure))


@cache
def t_quantile(freedom: int, level: float = LEVEL) -> float:
    """|T| is below it with that probability.

    With t = √f·tan θ the density of θ is proportional to cos^(f−1) θ, which is easy to add up.

    >>> round(t_quantile(6), 3)
    2.447
    """
    angle = np.linspace(0.0, math.pi / 2.0, 200_001)
    density = np.cos(angle) ** (freedom - 1)
    reached = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    return math.sqrt(freedom) * math.tan(float(np.interp(level * reached[-1], reached, angle)))
