"""Nsys: n_sys, the number of targets with which an application keeps the fewest busy (NSYSA, P4 §3.1)."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import allocation


@allocation("nsys", source="P4 §3.1")
def nsys(demand: Demand, draw: np.random.Generator) -> Ints:
    """The number of targets with the lowest stress, so that the load is the lowest there is."""
    return demand.lightest
