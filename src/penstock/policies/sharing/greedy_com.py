"""Greedy communication: the transfer that could be over first goes first (P1 §4.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("greedy-com", source="P1 §4.1")
def greedy_com(view: View, rates: Floats) -> None:
    """Fill greedily, shortest remaining transfer at full rate first."""
    for row in range(rates.size):
        view.key[row] = view.remaining[row] / view.bandwidth[row]
    fill(view, rates)
