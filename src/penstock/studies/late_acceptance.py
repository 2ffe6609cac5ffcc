"""When a study's local search takes a step, or starts again from its best: late acceptance (Burke & Bykov 2017).

A step is taken if it is no worse than where the search stands, or than where it stood some steps ago. So it climbs over
small ridges. When nothing better has been found for a while, it goes on from the best with a few changes taken blindly.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

_MEMORY = 20  # steps that it looks back
BLIND = 3  # changes that are taken as they come after a new start


class Verdict(NamedTuple):
    """What becomes of a step."""

    taken: bool
    better: bool  # than all before
    stuck: bool  # nothing better for so long that it is time to start again from the best


class LateAcceptance:
    """The values of a search so far, the lower the better; `patience` steps without a better one, and it is stuck."""

    def __init__(self, value: float) -> None:
        self.value = self.best = value
        self.steps = 0
        self._earlier = [value] * _MEMORY
        self._since_better = 0

    def judge(self, value: float, patience: int) -> Verdict:
        """Judge the value of one more step."""
        slot = self.steps % _MEMORY
        self.steps += 1
        taken = value <= max(self.value, self._earlier[slot])
        if taken:
            self.value = value
        self._earlier[slot] = min(self._earlier[slot], self.value)
        self._since_better += 1
        better = value < self.best
        if better:
            self.best, self._since_better = value, 0
        return Verdict(taken, better, not better and self._since_better > patience)

    def start_again(self) -> None:
        """From the best, or near it: whatever comes next is taken."""
        self.value, self._since_better = inf, 0
        self._earlier = [inf] * _MEMORY
