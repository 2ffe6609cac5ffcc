"""Random: any targets, as file systems that do not look at I/O behaviour choose them (P4 §3.2).

They are drawn in the order of the starts.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import NOTHING
from penstock.policies.placement.policy import placement


@placement("random", source="P4 §3.2", needs=NOTHING)
def random(demand: Demand, option: Ints, draw: np.random.Generator) -> list[Ints]:
    """Any targets, drawn with equal chances."""
    places = [np.empty(0, np.int64)] * option.size
    for i in np.argsort(demand.presence.begin, kind="stable"):
        places[i] = draw.choice(demand.targets, demand.count[option[i]], replace=False)
    return places
