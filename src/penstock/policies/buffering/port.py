"""The buffer's own bandwidth: what goes into it and comes out of it shares a port, max-min among all (models §8).

Four kinds of flows cross it: from applications into the buffer and from there to the file system, from the file system
into the buffer and from there to applications. A flow of the file system is a row; that of its application, which has
as much to do with the port, rises *beside* it.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.buffering.view import Flows


@inlined
def _crossing(flows: Flows, rates: Floats, level: float) -> float:
    """What crosses the port if nothing does so faster than `level`."""
    used = 0.0
    for row in range(rates.size):
        used += flows.crossing[row] * min(rates[row], level) + min(flows.beside[row], level)
    return used


@inlined
def _level(flows: Flows, rates: Floats) -> float:
    """How fast the fastest may cross; infinity if there is room for all."""
    if _crossing(flows, rates, np.inf) <= flows.port_limit:
        return np.inf
    level = 0.0
    while True:
        # Up to the next rate at which one of them has all it wants, use grows evenly.
        slope, following = 0.0, np.inf
        for row in range(rates.size):
            if flows.crossing[row] > 0 and rates[row] > level:
                slope += flows.crossing[row]
                following = min(following, rates[row])
            if flows.beside[row] > level:
                slope += 1.0
                following = min(following, flows.beside[row])
        left = flows.port_limit - _crossing(flows, rates, level)
        if slope == 0.0 or left <= slope * (following - level):
            return level + max(0.0, left) / max(slope, 1.0)
        level = following


@inlined
def fit_port(flows: Flows, rates: Floats) -> None:
    """Slow down what crosses the port until all fits, the fastest first."""
    if flows.port_limit == np.inf:
        return
    level = _level(flows, rates)
    for row in range(rates.size):
        flows.beside_rate[row] = min(flows.beside[row], level)
        if flows.crossing[row] > 0:
            rates[row] = min(rates[row], level)


@inlined
def port_bound(flows: Flows, rates: Floats, rising: float) -> float:
    """How high all that still rises gets before the port is full; `rising` marks the rows that do."""
    if flows.port_limit == np.inf:
        return np.inf
    reached = 0.0
    while True:
        # Those beside stop at their caps; the rest of the port is for those that rise.
        left, count, following = flows.port_limit, 0.0, np.inf
        asked = False
        for row in range(rates.size):
            if rates[row] == rising:
                count += flows.crossing[row]
                asked = asked or flows.crossing[row] > 0
            else:
                left -= flows.crossing[row] * rates[row]
            if flows.beside[row] > reached:
                count += 1.0
                following = min(following, flows.beside[row])
            else:
                left -= flows.beside[row]
        if not asked:
            return np.inf
        bound = max(0.0, left) / count
        if bound <= following:
            return bound
        reached = following
