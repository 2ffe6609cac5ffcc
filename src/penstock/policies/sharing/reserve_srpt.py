"""Reserve SRPT: loss-capped SRPT in which what is most of the backlog may lose more, as long as it can be made good.

Below its cap everybody goes by length, and above it first, as in loss-capped SRPT. To the cap of c times the mean loss
L, in seconds c·L·age, comes what the application could still make good, L·(T_end - t), by its share of all bytes that
wait, V/ΣV: a large operation that waits keeps the bandwidth from falling idle (see reserve credit).
"""

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.loss_capped_srpt import fill_by_length
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("reserve-srpt", source="ours", losses=True, c=1.1, k=1.0)
def reserve_srpt(view: View, rates: Floats) -> None:
    """Fill greedily, shortest transfer first, but for those who lose more than the others and cannot make it good."""
    c, k = view.settings[0], view.settings[1]
    fill_by_length(view, c, k * (view.end - view.now) if view.end < np.inf else 0.0, rates)
