"""Stretch: whoever has been held back most is served next, alone (P3 §5.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.exclusive import goes_on, start_first
from penstock.policies.sharing.order import yield_now
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("list-stretch", source="P3 §5.1")
def list_stretch(view: View, rates: Floats) -> None:
    """The largest stretch so far (lowest yield) first, one at a time."""
    if not goes_on(view, rates):
        for row in range(rates.size):
            view.key[row] = yield_now(view, row)
        start_first(view, rates)
