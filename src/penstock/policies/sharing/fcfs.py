"""First come, first served: fill greedily by posting time (P1 §4.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("fcfs", source="P1 §4.1")
def fcfs(view: View, rates: Floats) -> None:
    """Fill greedily, earliest posting first."""
    for row in range(rates.size):
        view.key[row] = view.posted[row]
    fill(view, rates)
