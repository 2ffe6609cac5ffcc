"""How much all have lost so far in the loop, on average: the mean of 1 - yield over the released and not finished.

The loss of an application is (age - progress)/age. While it computes, its age and its progress grow alike: the seconds
that it has lost stand still, and are noted once, when the compute starts. But every application has an age of its own,
so no running sum has the mean: it is taken anew, over all applications, at each decision of a policy that asks for it.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.compile import inlined, kernel
from penstock.policies.sharing.rules import loss

NOT_ASKED = np.nan

_F = types.float64[::1]
_I = types.int64[::1]


@inlined
def of_rows(now: float, release: Floats, progress: Floats, start: int, active: int) -> float:
    """What the applications in these rows of a View have lost, added up."""
    in_all = 0.0
    for row in range(start, start + active):
        age = now - release[row]
        in_all += loss(age - progress[row], age)
    return in_all


@kernel(
    types.float64(types.float64, types.int64, _F, _F, _I, _F, _F, _F), fastmath={"nsz", "reassoc"}, forceinline=True
)
def mean_loss(
    now: float,
    active: int,
    row_release: Floats,
    row_progress: Floats,
    operation: Ints,
    release: Floats,
    completion: Floats,
    lost: Floats,
) -> float:
    """The mean over all who are there now, on one bandwidth; who has an operation posted has 0 in `lost`."""
    in_all, there = of_rows(now, row_release, row_progress, 0, active), 0.0
    nearly = now * (1.0 + SAME)
    for i in range(lost.size):
        # The end of a last compute is known before it comes; NaN: not yet.
        here = operation[i] >= 0 and not completion[i] <= nearly
        there += 1.0 if here else 0.0
        in_all += loss(lost[i], now - release[i]) if here else 0.0
    return in_all / there
