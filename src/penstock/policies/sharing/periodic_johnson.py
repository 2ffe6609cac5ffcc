"""Periodic Johnson: jobs take turns in Johnson's order (P2 §5.1)."""

from collections.abc import Mapping

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.exclusive import johnson
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.turns import in_turns, take_turns
from penstock.policies.sharing.view import View


def order(foresight: Foresight, settings: Mapping[str, float]) -> Floats:
    """Johnson's order of the mean iterations."""
    return in_turns("periodic-johnson", foresight, johnson(foresight))


@sharing("periodic-johnson", source="P2 §5.1", prepare=order)
def periodic_johnson(view: View, rates: Floats) -> None:
    """One operation of each job in turn, in Johnson's order, waiting for whose turn it is."""
    take_turns(view, rates)
