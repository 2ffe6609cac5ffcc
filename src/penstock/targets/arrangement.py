"""Who has how many targets, and which: what policies arrive at, plans say, and a local search changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.allocation.demand import Demand
from penstock.engine.program import Floats, Ints


class Arrangement(NamedTuple):
    """For each application its option, and, application after application, its targets in rising order."""

    option: Ints
    places: Ints

    def of_each(self, demand: Demand) -> list[Ints]:
        """The targets of each application."""
        return np.split(self.places, np.cumsum(demand.count[self.option])[:-1])


def stress_on(demand: Demand, option: Ints, application: Ints, target: Ints) -> Floats:
    """The part of its time that an application keeps one of its targets busy; more if the target is too slow for it."""
    own = option[application]
    slower = np.maximum(1.0, demand.bandwidth[own] / demand.count[own] / demand.limit[target])
    stress: Floats = demand.io_share[own] * slower
    return stress


def target_stress(demand: Demand, arrangement: Arrangement) -> Floats:
    """The stress that each target carries."""
    owner = np.repeat(np.arange(arrangement.option.size), demand.count[arrangement.option])
    stress = stress_on(demand, arrangement.option, owner, arrangement.places)
    carried = np.zeros(demand.targets)
    np.add.at(carried, arrangement.places, stress)
    return carried
