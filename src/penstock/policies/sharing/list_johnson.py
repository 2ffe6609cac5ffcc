"""Johnson: the order that is best for jobs of one iteration, on each job's mean iteration (P2 §5.1, definition 9)."""

from collections.abc import Mapping

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.exclusive import goes_on, johnson, start_first
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.order import ranks
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


def places(foresight: Foresight, settings: Mapping[str, float]) -> Floats:
    """Each application's place in Johnson's order."""
    return ranks(johnson(foresight))


@sharing("list-johnson", source="P2 §5.1", prepare=places)
def list_johnson(view: View, rates: Floats) -> None:
    """The first in Johnson's order of the mean iterations first, one at a time."""
    if not goes_on(view, rates):
        for row in range(rates.size):
            view.key[row] = view.memory[view.application[row]]
        start_first(view, rates)
