"""Random: any of the numbers of targets that an application may use, all equally likely (P4 §3.1)."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import NOTHING, allocation


@allocation("random", source="P4 §3.1", needs=NOTHING)
def random(demand: Demand, draw: np.random.Generator) -> Ints:
    """Any of its numbers of targets, drawn with equal chances."""
    return draw.integers(demand.first[:-1], demand.first[1:])
