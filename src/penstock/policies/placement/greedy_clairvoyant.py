"""Greedy, clairvoyant: the same stress on every target, as nearly as can be (GC, P4 §3.2).

Applications come by falling share of I/O in their time; each takes the least stressed targets, and every one of these
then carries its part of the stress. On a target that is too slow for it, an application's part is larger (ours): there
the least stressed targets are those that carry least together with it.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.placement.policy import placement
from penstock.policies.sharing.order import ranked, rounded


@placement("greedy-clairvoyant", source="P4 §3.2")
def greedy_clairvoyant(demand: Demand, option: Ints, draw: np.random.Generator) -> list[Ints]:
    """Those who transfer most of their time first, each takes the targets with the least stress."""
    places = [np.empty(0, np.int64)] * option.size
    stress = np.zeros(demand.targets)
    everywhere = np.arange(demand.targets)
    for i in ranked(-demand.io_share[option]):
        transfer = demand.transfer_on(option[i], everywhere)
        added = transfer / (demand.compute[i] + transfer)
        least = np.argsort(rounded(stress + (added - added.min())), kind="stable")[: demand.count[option[i]]]
        stress[least] += added[least]
        places[i] = least
    return places
