"""Whether a capacity that the controller gives out is higher than what the storage can move.

Too high shows within a minute: all of it is given out, and jobs move less than they are granted. Too low shows nowhere:
nobody moves what nobody is granted. So this can warn and suggest, and never acts.

A look counts while at least 98 % of the capacity is charged and grants are enforced. Over at least 30 s of such looks,
without a gap, less than nine tenths of what was granted was moved: the capacity is in doubt. Reports of what was moved
come with beats, later than the bytes; so the first looks of a stretch are left out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

FULL = 0.98  # of the capacity
LITTLE = 0.9  # of what was granted
LEAST, LONGEST = 30.0, 300.0  # seconds of a stretch
LATE = 5.0  # seconds by which reports may come later
GAP = 2.5  # seconds between looks, or below FULL, that end a stretch
CURRENT = 60.0  # seconds for which a doubt is a warning
EVERY = 1.0


@dataclass(frozen=True)
class Doubt:
    """What was seen of one resource: amounts in bytes/s, times in seconds; `ratio` is moved of what was granted."""

    resource: str
    capacity: float
    granted: float
    achieved: float
    ratio: float
    suggested: float  # what was moved, in three digits
    seconds: float
    age: float

    def words(self) -> str:
        """As a warning."""
        return (
            f"the capacity of {self.resource} may be too high: over {self.seconds:.0f} s jobs moved {self.ratio:.0%} "
            "of what they were granted, while all of it was given out; see `penstock capacity --suggest`"
        )


class _Sample(NamedTuple):
    time: float
    achieved: float
    granted: float


@dataclass
class _Stretch:
    """Looks at one resource since it was last not full."""

    capacity: float = 0.0
    began: float = 0.0
    full_at: float = float("-inf")
    samples: deque[_Sample] = field(default_factory=deque)
    doubt: Doubt | None = None
    seen_at: float = 0.0

    def look(self, name: str, sample: _Sample, capacity: float, full: bool) -> None:
        if capacity != self.capacity:
            self.doubt, self.full_at = None, float("-inf")
            self.capacity = capacity
        if sample.time > self.full_at + GAP:
            self.began = sample.time
            self.samples.clear()
        if full:
            self.full_at = sample.time
        if full and sample.time >= self.began + LATE:
            self.samples.append(sample)
            while sample.time - self.samples[0].time > LONGEST:
                self.samples.popleft()
            self._judge(name, sample)

    def _judge(self, name: str, now: _Sample) -> None:
        first = self.samples[0]
        seconds = now.time - first.time
        if seconds < LEAST:
            return
        granted, achieved = (now.granted - first.granted) / seconds, (now.achieved - first.achieved) / seconds
        if granted > 0.0 and achieved < LITTLE * granted:
            suggested = float(f"{achieved:.3g}")
            self.doubt = Doubt(name, self.capacity, granted, achieved, achieved / granted, suggested, seconds, 0.0)
            self.seen_at = now.time
        else:
            self.doubt = None


class CapacityWatch:
    """All resources."""

    def __init__(self, names: Sequence[str]) -> None:
        self._stretches = {name: _Stretch() for name in names}
        self._at = float("-inf")

    def look(
        self,
        now: float,
        enforced: bool,
        capacity: Sequence[float],
        charged: Sequence[float],
        achieved: Sequence[float],
        granted: Sequence[float],
    ) -> None:
        """`achieved` and `granted` are bytes since the start; once a second is enough."""
        if now < self._at + EVERY:
            return
        self._at = now
        for k, (name, stretch) in enumerate(self._stretches.items()):
            full = enforced and capacity[k] > 0.0 and charged[k] >= FULL * capacity[k]
            stretch.look(name, _Sample(now, achieved[k], granted[k]), capacity[k], full)

    def doubts(self, now: float) -> list[Doubt]:
        """What is in doubt, with when that was last seen."""
        found = [(each.doubt, each.seen_at) for each in self._stretches.values() if each.doubt is not None]
        return [replace(doubt, age=max(0.0, now - seen)) for doubt, seen in found]

    def warnings(self, now: float) -> list[str]:
        """Of what was seen just now."""
        return [doubt.words() for doubt in self.doubts(now) if doubt.age <= CURRENT]
