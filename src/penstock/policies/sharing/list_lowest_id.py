"""Lowest id: a fixed ranking of the applications, the first of the scenario on top (P3 §5.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.exclusive import goes_on, start_first
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("list-lowest-id", source="P3 §5.1")
def list_lowest_id(view: View, rates: Floats) -> None:
    """The first in the scenario first, one at a time."""
    if not goes_on(view, rates):
        for row in range(rates.size):
            view.key[row] = 0.0
        start_first(view, rates)
