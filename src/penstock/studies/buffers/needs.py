"""A study of burst buffers: how large one must be for strategies that do not know the schedule of the smallest.

The smallest of S, 1.01·S, 1.01²·S … up to all bytes that ever move, with which nobody takes more than a hundredth
longer. More buffer nearly always helps, so this is found by bisection, and what it met on its way is checked: if some
larger buffer was not enough where a smaller one was, that is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from penstock.model import Scenario
from penstock.studies.buffers.execution import buffer
from penstock.studies.buffers.split import Split
from penstock.studies.sizing import Sizing

WITHOUT_PLAN = ("fair", "blocked-first", "earliest-burst")
STEP = 1.01
ENOUGH = 1.01  # the largest stretch
_ROUNDING = 1e-9
Progress = Callable[[str, float], None]  # what, and how much of all is done


class Need(NamedTuple):
    """The smallest buffer with which a strategy holds nobody up for long; None: not even room for all bytes does."""

    strategy: str
    size: float | None
    max_stretch: float | None  # with that size
    monotone: bool  # whether more was never worse among the sizes tried, so that none below is enough


def needs_of(
    scenario: Scenario,
    sizing: Sizing,
    strategies: Iterable[str] = WITHOUT_PLAN,
    *,
    progress: Progress | None = None,
) -> list[Need]:
    """What each strategy needs, for the partition and the lead of a smallest buffer that exists."""
    common = 1.0 if sizing.partition == "dynamic" else 0.0
    split = Split(scenario, sizing, common, sizing.lead)
    names = list(strategies)
    found = []
    for place, name in enumerate(names):
        if progress:
            progress(f"what {name} needs", place / len(names))
        found.append(_need(scenario, split, name))
    return found


def _need(scenario: Scenario, split: Split, strategy: str) -> Need:
    """Doubling steps up to the first size that is enough, then bisection back."""
    volume = float(split.traffic.volume.sum())
    most = math.floor(math.log(volume / split.size) / math.log(STEP) + _ROUNDING) if split.size > 0.0 else 0
    tried: dict[int, float] = {}

    def enough(step: int) -> bool:
        if step not in tried:
            tried[step] = buffer(scenario, split.size * STEP**step, split=split, strategy=strategy).max_stretch
        return tried[step] <= ENOUGH * (1.0 + _ROUNDING)

    low, high = -1, 0
    while not enough(high):
        if high == most:
            return Need(strategy, None, None, not any(map(enough, list(tried))))
        low, high = high, min(most, 2 * high + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    monotone = all(enough(step) == (step >= high) for step in list(tried))
    return Need(strategy, split.size * STEP**high, tried[high], monotone)
