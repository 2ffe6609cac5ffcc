"""The controller's back-pressure on Slurm: bandwidth that is spoken for, as licences that jobs are not given.

A reservation of licences holds back the part of the bandwidth that was in use over the last minute and that no running
job holds a licence for. It ends by itself two minutes after the bridge last renewed it, so a bridge that is killed
holds nobody back for longer. It changes in steps of a twentieth, at most every ten seconds: Slurm has other work.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from penstock.live.slurm.queue import Licenses

RESERVATION = "penstock"
MOST = 0.8  # of all licences: jobs that ask for a fifth or less are never held back
STEPS = 20


@dataclass(frozen=True)
class Times:
    """Seconds; tests shorten them."""

    lasts: int = 120
    renew: float = 60.0
    apart: float = 10.0
    mean: float = 60.0


@dataclass(frozen=True)
class Order:
    """Reserve so many licences from now on; 0: give them back."""

    count: int


@dataclass
class BackPressure:
    """How many licences to reserve, and when to say so."""

    times: Times = Times()
    count: int | None = None  # None: it is not known what an earlier bridge has left
    _changed: float = float("-inf")
    _renewed: float = float("-inf")
    _seen: deque[tuple[float, float]] = field(default_factory=deque)

    def saw(self, now: float, committed: float) -> None:
        """How full the fullest resource was just now, from 0 to 1."""
        self._seen.append((now, min(1.0, max(0.0, committed))))
        while self._seen[0][0] < now - self.times.mean:
            self._seen.popleft()

    @property
    def mean(self) -> float:
        """Over the last minute."""
        return sum(each for _, each in self._seen) / len(self._seen) if self._seen else 0.0

    def order(self, now: float, licenses: Licenses) -> Order | None:
        """What is to be done now, if anything."""
        wanted = self._wanted(licenses)
        if self.count is None:
            return Order(wanted)
        if wanted != self.count:
            return Order(wanted) if now >= self._changed + self.times.apart else None
        return Order(wanted) if wanted and now >= self._renewed + self.times.renew else None

    def done(self, now: float, order: Order) -> None:
        """Slurm did it."""
        if order.count != self.count:
            self._changed = now
        self.count, self._renewed = order.count, now

    def _wanted(self, licenses: Licenses) -> int:
        step = max(5, licenses.total // STEPS)
        free = round(self.mean * licenses.total - licenses.used, 6)
        most = MOST * licenses.total
        return int(max(0.0, min(free, most)) // step) * step
