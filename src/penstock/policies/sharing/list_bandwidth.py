"""Bandwidth: whoever has had the least of the storage for its age is served next, alone (P3 §5.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.exclusive import goes_on, start_first
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("list-bandwidth", source="P3 §5.1", memory=1)
def list_bandwidth(view: View, rates: Floats) -> None:
    """The lowest share of its time spent in I/O so far first, one at a time."""
    if not goes_on(view, rates):
        for row in range(rates.size):
            age = view.now - view.release[row]
            view.key[row] = view.memory[view.application[row]] / age if age > 0.0 else 0.0
        row = start_first(view, rates)
        # Nobody else starts before it has been served to its end.
        view.memory[view.application[row]] += view.remaining[row] / view.bandwidth[row]
