"""What several sharing policies, or all loops and the live core for them, reckon alike: ω, losses, the young, ticks."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import inlined

# An age below any that a run knows, whatever its unit of time: at its release a job is what it is just after it.
NO_AGE = 1e-100
NO_LOSS = 1e-9  # a mean loss below this is none


@inlined
def mean_iteration(iteration_seconds: float, iterations: float) -> float:
    """ω: the mean length of the iterations completed so far; no number before the first."""
    return iteration_seconds / iterations if iterations > 0.0 else np.nan


@inlined
def loss(lost: float, age: float) -> float:
    """The share of its age that an application has lost, 1 - yield; nothing at the release itself."""
    return lost / age if age > 0.0 else 0.0


def losses(lost: Floats, age: Floats) -> Floats:
    """`loss` of many applications at once, outside kernels."""
    shares: Floats = np.divide(lost, age, out=np.zeros_like(lost), where=age > 0.0)
    return shares


@inlined
def in_advance(seconds: float, age: float) -> float:
    """Of seconds that an application has not made yet, those that a policy may count already.

    At most a quarter of its age: who has just come would otherwise look served, and starve as long as its operation is
    long against its age. Whoever has lived for many operations never notices.
    """
    return min(seconds, 0.25 * age)


@inlined
def next_tick(now: float, tick: float) -> float:
    """The number of the first tick that lies ahead; one that is now counts as past."""
    return np.floor(now * (1.0 + SAME) / tick) + 1.0  # type: ignore[no-any-return]


@inlined
def movers(rates: Floats, limit: Floats, rows: int) -> int:
    """How many get a rate (rounding is none); at least one, as nobody alone is disturbed."""
    count = 0
    for row in range(rows):
        count += rates[row] > SAME * limit[row]
    return max(1, count)
