"""Reserve SRPT: loss-capped SRPT in which what is most of the backlog may lose more, as long as it can be made good.

Below its cap everybody goes by length, and above it first, as in loss-capped SRPT. To the cap of c times the mean loss
L, in seconds c·L·age, comes what the application could still make good, L·(T_end - t), by its share of all bytes that
wait, V/ΣV: a large operation that waits keeps the bandwidth from falling idle (see reserve credit).
"""

import math

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import total
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View

_NO_LOSS = 1e-9  # a mean loss below this is none
_STEPS = 2.0**30  # keys that are closer than one of so many to 1 are the same


@sharing("reserve-srpt", source="ours", losses=True, c=1.1, k=1.0)
def reserve_srpt(view: View, rates: Floats) -> None:
    """Fill greedily, shortest transfer first, but for those who lose more than the others and cannot make it good."""
    c, k = view.settings[0], view.settings[1]
    left = k * (view.end - view.now) if view.end < np.inf else 0.0
    waiting = total(view.remaining, rates.size)
    for row in range(rates.size):
        key = math.log(view.remaining[row] / view.limit[row])
        age = view.now - view.release[row]
        lost = age - view.progress[row] - view.remaining[row] / view.capacity
        if lost > 0.0 and view.mean_loss >= _NO_LOSS:
            key -= (lost / (view.mean_loss * (c * age + left * view.remaining[row] / waiting))) ** 16
        # Of logarithms the difference says what is the same, whatever they are themselves in this unit of time.
        view.key[row] = np.floor(key * _STEPS + 0.5) / _STEPS
    fill(view, rates)
