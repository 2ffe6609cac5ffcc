"""Periodic most remaining: jobs take turns, the longest job first (P2 §5.1)."""

from collections.abc import Mapping

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.order import ranked
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.turns import in_turns, take_turns
from penstock.policies.sharing.view import View


def order(foresight: Foresight, settings: Mapping[str, float]) -> Floats:
    """By dedicated time, the most first."""
    return in_turns("periodic-most-remaining", foresight, ranked(-foresight.alone()))


@sharing("periodic-most-remaining", source="P2 §5.1", prepare=order)
def periodic_most_remaining(view: View, rates: Floats) -> None:
    """One operation of each job in turn, the longest job first, waiting for whose turn it is."""
    take_turns(view, rates)
