"""Annealed credit: credited yield whose credit falls as the window goes by.

Early on there is time to make good what somebody lost, so small operations go first and the machine as a whole is
served; towards the end yields count, which nobody can make good any more.
"""

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.credited_yield import fill_by_credit
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("annealed-credit", source="ours", first=11.5, last=1.5, g=2.0)
def annealed_credit(view: View, rates: Floats) -> None:
    """Credited yield, with a credit that falls from `first` to `last` in the window; g without one."""
    first, last, g = view.settings[0], view.settings[1], view.settings[2]
    if view.end < np.inf:
        g = last + (first - last) * (view.end - view.now) / (view.end - view.begin)
    fill_by_credit(view, g, rates)
