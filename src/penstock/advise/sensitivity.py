"""What would change the advice: every unknown at its ends, by itself and together with the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.advise.estimate import Estimate
from penstock.advise.policies import BETTER, TieGroup
from penstock.advise.sample import Sample
from penstock.advise.unknowns import BANDWIDTH, READINGS, Corner, Unknown, Value


@dataclass(frozen=True)
class Sensitivity:
    """One unknown: its ends, and what the policy shown gains at each of them."""

    unknown: Unknown
    start: Value  # as it is shown: a bandwidth in bytes/s
    end: Value
    gain_start: Estimate
    gain_end: Estimate
    changes_answer: bool

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "unknown": self.unknown.name,
            "from": self.start,
            "to": self.end,
            "changes_answer": self.changes_answer,
            "gain_from": self.gain_start.to_dict(),
            "gain_to": self.gain_end.to_dict(),
        }


class SweptCorners:
    """Samples at the ends of unknowns, to be asked about a policy."""

    def __init__(
        self, base: TieGroup, at: Sequence[tuple[Corner, Sample]], bandwidth: float, spanned: Sequence[str] = ()
    ) -> None:
        self._base, self._at, self._bandwidth = base, at, bandwidth
        self._spanned = spanned  # unknowns whose ends the interval holds already

    def sensitivities(self, unknowns: Sequence[Unknown], taken: Mapping[str, Value]) -> tuple[Sensitivity, ...]:
        """A row for each unknown."""
        return tuple(self._of(each, taken) for each in unknowns)

    def breaking(self) -> list[Corner]:
        """Choices under which what is better in the base case is not better any more."""
        if self._base.verdict != BETTER:
            return []
        return [corner for corner, sample in self._at if self._gain(sample).sign <= 0]

    def _of(self, unknown: Unknown, taken: Mapping[str, Value]) -> Sensitivity:
        low, high = (self._gain(self._sample({**taken, unknown.name: end})) for end in (unknown.low, unknown.high))
        changes = self._changed(unknown, low) or self._changed(unknown, high)
        start, end = self._shown(unknown, unknown.low), self._shown(unknown, unknown.high)
        return Sensitivity(unknown, start, end, low, high, changes)

    def _changed(self, unknown: Unknown, gain: Estimate) -> bool:
        """Another sign; or, of what is a reading of the same bytes, a figure outside the interval."""
        base = self._base.gain
        if unknown.name in self._spanned:
            return False
        outside = unknown.name in READINGS and not base.low <= gain.value <= base.high
        return gain.sign != base.sign or outside

    def _gain(self, sample: Sample) -> Estimate:
        return sample.gain(self._base.goal, self._base.of, self._base.against)

    def _sample(self, corner: Corner) -> Sample:
        return next(sample for known, sample in self._at if known == corner)

    def _shown(self, unknown: Unknown, value: Value) -> Value:
        return float(value) * self._bandwidth if unknown.name == BANDWIDTH else value


def words(corner: Corner, unknowns: Sequence[Unknown]) -> list[str]:
    """The unknowns that are not as assumed."""
    return [each.name for each in unknowns if corner[each.name] != each.taken]
