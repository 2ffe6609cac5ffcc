"""Best bandwidth: n_perf, the fewest targets on which an application alone is fastest (BBA, P4 §3.1)."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import MEDIUM, allocation


@allocation("best-bandwidth", source="P4 §3.1", needs=MEDIUM)
def best_bandwidth(demand: Demand, draw: np.random.Generator) -> Ints:
    """The number of targets on which it alone is fastest."""
    return demand.fastest
