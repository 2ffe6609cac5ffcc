"""Shortest I/O: the operation that takes least is served next, alone, so that few wait long (P3 §5.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.exclusive import announced, goes_on, io_time, pass_on, start_first
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("list-shortest-io", source="P3 §5.1", prepare=io_time)
def list_shortest_io(view: View, rates: Floats) -> None:
    """The shortest operation first, one at a time."""
    if not goes_on(view, rates):
        for row in range(rates.size):
            view.key[row] = announced(view, row)
        pass_on(view, start_first(view, rates))
