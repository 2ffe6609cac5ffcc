"""How long jobs wait for a rate, as histograms: until the controller answers, and until it lets them move.

The first is the controller's own speed; the second is what a job feels, and what the policy decides.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from penstock.wire.messages import FREE, MONITOR, Post, Rate

ANSWER_BOUNDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
WAIT_BOUNDS = (0.001, 0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)


class Histogram:
    """How many values were at most each bound, and their sum.

    >>> found = Histogram((1.0, 10.0)); found.add(0.5); found.add(10.0); found.add(99.0)
    >>> found.buckets(), found.sum
    ([('1.0', 1), ('10.0', 2), ('+Inf', 3)], 109.5)
    """

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds, self._counts, self.sum = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.sum += value

    def buckets(self) -> list[tuple[str, int]]:
        """Each bound with the number of values up to it, as Prometheus has them."""
        total, found = 0, []
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            found.append((bound, total))
        return found


class PostTimes:
    """Announcements that wait for an answer, by session: one at a time each."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[int, tuple[int, float, bool]] = {}  # operation, when it was posted, whether it was answered
        self.answers, self.waits = Histogram(ANSWER_BOUNDS), Histogram(WAIT_BOUNDS)

    def posted(self, session: int, message: Post) -> None:
        """Somebody announces an operation."""
        self._open[session] = message.op, self._clock(), False

    def told(self, session: int, rate: Rate) -> None:
        """Somebody is told a rate."""
        found = self._open.get(session)
        if found is None or found[0] != rate.op:
            return
        op, posted, answered = found
        seconds = self._clock() - posted
        if not answered:
            self.answers.add(seconds)
            self._open[session] = op, posted, True
        if rate.rate > 0.0 or rate.flags & (FREE | MONITOR):
            self.waits.add(seconds)
            del self._open[session]

    def gone(self, session: int) -> None:
        """A connection is over: nobody waits there any more."""
        self._open.pop(session, None)
