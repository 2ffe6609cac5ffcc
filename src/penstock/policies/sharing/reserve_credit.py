"""Reserve credit: the lowest yield first, but what is most of the backlog may wait as long as it can be made good.

Bandwidth is lost for good when all compute at once. A large operation that waits is a reserve against that, and the
less else is waiting the more it is worth: so an operation is credited by its share of all bytes that wait, V/ΣV. The
credit is k times what everybody is going to lose until the end of the window at the present mean loss, L·(T_end - t):
who is served without waiting from now on makes good that much against the others, and no more.
"""

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import total
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View

_NO_AGE = 1e-100  # below any that a run knows, whatever its unit of time
_NO_LOSS = 1e-9  # a mean loss below this is none


@sharing("reserve-credit", source="ours", losses=True, k=1.3, ahead=0.1)
def reserve_credit(view: View, rates: Floats) -> None:
    """Fill greedily, lowest yield first, with credit for a large share of what waits, while that can be made good."""
    k, ahead = view.settings[0], view.settings[1]
    if view.mean_loss < _NO_LOSS:
        k = 0.0
    waiting = total(view.remaining, rates.size)
    for row in range(rates.size):
        age = max(view.now - view.release[row], _NO_AGE)
        left = view.end - view.now if view.end < np.inf else ahead * age
        credit = k * view.mean_loss * left * view.remaining[row] / waiting
        view.key[row] = (view.progress[row] + credit) / age
    fill(view, rates)
