"""Reserve credit: the lowest yield first, but what is most of the backlog may wait as long as it can be made good.

Bandwidth is lost for good when all compute at once. A large operation that waits is a reserve against that, and the
less else is waiting the more it is worth: so an operation is credited by its share of all bytes that wait, V/ΣV. The
credit is k times what everybody is going to lose until the end of the window at the present mean loss, L·(T_end - t):
who is served without waiting from now on makes good that much against the others, and no more. It is never below V/B,
the seconds that the operation brings, which is what is left of it should the end come later than believed; nor above a
quarter of the age, so that a newcomer is not taken for one that was served.
"""

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined, total
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.rules import NO_AGE, NO_LOSS, in_advance
from penstock.policies.sharing.view import View


@inlined
def _left(view: View, age: float, ahead: float) -> float:
    """Seconds in which a loss can be made good; none once the end has passed that was believed in."""
    return max(view.end - view.now, 0.0) if view.end < np.inf else ahead * age


@sharing("reserve-credit", source="ours", losses=True, k=1.0, ahead=0.1)
def reserve_credit(view: View, rates: Floats) -> None:
    """Fill greedily, lowest yield first, with credit for a large share of what waits, while that can be made good."""
    k, ahead = view.settings[0], view.settings[1]
    loss = view.mean_loss if view.mean_loss >= NO_LOSS else 0.0
    waiting = total(view.remaining, rates.size)
    for row in range(rates.size):
        age = max(view.now - view.release[row], NO_AGE)
        reserve = k * loss * _left(view, age, ahead) * view.remaining[row] / waiting
        credit = in_advance(max(reserve, view.remaining[row] / view.capacity), age)
        view.key[row] = (view.progress[row] + credit) / age
    fill(view, rates)
