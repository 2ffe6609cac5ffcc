"""What client and controller guess of a phase that nobody announced: a volume that doubles, then that of earlier ones.

The agent of a node announces by these, the controller keeps what jobs moved by them from run to run, and policies are
tried on what they get wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

FIRST = float(64 << 20)  # bytes of the first guess; whenever more is moved, as much is added
ENOUGH = 3  # phases, or runs, that a guess is learnt from
AGREE = 0.2  # of their median: how far they may be from it and still tell the volume of the next
UNKNOWN, LEARNT = 0.3, 0.9  # confidence in a guess, and in what was learnt from three that agree


def agree(amounts: Sequence[float]) -> bool:
    """Whether the last three are about the same.

    >>> agree([9e9, 100.0, 110.0, 95.0]), agree([100.0, 110.0])
    (True, False)
    """
    last = amounts[-ENOUGH:]
    middle = median(last) if last else 0.0
    return len(last) == ENOUGH and all(abs(each - middle) <= AGREE * middle for each in last)


def guess(volumes: Sequence[float], first: float = FIRST) -> tuple[float, float]:
    """The volume of the next phase by those before it, and how sure that is.

    >>> guess([]), guess([1e9, 3e9, 2e9]), guess([2.1e9, 2e9, 2.2e9])
    ((67108864.0, 0.3), (2000000000.0, 0.3), (2100000000.0, 0.9))
    """
    if len(volumes) < ENOUGH:
        return first, UNKNOWN
    return median(volumes[-ENOUGH:]), LEARNT if agree(volumes) else UNKNOWN
