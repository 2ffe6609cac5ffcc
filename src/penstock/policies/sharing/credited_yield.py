"""Credited yield: the lowest yield first, where the operation under way counts in advance.

An operation that is served brings its application V/B seconds further if it is let through alone, and keeps the others
waiting for as long: counted g times, small operations of applications that are a little ahead go before large ones of
applications that are a little behind. g = 0 is greedy yield; g = 1 goes by earliest deadline towards a yield that all
have in common; the larger g, the more it is greedy communication. Nobody is credited with more than a quarter of its
age, so that a newcomer is not taken for one that was served (see `in_advance`).
"""

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.rules import NO_AGE, in_advance
from penstock.policies.sharing.view import View


@inlined
def fill_by_credit(view: View, g: float, rates: Floats) -> None:
    """Fill greedily, lowest (P + min(g·V/B, age/4))/age first."""
    for row in range(rates.size):
        age = max(view.now - view.release[row], NO_AGE)
        credit = in_advance(g * view.remaining[row] / view.capacity, age)
        view.key[row] = (view.progress[row] + credit) / age
    fill(view, rates)


@sharing("credited-yield", source="ours", g=2.0)
def credited_yield(view: View, rates: Floats) -> None:
    """Fill greedily, lowest yield first, with g times the time that the operation still takes credited."""
    fill_by_credit(view, view.settings[0], rates)
