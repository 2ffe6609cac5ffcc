"""What a full or an empty part of the buffer makes of a decision of the loop (models §9).

If a part is full and is written faster than it drains, or it is empty and drains faster than it is written, what is
written passes *through*: there is no flow into the buffer, the drains cross its port twice, and it is written as fast
as it drains. Into a full part no more is fetched than leaves it. A decision starts with nobody through and no fetch
slowed down; all that cannot be with the rates it finds is added, and it is made again, until nothing is left to add.

What leaves a full part depends on what is fetched for it, where both share a resource: the pace at which they are equal
is found by asking again. The lower the fetches, the more drains as a rule, so it lies between two paces that are known.
Where a policy changes its mind at some pace, so that none is just right, it is the highest that is not too high.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.machine.buffer import ROUNDING, bring_pool, growth_of, sum_of
from penstock.engine.machine.network import GET, IN, OUT, PUT, Network
from penstock.engine.machine.pool import AT_HIGH, AT_LOW, GROWER, HIGH, LOW, SOLVING, STEPS, Pool
from penstock.engine.machine.state import FlowState
from penstock.engine.machine.whole import Machine
from penstock.kernels.arrays import SAME
from penstock.kernels.compile import inner


@inner
def start_over(machine: Machine, size: int, now: float) -> None:
    """Before a decision nobody passes through, and nobody fetches more slowly than it could."""
    network, apps, flows, pool, desk = machine.network, machine.apps, machine.flows, machine.pool, machine.desk
    pool.who[SOLVING] = -1
    for place in range(size):
        flow = desk.flows[place]
        k, kind = network.owner[flow], network.kind[flow]
        if network.buffered[k] == 0:
            continue
        if kind == OUT:
            bring_pool(pool, k, now)
            # Since when there is output to drain; while there is none, since it was to be written.
            apps.posted[4 * k + OUT] = pool.since[k] if pool.out[k] > 0.0 else apps.since[k]
            _cross_port(network, flows, flow, 1.0)
        elif kind == IN:
            bring_pool(pool, k, now)
            pool.most[k] = np.inf
            pool.pinned[k] = 0
            flows.peak[flow] = network.peak[flow]
        elif kind == PUT:
            pool.passing[k] = 0
            flows.peak[flow] = network.peak[flow]


@inner
def _cross_port(network: Network, flows: FlowState, flow: int, times: float) -> None:
    """How often the bytes of a flow cross the port of the buffer."""
    for edge in range(network.path[flow], network.path[flow + 1]):
        if network.resource[edge] == network.port:
            flows.use[edge] = times


@inner
def _pass_through(machine: Machine, k: int) -> None:
    """What an application writes passes through; into a part that grows, as well what those that have ended drain."""
    network, flows, pool = machine.network, machine.flows, machine.pool
    pool.passing[k] = 1
    flows.peak[network.first[4 * k + PUT]] = 0.0
    grows = pool.full[k] == 1 and pool.who[GROWER] == k
    for j in range(pool.over.size if grows else 0):
        if pool.over[j] == 1:
            _cross_port_twice(machine, j)
    _cross_port_twice(machine, k)


@inner
def _cross_port_twice(machine: Machine, k: int) -> None:
    """What drains of an application is written at the same time."""
    network, flows = machine.network, machine.flows
    for flow in range(network.first[4 * k + OUT], network.first[4 * k + OUT + 1]):
        _cross_port(network, flows, flow, 2.0)


@inner
def _leaving(machine: Machine, k: int) -> float:
    """How fast a part gets room by what drains, what is read, and its own growth."""
    network, flows, pool, desk = machine.network, machine.flows, machine.pool, machine.desk
    read = desk.given[network.first[4 * k + GET]] if flows.active[network.first[4 * k + GET]] == 1 else 0.0
    return sum_of(network, flows, desk.given, k, OUT) + read + growth_of(pool, k)


@inner
def _limit_fetches(machine: Machine, k: int, most: float) -> None:
    """Let no more be fetched for a part."""
    network, flows, pool = machine.network, machine.flows, machine.pool
    pool.most[k] = most
    own = 4 * k + IN
    weights = 0.0
    for flow in range(network.first[own], network.first[own + 1]):
        weights += network.weight[flow]
    for flow in range(network.first[own], network.first[own + 1]):
        flows.peak[flow] = min(network.peak[flow], most * network.weight[flow] / weights)


@inner
def _astray(machine: Machine, k: int) -> int:
    """1: more is fetched for a full part than leaves it; -1: less, though it could be more; 0: all is well."""
    network, flows, pool, desk = machine.network, machine.flows, machine.pool, machine.desk
    fetched, leaving = sum_of(network, flows, desk.given, k, IN), _leaving(machine, k)
    least = ROUNDING * (fetched + leaving)
    if fetched > leaving + least:
        return 1
    most = pool.most[k]
    return -1 if most < leaving - least and fetched >= most * (1.0 - SAME) - least else 0


@inner
def _next_guess(pool: Pool, most: float, leaving: float, astray: int) -> float:
    """A pace that is nearer to that at which as much is fetched as leaves, by what the last one came to."""
    numbers = pool.numbers
    if astray > 0:
        numbers[HIGH], numbers[AT_HIGH] = most, leaving
    else:
        numbers[LOW], numbers[AT_LOW] = most, leaving
    low, high = numbers[LOW], numbers[HIGH]
    pool.who[STEPS] += 1
    if high == np.inf or (numbers[AT_LOW] == np.inf and 0.0 <= leaving < high):
        return leaving
    if numbers[AT_LOW] == np.inf or pool.who[STEPS] % 4 == 0:
        return 0.5 * (low + high)  # type: ignore[no-any-return]
    over, under = numbers[AT_LOW] - low, high - numbers[AT_HIGH]
    return low + (high - low) * over / (over + under)  # type: ignore[no-any-return]


@inner
def _first_astray(machine: Machine, size: int) -> int:
    """The first slowed part for which not as much is fetched as leaves it; -1: there is none."""
    network, pool, desk = machine.network, machine.pool, machine.desk
    for place in range(size):
        flow = desk.flows[place]
        k = network.owner[flow]
        slowed = flow == network.first[4 * k + IN] and pool.most[k] < np.inf and pool.pinned[k] == 0
        if slowed and _astray(machine, k) != 0:
            return k  # type: ignore[no-any-return]
    return -1


@inner
def fit_fetches(machine: Machine, size: int) -> bool:
    """Let as much be fetched for each slowed part as leaves it, one after the other; whether to ask again."""
    network, flows, pool, desk = machine.network, machine.flows, machine.pool, machine.desk
    k = pool.who[SOLVING]
    if k < 0 or pool.pinned[k] == 1 or _astray(machine, k) == 0:
        k = pool.who[SOLVING] = _first_astray(machine, size)
        pool.numbers[LOW], pool.numbers[AT_LOW], pool.numbers[HIGH] = 0.0, np.inf, np.inf
        pool.who[STEPS] = 0
        if k < 0:
            return False
    leaving = _leaving(machine, k)
    astray = _astray(machine, k)
    most = min(pool.most[k], sum_of(network, flows, desk.given, k, IN)) if astray > 0 else pool.most[k]
    guess = _next_guess(pool, most, leaving, astray)
    low, high = pool.numbers[LOW], pool.numbers[HIGH]
    if high < np.inf and high - low <= ROUNDING * high:
        guess, pool.pinned[k] = low, 1
    _limit_fetches(machine, k, guess)
    return True


@inner
def hold_back(machine: Machine, size: int) -> bool:
    """Find whose bytes must pass through, or be fetched more slowly, with these rates; whether to ask again."""
    network, flows, pool, desk = machine.network, machine.flows, machine.pool, machine.desk
    again = False
    for place in range(size):
        flow = desk.flows[place]
        k, kind = network.owner[flow], network.kind[flow]
        if network.buffered[k] == 0:
            continue
        if kind == PUT and pool.passing[k] == 0:
            put, drain = desk.given[flow], sum_of(network, flows, desk.given, k, OUT)
            tight = pool.full[k] == 1 and put > (drain + growth_of(pool, k)) * (1.0 + SAME)
            if tight or (pool.out[k] <= 0.0 and drain > put * (1.0 + SAME)):
                _pass_through(machine, k)
                again = True
        elif kind == IN and flow == network.first[4 * k + IN] and pool.full[k] == 1 and pool.most[k] == np.inf:
            fetched, leaving = sum_of(network, flows, desk.given, k, IN), _leaving(machine, k)
            if fetched > leaving * (1.0 + SAME):
                _limit_fetches(machine, k, leaving)
                again = True
    return again
