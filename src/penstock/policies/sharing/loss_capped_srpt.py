"""Loss-capped SRPT: the shortest transfer first, as long as nobody loses much more than the others do on average.

The loss l of an application is what its yield would lack of 1 were its operation done now, with V/B seconds credited
for what remains of it. Up to c times the mean loss of all, the term (l/(c·mean))^16 is next to nothing and the shortest
remaining transfer goes first; from there on it outweighs any length.
"""

import math

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View

_NO_LOSS = 1e-9  # a mean loss below this is none
_STEPS = 2.0**30  # keys that are closer than one of so many to 1 are the same


@sharing("loss-capped-srpt", source="ours", losses=True, c=1.0)
def loss_capped_srpt(view: View, rates: Floats) -> None:
    """Fill greedily, shortest transfer first, but for those who lose more than about c times the average."""
    for row in range(rates.size):
        key = math.log(view.remaining[row] / view.limit[row])
        age = view.now - view.release[row]
        loss = 1.0 - (view.progress[row] + view.remaining[row] / view.capacity) / age if age > 0.0 else 0.0
        if loss > 0.0 and view.mean_loss >= _NO_LOSS:
            key -= (loss / (view.settings[0] * view.mean_loss)) ** 16
        # Of logarithms the difference says what is the same, whatever they are themselves in this unit of time.
        view.key[row] = np.floor(key * _STEPS + 0.5) / _STEPS
    fill(view, rates)
