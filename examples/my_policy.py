"""Rescue: shortest transfer first, as greedy-com, but whoever falls below a yield of `floor` goes before.

greedy-com gets the most out of the machine and starves long transfers for it; the floor says how far that may go.
"""

from penstock.policies.sharing import sharing
from penstock.policies.sharing.order import coarse, fill, yield_now


@sharing("rescue", floor=0.8)
def rescue(view, rates):
    """Shortest transfer first, but whoever has a yield below `floor` goes before."""
    floor = coarse(view.settings[0])
    for row in range(rates.size):
        achieved = coarse(yield_now(view, row))
        # Negative keys come before all transfer times, and the lowest yield before the others.
        view.key[row] = achieved - 1.0 if achieved < floor else view.remaining[row] / view.limit[row]
    fill(view, rates)
