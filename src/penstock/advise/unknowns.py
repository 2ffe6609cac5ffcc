"""What advice has to assume of a site because nobody knows it, and how far that may be from the truth.

Each unknown has a value that is taken and two ends. Ends are swept and shown; they never widen an interval, since how
often a site lies where between them nobody knows either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

Value = float | int | str
Corner = Mapping[str, Value]

BANDWIDTH, CAPS, SLACK, BURSTS = "bandwidth", "caps", "slack", "bursts"
READINGS = (SLACK, BURSTS)  # two ways to read the same bytes: where they disagree, the figure is made of a guess
GIVEN_BANDWIDTH = (0.75, 1.25)  # times what was given: file systems age, fill and share their servers
SEEN_BANDWIDTH = (1.0, 4.0)  # times the highest rate seen, which is a lower bound
BOUND_CAPS = (1.0, 2.0)  # over a year at two centres, the fastest tenth of runs was 1.94 times as fast as those alone
MODEL_CAPS = (0.8, 1.25)
FEW, MANY = 10, "opens"


class Unknown(NamedTuple):
    """A name, what is taken, and the two ends; numbers are factors but for bursts."""

    name: str
    taken: Value
    low: Value
    high: Value

    @property
    def ends(self) -> tuple[Value, ...]:
        """The ends that are not what is taken."""
        return tuple(end for end in (self.low, self.high) if end != self.taken)


def taken(unknowns: Sequence[Unknown]) -> dict[str, Value]:
    """Every unknown as it is assumed."""
    return {each.name: each.taken for each in unknowns}


def star(unknowns: Sequence[Unknown]) -> Iterator[tuple[Unknown, Value, dict[str, Value]]]:
    """One unknown at a time at one of its ends, all others as assumed."""
    base = taken(unknowns)
    for each in unknowns:
        for end in each.ends:
            yield each, end, base | {each.name: end}


def corners(unknowns: Sequence[Unknown]) -> list[dict[str, Value]]:
    """All at their ends together, in every combination; what has no two ends stays as assumed.

    >>> len(corners([Unknown("a", 1, 0, 2), Unknown("b", 1, 1, 2)]))
    4
    """
    ends = [dict.fromkeys((each.low, each.high)) for each in unknowns]
    return [dict(zip((each.name for each in unknowns), chosen, strict=True)) for chosen in product(*ends)]
