"""First in, first out: whoever asked first is served first, alone (P2 §5.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.exclusive import goes_on, start_first
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("list-fifo", source="P2 §5.1, P3 §5.1")
def list_fifo(view: View, rates: Floats) -> None:
    """The earliest posting first, one at a time."""
    if not goes_on(view, rates):
        for row in range(rates.size):
            view.key[row] = view.posted[row]
        start_first(view, rates)
