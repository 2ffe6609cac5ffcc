"""What happens to one application in the loop: a release, a posting, the end of a flow or an operation, its own end."""

from __future__ import annotations

import numpy as np

from penstock.engine.machine.buffer import bring_pool, refresh, snap
from penstock.engine.machine.motion import close_flow, open_flow, soil, touch
from penstock.engine.machine.network import IN, OUT
from penstock.engine.machine.pool import STALE
from penstock.engine.machine.state import EVENTS, LEFT, WAITING
from penstock.engine.machine.whole import Machine
from penstock.kernels.arrays import SAME
from penstock.kernels.compile import inner
from penstock.kernels.heap import pop, push


@inner
def _post_behind(machine: Machine, i: int, now: float) -> None:
    """Start an operation behind the buffer; with a read, the input of the next one may be fetched."""
    jobs, apps, pool, clock = machine.jobs, machine.apps, machine.pool, machine.clock
    operation = apps.operation[i]
    bring_pool(pool, i, now)
    apps.under_way[i] = 1
    apps.posted[4 * i + jobs.kind[operation] + 2] = now
    pool.todo[i] = jobs.volume[operation]
    if jobs.kind[operation] == IN:
        if pool.ahead[i] <= 0.0:
            apps.posted[4 * i + IN] = now
        following = operation + 1
        while following < jobs.first[i + 1] and jobs.kind[following] != IN:
            following += 1
        if following < jobs.first[i + 1]:
            pool.ahead[i] += jobs.volume[following]
    refresh(machine, i, now)
    touch(apps, clock, i)
    clock.counts[EVENTS] += 1


@inner
def _leave(machine: Machine, i: int, now: float) -> None:
    """An application with a part has ended: what it has written drains, what was fetched for it is dropped.

    By itself that is no reason to decide anew: the end of a last compute is no event.
    """
    apps, pool, clock = machine.apps, machine.pool, machine.clock
    bring_pool(pool, i, now)
    pool.over[i] = 1
    pool.input[i] = pool.ahead[i] = pool.todo[i] = 0.0
    pool.write[i] = pool.read[i] = pool.fetch[i] = 0.0
    pool.full[i] = 0
    pool.who[STALE] = 1
    touch(apps, clock, i)


@inner
def _post(machine: Machine, i: int, now: float) -> None:
    """Start the flows of an operation."""
    network, jobs, apps, clock = machine.network, machine.jobs, machine.apps, machine.clock
    operation = apps.operation[i]
    own = 4 * i + jobs.kind[operation]
    start, stop = network.first[own], network.first[own + 1]
    apps.since[i] = now
    if network.buffered[i] == 1:
        _post_behind(machine, i, now)
        return
    apps.posted[own] = now
    apps.under_way[i] = stop - start
    for flow in range(start, stop):
        open_flow(machine, flow, jobs.volume[operation] / (stop - start), now)
    touch(apps, clock, i)
    clock.counts[EVENTS] += 1


@inner
def _enter(machine: Machine, i: int, operation: int, now: float) -> None:
    """Start what leads to `operation`: its compute, the operation itself if there is none, or the tail."""
    network, jobs, apps, clock = machine.network, machine.jobs, machine.apps, machine.clock
    apps.operation[i] = operation
    apps.since[i] = now
    if operation == jobs.first[i + 1]:
        end = now + jobs.tail[i]
        last = min(jobs.end, jobs.deadline[i])
        if jobs.endless[i] == 0 and end <= last * (1.0 + SAME):
            end = min(end, last)
            apps.completion[i] = end
            apps.compute_done[i] += jobs.tail[i]
            apps.done[i] += jobs.tail[i]
            clock.counts[LEFT] -= 1
            if network.buffered[i] == 1:
                if end <= now * (1.0 + SAME):
                    _leave(machine, i, now)
                else:
                    m = apps.operation.size
                    push(clock.heap_time, clock.heap_application, clock.counts[WAITING], end, 3 * m + i)
                    clock.counts[WAITING] += 1
    elif jobs.work[operation] > SAME * now:
        push(clock.heap_time, clock.heap_application, clock.counts[WAITING], now + jobs.work[operation], i)
        clock.counts[WAITING] += 1
    else:
        apps.compute_done[i] += jobs.work[operation]
        apps.done[i] += jobs.work[operation]
        _post(machine, i, now)


@inner
def _end_operation(machine: Machine, i: int, now: float) -> None:
    """The last flow of an operation is over: credit it exactly and go on to what follows."""
    network, jobs, apps = machine.network, machine.jobs, machine.apps
    operation = apps.operation[i]
    seconds = jobs.volume[operation] / network.speed[i, jobs.kind[operation]]
    apps.transferred[i] += jobs.volume[operation]
    apps.done[i] += seconds
    if operation > jobs.first[i] or jobs.work[operation] > 0.0:
        apps.iterations[i] += 1.0
        apps.iteration_seconds[i] += jobs.work[operation] + seconds
    _enter(machine, i, operation + 1, now)


@inner
def _settle_pool(machine: Machine, i: int, now: float) -> None:
    """Something happens to an application behind the buffer: it is full, empty, or an operation is over."""
    jobs, apps, pool, clock = machine.jobs, machine.apps, machine.pool, machine.clock
    bring_pool(pool, i, now)
    clock.counts[EVENTS] += 1
    over = apps.under_way[i] > 0 and pool.todo[i] <= (pool.write[i] + pool.read[i]) * SAME * now
    if over and jobs.kind[apps.operation[i]] == OUT and pool.out[i] > 0.0:
        # Rounding must leave no bytes that were never there, nor take any away.
        pool.out[i] = max(0.0, pool.out[i] + pool.todo[i])
    snap(pool, i, now)
    if over:
        pool.todo[i] = 0.0
        apps.under_way[i] = 0
        pool.write[i] = pool.read[i] = 0.0
        _end_operation(machine, i, now)
    refresh(machine, i, now)


@inner
def flows_over(machine: Machine, i: int, now: float) -> None:
    """End the flows of an application that are over, and its operation with the last."""
    network, jobs, apps, flows, clock = machine.network, machine.jobs, machine.apps, machine.flows, machine.clock
    touch(apps, clock, i)
    if network.buffered[i] == 1:
        _settle_pool(machine, i, now)
        return
    own = 4 * i + jobs.kind[apps.operation[i]]
    nearly = SAME * now
    for flow in range(network.first[own], network.first[own + 1]):
        if flows.active[flow] == 1:
            left = flows.remaining[flow] - flows.rate[flow] * (now - flows.updated[flow])
            if left <= flows.rate[flow] * nearly:
                close_flow(machine, flow, now)
                flows.carried[flow] += flows.remaining[flow]
                flows.remaining[flow] = 0.0
                apps.under_way[i] -= 1
                clock.counts[EVENTS] += 1
    if apps.under_way[i] == 0:
        _end_operation(machine, i, now)


@inner
def _cut_off(machine: Machine, i: int, now: float) -> None:
    """Its walltime is over; nothing happens if its end is known. What has been moved is moved."""
    network, jobs, apps = machine.network, machine.jobs, machine.apps
    flows, pool, clock = machine.flows, machine.pool, machine.clock
    if not np.isnan(apps.completion[i]):
        return
    _stir(machine, i)
    apps.cut[i] = now
    clock.counts[LEFT] -= 1
    operation = apps.operation[i]
    if network.buffered[i] == 1 and apps.under_way[i] > 0:
        bring_pool(pool, i, now)
        moved = jobs.volume[operation] - max(0.0, pool.todo[i])
        apps.transferred[i] += moved
        apps.done[i] += moved / network.speed[i, jobs.kind[operation]]
        apps.under_way[i] = 0
    elif apps.under_way[i] > 0:
        own = 4 * i + jobs.kind[operation]
        left = 0.0
        for flow in range(network.first[own], network.first[own + 1]):
            if flows.active[flow] == 1:
                close_flow(machine, flow, now)
                left += max(0.0, flows.remaining[flow])
        moved = jobs.volume[operation] - left
        apps.transferred[i] += moved
        apps.done[i] += moved / network.speed[i, jobs.kind[operation]]
        apps.under_way[i] = 0
    elif operation >= 0:
        apps.compute_done[i] += now - apps.since[i]
        apps.done[i] += now - apps.since[i]
    touch(apps, clock, i)
    if network.buffered[i] == 1:
        _leave(machine, i, now)
        refresh(machine, i, now)


@inner
def wake(machine: Machine, now: float) -> None:
    """Take the first of the heap: a release, a compute that leads to an operation, or the end of a walltime."""
    jobs, apps, pool, clock = machine.jobs, machine.apps, machine.pool, machine.clock
    i = clock.heap_application[0]
    pop(clock.heap_time, clock.heap_application, clock.counts[WAITING])
    clock.counts[WAITING] -= 1
    m = apps.operation.size
    if i >= 3 * m:
        _leave(machine, i - 3 * m, now)
        return
    if i >= 2 * m:
        pool.who[STALE] = 1
        clock.counts[EVENTS] += 1
        touch(apps, clock, i - 2 * m)
        return
    if i >= m:
        _cut_off(machine, i - m, now)
        return
    if not np.isnan(apps.cut[i]):
        return
    operation = apps.operation[i]
    if operation < 0:
        clock.counts[EVENTS] += 1
        _stir(machine, i)
        _enter(machine, i, jobs.first[i], now)
    else:
        apps.compute_done[i] += jobs.work[operation]
        apps.done[i] += jobs.work[operation]
        _post(machine, i, now)


@inner
def _stir(machine: Machine, i: int) -> None:
    """A release is an event, even one that starts with compute, and a cut: policies that go by the time decide."""
    rules = machine.rules
    group = rules.own_part[i]
    if group >= 0 and rules.restless[group] == 1:
        soil_part(machine, group)


@inner
def soil_part(machine: Machine, group: int) -> None:
    """All of a part decides."""
    rules, flows, clock, desk = machine.rules, machine.flows, machine.clock, machine.desk
    for place in range(rules.part_first[group], rules.part_first[group + 1]):
        resource = rules.member[place]
        if flows.members[resource] > 0:
            soil(clock, desk, resource)
