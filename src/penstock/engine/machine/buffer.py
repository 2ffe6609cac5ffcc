"""Applications behind a burst buffer in the loop: what they hold there, how fast they move bytes, who has which part.

An application with a part writes by a flow into the buffer and drains by its flows to the file system; both draw on one
pool. Input is fetched ahead, up to the end of the first read that has not started, and read by a flow out of the
buffer; who reads and has no input there fetches straight past it. Parts are those of models §8: given at the entry as
far as there is room, growing as those that have ended drain. What a full or an empty part makes of a decision is in
`through`.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.machine.motion import close_flow, open_flow, soil
from penstock.engine.machine.network import GET, IN, OUT, PUT, Network
from penstock.engine.machine.pool import DEVICE, GROWER, GROWTH, LOOSE, STALE, Pool
from penstock.engine.machine.state import DIRTY, AppState, FlowState, Jobs
from penstock.engine.machine.whole import Machine
from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import inner

ROUNDING = 1e-12  # of its part: who holds so little holds nothing; of a pace: what differs by so little is the same


@inner
def writes(jobs: Jobs, apps: AppState, k: int) -> bool:
    """Whether it has a write under way."""
    return apps.under_way[k] > 0 and jobs.kind[apps.operation[k]] == OUT  # type: ignore[no-any-return]


@inner
def reads(jobs: Jobs, apps: AppState, k: int) -> bool:
    """Whether it has a read under way."""
    return apps.under_way[k] > 0 and jobs.kind[apps.operation[k]] == IN  # type: ignore[no-any-return]


@inner
def bring_pool(pool: Pool, k: int, now: float) -> None:
    """Let bytes flow up to now."""
    seconds = now - pool.updated[k]
    if seconds <= 0.0:
        return
    if pool.out[k] <= 0.0 and pool.write[k] > pool.drain[k]:
        pool.since[k] = pool.updated[k]
    pool.updated[k] = now
    pool.out[k] = max(0.0, pool.out[k] + (pool.write[k] - pool.drain[k]) * seconds)
    pool.input[k] = max(0.0, pool.input[k] + (pool.fetch[k] - pool.read[k]) * seconds)
    pool.todo[k] -= (pool.write[k] + pool.read[k]) * seconds
    pool.ahead[k] -= pool.fetch[k] * seconds
    if pool.who[GROWER] == k:
        pool.space[k] = min(pool.whole[k], pool.space[k] + pool.numbers[GROWTH] * seconds)


@inner
def _set_flows(machine: Machine, first: int, last: int, there: bool, now: float) -> None:
    """Open or close the flows `first : last`."""
    flows = machine.flows
    for flow in range(first, last):
        if there and flows.active[flow] == 0:
            open_flow(machine, flow, 0.0, now)
        elif not there and flows.active[flow] == 1:
            close_flow(machine, flow, now)


@inner
def _writes_past(machine: Machine, k: int) -> bool:
    """Whether it has no room in the buffer, nor gets some: what it writes does not cross the port, if there is one."""
    pool = machine.pool
    return machine.network.port >= 0 and pool.space[k] <= 0.0 and pool.who[GROWER] != k


@inner
def refresh(machine: Machine, k: int, now: float) -> None:
    """Let those flows be there that an application asks for as it stands; what they cross decides anew."""
    network, jobs, apps, pool = machine.network, machine.jobs, machine.apps, machine.pool
    writing, reading = writes(jobs, apps, k), reads(jobs, apps, k)
    past, straight = writing and _writes_past(machine, k), reading and pool.input[k] <= 0.0
    drains = (writing and not past) or pool.out[k] > 0.0
    fits = reading or pool.full[k] == 0 or (not writing and (drains or pool.who[GROWER] == k))
    fetches = pool.entered[k] == 1 and pool.over[k] == 0 and pool.ahead[k] > 0.0 and fits
    first = network.first[4 * k : 4 * k + 5]
    put, get = first[PUT] + 1, first[GET] + 1
    _set_flows(machine, first[OUT], first[IN], drains, now)
    _set_flows(machine, first[IN], first[PUT], fetches and not straight, now)
    _set_flows(machine, first[PUT], put, writing and not past, now)
    _set_flows(machine, put, first[GET], past, now)
    _set_flows(machine, first[GET], get, reading and not straight, now)
    _set_flows(machine, get, first[GET + 1], straight, now)
    soil_paths(machine, k)


@inner
def soil_paths(machine: Machine, k: int) -> None:
    """All that an application's flows cross decides anew, where what it holds in the buffer makes a difference."""
    network, rules, flows, clock, desk = machine.network, machine.rules, machine.flows, machine.clock, machine.desk
    if rules.own_part[k] < 0 or rules.heeding[rules.own_part[k]] == 0:
        return
    for flow in range(network.first[4 * k], network.first[4 * k + 4]):
        if flows.active[flow] == 1:
            for edge in range(network.path[flow], network.path[flow + 1]):
                soil(clock, desk, network.resource[edge])


@inner
def sum_of(network: Network, flows: FlowState, rates: Floats, k: int, kind: int) -> float:
    """What the flows of a kind are together; what is fetched straight to a reader is its own GET."""
    in_all = 0.0
    own = 4 * k + kind
    for flow in range(network.first[own], network.first[own + 1]):
        if flows.active[flow] == 1:
            in_all += rates[flow]
    return in_all


@inner
def growth_of(pool: Pool, k: int) -> float:
    """How fast its part grows."""
    return pool.numbers[GROWTH] if pool.who[GROWER] == k else 0.0


@inner
def set_paces(machine: Machine, k: int) -> None:
    """How fast it writes, drains, fetches and reads, with its flows as they are now."""
    network, jobs, apps, flows, pool = machine.network, machine.jobs, machine.apps, machine.flows, machine.pool
    drain, fetch = sum_of(network, flows, flows.rate, k, OUT), sum_of(network, flows, flows.rate, k, IN)
    write = read = 0.0
    grown = growth_of(pool, k)
    if writes(jobs, apps, k):
        most = network.peak[network.first[4 * k + PUT]]
        write = sum_of(network, flows, flows.rate, k, PUT)
        if _writes_past(machine, k):
            drain = write
        elif pool.passing[k] == 1:
            write = min(most, drain + (grown if pool.full[k] == 1 else 0.0))
        elif pool.full[k] == 1:
            write = min(write, drain + grown)
        if abs(write - drain) <= ROUNDING * write:  # an empty part stays so
            drain = write
    elif reads(jobs, apps, k):
        read = sum_of(network, flows, flows.rate, k, GET)
        if pool.input[k] <= 0.0:
            fetch = read
    pool.drain[k], pool.fetch[k], pool.write[k], pool.read[k] = drain, fetch, write, read
    if pool.full[k] == 1:
        _ease(machine, k, grown)


@inner
def _ease(machine: Machine, k: int, grown: float) -> None:
    """Whether a full part stays so with these paces; one for which as much is fetched as leaves it does."""
    jobs, apps, pool = machine.jobs, machine.apps, machine.pool
    room = pool.drain[k] + pool.read[k] + grown - pool.write[k] - pool.fetch[k]
    largest = max(pool.write[k], pool.drain[k], pool.fetch[k], pool.read[k])
    if pool.most[k] < np.inf and abs(room) <= SAME * largest:
        pool.fetch[k] = max(0.0, pool.fetch[k] + room)
    elif room > ROUNDING * largest:
        pool.full[k] = 0
        if pool.ahead[k] > 0.0 and writes(jobs, apps, k) and pool.loose[k] == 0:
            pool.loose[k] = 1
            pool.who[LOOSE] += 1


@inner
def soonest_in(pool: Pool, k: int) -> float:
    """When something happens to what an application holds, as things stand."""
    then = np.inf
    moving = pool.write[k] + pool.read[k]
    if moving > 0.0:
        then = max(0.0, pool.todo[k]) / moving
    shrinking = pool.drain[k] - pool.write[k]
    if shrinking > 0.0 and pool.out[k] > 0.0:
        then = min(then, pool.out[k] / shrinking)
    shrinking = pool.read[k] - pool.fetch[k]
    if shrinking > 0.0 and pool.input[k] > 0.0:
        then = min(then, pool.input[k] / shrinking)
    if pool.fetch[k] > 0.0 and pool.ahead[k] > 0.0:
        then = min(then, pool.ahead[k] / pool.fetch[k])
    filling = pool.write[k] - pool.drain[k] + pool.fetch[k] - pool.read[k] - growth_of(pool, k)
    if pool.full[k] == 0 and filling > 0.0 and pool.over[k] == 0:
        then = min(then, max(0.0, pool.space[k] - pool.out[k] - pool.input[k]) / filling)
    if growth_of(pool, k) > 0.0:
        then = min(then, max(0.0, pool.whole[k] - pool.space[k]) / pool.numbers[GROWTH])
    return pool.updated[k] + then  # type: ignore[no-any-return]


@inner
def snap(pool: Pool, k: int, now: float) -> None:
    """What is empty or full but for rounding, or will be within an instant, is so now."""
    nearly = SAME * now
    rounding = ROUNDING * pool.whole[k]
    if pool.out[k] <= max(0.0, pool.drain[k] - pool.write[k]) * nearly + rounding:
        pool.out[k] = 0.0
    if pool.input[k] <= max(0.0, pool.read[k] - pool.fetch[k]) * nearly + rounding:
        pool.input[k] = 0.0
    if pool.ahead[k] <= pool.fetch[k] * nearly:
        pool.ahead[k] = 0.0
    filling = pool.write[k] - pool.drain[k] + pool.fetch[k] - pool.read[k] - growth_of(pool, k)
    if pool.over[k] == 0 and pool.space[k] - pool.out[k] - pool.input[k] <= max(0.0, filling) * nearly + rounding:
        pool.full[k] = 1
    if growth_of(pool, k) > 0.0 and pool.whole[k] - pool.space[k] <= pool.numbers[GROWTH] * nearly + rounding:
        pool.space[k] = pool.whole[k]
        pool.who[STALE] = 1


@inner
def _free(pool: Pool) -> float:
    """What is nobody's: the parts of those that run, and the bytes of those that have ended, are somebody's."""
    free = pool.numbers[DEVICE]
    for k in range(pool.whole.size):
        if pool.entered[k] == 1:
            free -= min(pool.space[k], pool.out[k]) if pool.over[k] == 1 else pool.space[k]
    return max(0.0, free)  # type: ignore[no-any-return]


@inner
def _give(pool: Pool, k: int, free: float) -> float:
    """Let it have what it lacks, or what there is, if that is more than rounding; what is left."""
    nothing = SAME * pool.numbers[DEVICE]
    given = pool.whole[k] - pool.space[k]
    if given <= free + nothing:
        pool.space[k] = pool.whole[k]
    else:
        given = free if free > nothing else 0.0
        pool.space[k] += given
    if pool.space[k] - pool.out[k] - pool.input[k] > nothing:
        pool.full[k] = 0
    return max(0.0, free - given)  # type: ignore[no-any-return]


@inner
def give_parts(machine: Machine, now: float) -> None:
    """Hand out what is free at this instant: to those that have waited longest, then to newcomers in scenario order."""
    apps, pool = machine.apps, machine.pool
    pool.who[STALE] = 0
    m = pool.whole.size
    for k in range(m):
        bring_pool(pool, k, now)
    pool.who[GROWER] = -1
    pool.numbers[GROWTH] = 0.0
    free = _free(pool)
    for place in range(m):
        k = pool.order[place]
        if pool.entered[k] == 1 and pool.over[k] == 0 and pool.space[k] < pool.whole[k]:
            free = _give(pool, k, free)
            refresh(machine, k, now)
    nearly = now * (1.0 + SAME)
    for k in range(m):
        if pool.entered[k] == 0 and pool.over[k] == 0 and pool.whole[k] > 0.0 and pool.entry[k] <= nearly:
            pool.entered[k] = 1
            free = _give(pool, k, free)
            pool.full[k] = int(pool.space[k] <= SAME * pool.numbers[DEVICE])
            apps.posted[4 * k + IN] = now
            refresh(machine, k, now)
    for place in range(m):
        k = pool.order[place]
        lacks = pool.entered[k] == 1 and pool.over[k] == 0 and pool.space[k] < pool.whole[k]
        if lacks and pool.who[GROWER] < 0:
            pool.who[GROWER] = k
            refresh(machine, k, now)


@inner
def open_loose(machine: Machine, now: float) -> None:
    """Those whose parts are no longer full fetch again, where something is decided anyway."""
    rules, pool, clock, desk = machine.rules, machine.pool, machine.clock, machine.desk
    for k in range(pool.whole.size):
        if pool.loose[k] == 0:
            continue
        for place in range(clock.counts[DIRTY]):
            if rules.part[desk.waiting[place]] == rules.own_part[k]:
                pool.loose[k] = 0
                pool.who[LOOSE] -= 1
                bring_pool(pool, k, now)
                refresh(machine, k, now)
                break


@inner
def grow(pool: Pool, now: float) -> bool:
    """How fast the part of the first who lacks some grows: as those that have ended drain. Whether that changed."""
    if pool.who[GROWER] < 0:
        return False
    freed = 0.0
    for k in range(pool.whole.size):
        if pool.over[k] == 1:
            freed += pool.drain[k]
    if freed == pool.numbers[GROWTH]:
        return False
    bring_pool(pool, pool.who[GROWER], now)
    pool.numbers[GROWTH] = freed
    return True
