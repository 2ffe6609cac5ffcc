"""Shortest remaining: whoever is nearest to its end is served next, alone, to free its nodes (P3 §5.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.exclusive import announced, goes_on, pass_on, start_first, time_left
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("list-shortest-remaining", source="P3 §5.1", prepare=time_left)
def list_shortest_remaining(view: View, rates: Floats) -> None:
    """The least dedicated time left first, one at a time."""
    if not goes_on(view, rates):
        for row in range(rates.size):
            view.key[row] = announced(view, row)
        pass_on(view, start_first(view, rates))
