"""Loss-capped SRPT: the shortest transfer first, as long as nobody loses much more than the others do on average.

The seconds that an application has lost are counted as if its operation were done now: V/B is taken off for what
remains of it, though never more than a quarter of its age, so that a newcomer is not taken for one that was served. Up
to c times the mean loss of all (for such a newcomer up to half of its age at most) the term (lost/(c·mean·age))^16 is
next to nothing and the shortest remaining transfer goes first; from there on it outweighs any length.
"""

import math

import numpy as np

from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import inlined, total
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.rules import NO_AGE, NO_LOSS, in_advance
from penstock.policies.sharing.view import View

_AT_ONCE = 1e3  # outweighs the logarithm of any length
_STEPS = 2.0**30  # keys that are closer than one of so many to 1 are the same


@inlined
def _beyond(lost: float, allowed: float, mean_loss: float) -> float:
    """What speaks against the length of who has lost so much; where nobody else has lost anything, all of it."""
    if lost <= 0.0:
        return 0.0
    return (lost / allowed) ** 16 if mean_loss >= NO_LOSS else _AT_ONCE


@inlined
def fill_by_length(view: View, c: float, left: float, rates: Floats) -> None:
    """Fill greedily, shortest first below c times the mean loss and what can be made good in the seconds `left`."""
    waiting = total(view.remaining, rates.size)
    for row in range(rates.size):
        age = max(view.now - view.release[row], NO_AGE)
        alone = view.remaining[row] / view.capacity
        counted = in_advance(alone, age)
        reserve = in_advance(view.mean_loss * left * view.remaining[row] / waiting, age)
        key = math.log(view.remaining[row] / view.bandwidth[row])
        allowed = c * view.mean_loss * age + reserve
        # However much all lose: who is too young to count all of its operation may not lose more than half of its age.
        if counted < alone * (1.0 - SAME):
            allowed = min(allowed, 0.5 * age)
        key -= _beyond(age - view.progress[row] - counted, allowed, view.mean_loss)
        # Of logarithms the difference says what is the same, whatever they are themselves in this unit of time.
        view.key[row] = np.floor(key * _STEPS + 0.5) / _STEPS
    fill(view, rates)


@sharing("loss-capped-srpt", source="ours", losses=True, c=1.0)
def loss_capped_srpt(view: View, rates: Floats) -> None:
    """Fill greedily, shortest transfer first, but for those who lose more than about c times the average."""
    fill_by_length(view, view.settings[0], 0.0, rates)
