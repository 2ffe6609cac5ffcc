"""Static: targets in proportion to compute nodes, what a fixed wiring of I/O nodes amounts to (P4 §3.1).

Q_i·N/Q is rounded half up to at least 1, then to the nearest number that the application may use, in doubt the smaller.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import EASY, allocation


@allocation("static", source="P4 §3.1", needs=EASY)
def static(demand: Demand, draw: np.random.Generator) -> Ints:
    """As large a part of the targets as its part of the compute nodes."""
    wanted = np.maximum(1.0, np.floor(demand.nodes * demand.targets / demand.machine + 0.5))
    return demand.best(np.abs(demand.count - wanted[demand.owner]))
