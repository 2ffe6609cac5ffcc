"""Who has how many targets, and which: what policies arrive at, plans say, and a local search changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats, Ints
from penstock.policies.allocation.demand import Demand


class Arrangement(NamedTuple):
    """For each application its option, and, application after application, its targets in rising order."""

    option: Ints
    places: Ints

    def of_each(self, demand: Demand) -> list[Ints]:
        """The targets of each application."""
        return np.split(self.places, np.cumsum(demand.count[self.option])[:-1])


def shares_of_time(demand: Demand, arrangement: Arrangement) -> Floats:
    """For each place, the part of its time that the application keeps this target busy if nobody is in its way.

    On a slow target its transfer takes longer; the operation is over when the slowest is.
    """
    option = arrangement.option
    count = demand.count[option]
    owner = np.repeat(np.arange(option.size), count)
    transfer = demand.transfer_on(option[owner], arrangement.places)
    alone = np.maximum.reduceat(transfer, np.cumsum(count) - count)
    shares: Floats = transfer / (demand.compute + alone)[owner]
    return shares


def target_stress(demand: Demand, arrangement: Arrangement) -> Floats:
    """The stress that each target carries."""
    carried = np.zeros(demand.targets)
    np.add.at(carried, arrangement.places, shares_of_time(demand, arrangement))
    return carried
