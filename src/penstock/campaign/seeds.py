"""Seeds of a campaign as users write them: `7`, `1-200`, `1-50, 60`, or a list of these."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator

from penstock.model.units import Refusal, shown

_RANGE = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")
_MOST = 1_000_000
_LARGEST = 2**63 - 1  # what a column of whole numbers holds
_ACCEPTED = 'seeds are whole numbers ≥ 0: 7, "1-200", or a list of these'


def seeds_of(value: object) -> tuple[int, ...]:
    """Every seed once, in the order given.

    >>> seeds_of("1-3, 7"), seeds_of([5, "2-3", 5])
    ((1, 2, 3, 7), (5, 2, 3))
    """
    parts = value if isinstance(value, list | tuple) else [value]
    if not parts:
        raise Refusal(f"is an empty list; {_ACCEPTED}")
    ranges = [found for part in parts for found in _ranges(part)]
    if sum(map(len, ranges)) > _MOST:
        raise Refusal(f"are {sum(map(len, ranges)):,}; at most {_MOST:,} seeds")
    return tuple(dict.fromkeys(seed for found in ranges for seed in found))


def _ranges(part: object) -> Iterator[range]:
    if isinstance(part, int) and not isinstance(part, bool):
        part = str(part)
    if not isinstance(part, str):
        raise Refusal(f"is {shown(part)}; {_ACCEPTED}")
    for piece in part.split(","):
        match = _RANGE.fullmatch(piece)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if match is None or last < first or last > _LARGEST:
            raise Refusal(f"is {shown(part)}; {_ACCEPTED}")
        yield range(first, last + 1)


Seeds = Annotated[tuple[int, ...], BeforeValidator(seeds_of)]
