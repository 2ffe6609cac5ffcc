"""Greedy, non-clairvoyant: the same number of applications on every target, as nearly as can be (GNC, P4 §3.2).

Applications come by falling number of targets and take the next ones in turn, round and round. With jobs that come and
go, those who start first come first, and the turn goes on where it stood, whoever has left meanwhile.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import EASY
from penstock.policies.placement.policy import placement


@placement("greedy-non-clairvoyant", source="P4 §3.2", needs=EASY)
def greedy_non_clairvoyant(demand: Demand, option: Ints, draw: np.random.Generator) -> list[Ints]:
    """Those with most targets first, each takes the next ones in turn."""
    count = demand.count[option]
    order = np.lexsort([-count, demand.presence.begin])
    start = np.empty_like(count)
    start[order] = np.cumsum(count[order]) - count[order]
    return [(begin + np.arange(own)) % demand.targets for begin, own in zip(start, count, strict=True)]
