"""Periodic FIFO: jobs take turns in the order of their first operations (P2 §5.1)."""

from collections.abc import Mapping

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.order import ranked
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.turns import in_turns, take_turns
from penstock.policies.sharing.view import View


def order(foresight: Foresight, settings: Mapping[str, float]) -> Floats:
    """By the time of the first posting."""
    # Whoever cannot reach its first operation inside the window comes after all who can.
    reached = np.diff(foresight.first) > 0
    ahead = np.full(reached.size, np.inf)
    ahead[reached] = foresight.work[foresight.first[:-1][reached]]
    return in_turns("periodic-fifo", foresight, ranked(foresight.start + ahead))


@sharing("periodic-fifo", source="P2 §5.1", prepare=order)
def periodic_fifo(view: View, rates: Floats) -> None:
    """One operation of each job in turn, first posting first, waiting for whose turn it is."""
    take_turns(view, rates)
