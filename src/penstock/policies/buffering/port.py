"""For buffering policies: what goes into the buffer and comes out of it shares a port, max-min among all (models §8).

Four kinds of flows cross it: from applications into the buffer and from there to the file system, from the file system
into the buffer and from there to applications. A flow of the file system is a row; that of its application, which has
as much to do with the port, rises *beside* it.

A plan knows what is sent at the very instant at which it is written, and fetched when it is read: that passes straight,
and only the difference crosses the port.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.buffering.view import Flows

_ROUNDING = 1e-9


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
def _writes_past(flows: Flows, row: int) -> bool:
    """Whether all that an application writes passes straight: into a full part goes no more than leaves it."""
    return flows.blocked[row] == 1 and flows.reading[row] == 0  # type: ignore[no-any-return]


@inlined
def _difference(flows: Flows, rates: Floats, row: int) -> tuple[float, float]:
    """How fast bytes of a flow and its application cross the port if as much as can be passes straight; how often."""
    if _writes_past(flows, row):
        return 0.0, 0.0
    if flows.beside[row] > 0.0:
        return abs(flows.beside[row] - rates[row]), 1.0
    return rates[row], float(flows.crossing[row])


@inlined
def left_beside_straight(flows: Flows, rates: Floats, level: float = np.inf) -> float:
    """What is left of the port if as much as can be passes straight, and nothing else is faster than `level`.

    Below 0: nothing, and some is missing.
    """
    left = flows.port_limit
    if left < np.inf:
        for row in range(rates.size):
            rate, times = _difference(flows, rates, row)
            left -= times * min(rate, level)
    return left


@inlined
def _level_beside_straight(flows: Flows, rates: Floats) -> float:
    """How fast the fastest may cross then; infinity if there is room for all, but for rounding."""
    if left_beside_straight(flows, rates) >= -_ROUNDING * flows.port_limit:
        return np.inf
    level = 0.0
    while True:
        slope, following = 0.0, np.inf
        for row in range(rates.size):
            rate, times = _difference(flows, rates, row)
            if times > 0.0 and rate > level:
                slope += times
                following = min(following, rate)
        left = left_beside_straight(flows, rates, level)
        if slope == 0.0 or left <= slope * (following - level):
            return level + max(0.0, left) / max(slope, 1.0)
        level = following


@inlined
def more_beside_straight(flows: Flows, rates: Floats, row: int, left: float) -> float:
    """How much faster a flow can be with what is left of the port: as fast as its application it costs nothing."""
    if left == np.inf or _writes_past(flows, row):
        return np.inf
    if flows.beside[row] > 0.0:
        free = max(0.0, flows.beside[row] - rates[row])
        return free + max(0.0, left + free)  # type: ignore[no-any-return]
    return max(0.0, left) / flows.crossing[row] if flows.crossing[row] > 0 else np.inf


@inlined
def fit_port_straight(flows: Flows, rates: Floats) -> None:
    """The same as `fit_port`, if as much as can be passes straight."""
    if flows.port_limit == np.inf:
        return
    level = _level_beside_straight(flows, rates)
    for row in range(rates.size):
        flows.beside_rate[row] = flows.beside[row]
        if _writes_past(flows, row):
            continue
        if flows.beside[row] > 0.0:
            flows.beside_rate[row] = min(flows.beside[row], rates[row] + level)
            rates[row] = min(rates[row], flows.beside[row] + level)
        elif flows.crossing[row] > 0:
            rates[row] = min(rates[row], level)


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
