"""True time, and the clocks that nodes have instead: each runs a little fast or slow and was started at any time."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True)
class Clock:
    """Shows `offset + speed · true time`."""

    speed: float = 1.0
    offset: float = 0.0

    def read(self, true: float) -> float:
        """What it shows then."""
        return self.offset + self.speed * true

    def when(self, shown: float) -> float:
        """The first true time at which it shows that, or more: whoever sleeps wakes too late, never too early."""
        true = (shown - self.offset) / self.speed
        while self.read(true) < shown:
            true = math.nextafter(true, math.inf)
        return true


def drifting(chance: random.Random, drift: float) -> Clock:
    """A clock that keeps to the bound on drift; most often it is as bad as that allows."""
    error = chance.choice((-drift, drift, chance.uniform(-drift, drift)))
    return Clock(1.0 + error, chance.uniform(0.0, 1e5))


class Agenda:
    """What happens when, in true time. Of things at one instant, those planned first happen first."""

    def __init__(self) -> None:
        self.now = 0.0
        self.happened = 0
        self._planned: list[tuple[float, int, Callable[[], None]]] = []
        self._count = count()

    def at(self, time: float, action: Callable[[], None]) -> None:
        """Plan something; what should have happened before happens now."""
        if time < math.inf:
            heapq.heappush(self._planned, (max(time, self.now), next(self._count), action))

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Plan something for later."""
        self.at(self.now + seconds, action)

    def step(self, until: float) -> bool:
        """Let the next thing happen; whether there was one before `until`."""
        if not self._planned or self._planned[0][0] > until:
            self.now = max(self.now, until)
            return False
        self.now, _, action = heapq.heappop(self._planned)
        self.happened += 1
        action()
        return True
