"""Greedy yield: whoever has been held back most goes first (P1 §4.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.order import fill, yield_now
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("greedy-yield", source="P1 §4.1")
def greedy_yield(view: View, rates: Floats) -> None:
    """Fill greedily, lowest yield first."""
    for row in range(rates.size):
        view.key[row] = yield_now(view, row)
    fill(view, rates)
