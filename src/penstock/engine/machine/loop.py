"""The event loop of a whole machine.

Resources that are joined by the paths of applications are a *part*; a part decides at the events of its own
applications only. Inside a part, what no flow joins now is decided apart, and where no policy goes by the time, only
what an event has touched: elsewhere the same answers would be given again. Flows are brought up to date when their rate
changes; a tree knows which application has the next event. All that happens within 1e-9 of an instant, relative,
happens at it: first everything is applied, then everybody decides once.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.engine.link.loop import BUDGET_SPENT, DONE, MOST_IDLE, REFUSED, ROOM_SPENT, STALLED
from penstock.engine.machine.asking import MOST_POLICIES
from penstock.engine.machine.buffer import bring_pool, give_parts, grow, open_loose, set_paces, soil_paths, soonest_in
from penstock.engine.machine.deciding import MOST_PASSES, decide, gather, put_in_force
from penstock.engine.machine.levels import unchanged_below
from penstock.engine.machine.lives import flows_over, soil_part, wake
from penstock.engine.machine.motion import bring_up, touch
from penstock.engine.machine.pool import GROWER, HAVING, LOOSE, STALE
from penstock.engine.machine.state import DIRTY, IDLE, LEFT, NOW, SEGMENTS, TOUCHED, WAITING, WRONG
from penstock.engine.machine.whole import MACHINE, Machine
from penstock.kernels.arrays import SAME
from penstock.kernels.compile import inner, kernel
from penstock.kernels.tournament import are_many, first, put, put_one, settle
from penstock.policies.sharing.policy import Decide
from penstock.policies.sharing.rules import next_tick
from penstock.policies.sharing.view import POLICY


@inner
def _soonest(machine: Machine, i: int) -> float:
    """When something happens to an application, as things stand."""
    network, jobs, apps, flows, pool = machine.network, machine.jobs, machine.apps, machine.flows, machine.pool
    then = np.inf
    if network.buffered[i] == 1:
        return soonest_in(pool, i)
    if apps.under_way[i] > 0:
        own = 4 * i + jobs.kind[apps.operation[i]]
        for flow in range(network.first[own], network.first[own + 1]):
            if flows.active[flow] == 1 and flows.rate[flow] > 0.0:
                then = min(then, flows.updated[flow] + flows.remaining[flow] / flows.rate[flow])
    return then


@inner
def _rate_of(machine: Machine, i: int) -> float:
    """How fast an application moves bytes; below 0: it computes, or is not there."""
    network, jobs, apps, flows, pool = machine.network, machine.jobs, machine.apps, machine.flows, machine.pool
    if apps.under_way[i] == 0:
        return -1.0
    if network.buffered[i] == 1:
        return pool.write[i] + pool.read[i]  # type: ignore[no-any-return]
    in_all = 0.0
    own = 4 * i + jobs.kind[apps.operation[i]]
    for flow in range(network.first[own], network.first[own + 1]):
        in_all += flows.rate[flow] if flows.active[flow] == 1 else 0.0
    return in_all


@inner
def _record(machine: Machine, i: int, now: float) -> None:
    """Close a segment whose rate or operation has changed, and open the next."""
    apps, clock, segments = machine.apps, machine.clock, machine.segments
    rate = _rate_of(machine, i)
    posted = rate >= 0.0 and apps.since[i] == now
    if rate == apps.segment_rate[i] and not posted:
        return
    if apps.segment_rate[i] >= 0.0 and now > apps.segment_start[i]:
        slot = clock.counts[SEGMENTS]
        clock.counts[SEGMENTS] += 1
        segments.application[slot] = i
        going = rate >= 0.0 and not posted
        segments.operation[slot] = apps.operation[i] if going or not np.isnan(apps.cut[i]) else apps.operation[i] - 1
        segments.start[slot] = apps.segment_start[i]
        segments.stop[slot] = now
        segments.rate[slot] = apps.segment_rate[i]
    apps.segment_start[i] = now
    apps.segment_rate[i] = rate


@inner
def _pace(machine: Machine, now: float) -> None:
    """How fast those write, drain, fetch and read whose flows have changed; and who has a part that grows."""
    network, apps, pool, clock = machine.network, machine.apps, machine.pool, machine.clock
    for place in range(clock.counts[TOUCHED]):
        i = apps.touched[place]
        if network.buffered[i] == 1:
            bring_pool(pool, i, now)
            set_paces(machine, i)
    if grow(pool, now):
        k = pool.who[GROWER]
        touch(apps, clock, k)
        set_paces(machine, k)
        soil_paths(machine, k)


@inner
def _look_ahead(machine: Machine, now: float) -> None:
    """Find the next events of those whose rates have changed."""
    apps, clock, segments = machine.apps, machine.clock, machine.segments
    many = are_many(apps.tree, clock.counts[TOUCHED])
    for place in range(clock.counts[TOUCHED]):
        i = apps.touched[place]
        apps.is_touched[i] = 0
        put_one(apps.tree, i, _soonest(machine, i), many)
        if segments.start.size > 0:
            _record(machine, i, now)
    if many:
        settle(apps.tree)
    clock.counts[TOUCHED] = 0


@inner
def _decide_all(machine: Machine, policies: tuple[Decide, ...], now: float) -> int:
    """Everything that is to decide does so once; then it is known what comes next."""
    rules, pool, clock, desk = machine.rules, machine.pool, machine.clock, machine.desk
    if pool.who[STALE] == 1:
        give_parts(machine, now)
    if pool.who[LOOSE] > 0:
        open_loose(machine, now)
    again = 0
    while again == 0 or (clock.counts[DIRTY] > 0 and again < MOST_PASSES):
        again += 1
        place = 0
        while place < clock.counts[DIRTY]:  # a part that goes by the time may join while this runs
            group = rules.part[desk.waiting[place]]
            if rules.restless[group] == 1:
                soil_part(machine, group)
            place += 1
        waiting = clock.counts[DIRTY]
        clock.counts[DIRTY] = 0
        bar = unchanged_below(machine, waiting)
        for place in range(waiting):
            resource = desk.waiting[place]
            if desk.dirty_resource[resource] == 0:
                continue
            steady = rules.steady[rules.part[resource]] == 1
            resources, size = gather(machine, resource, bar if steady else 0.0)
            if size > 0:
                status = decide(machine, policies, resources, size, now)
                if status < 0:
                    clock.counts[WRONG] = -1 - status
                    return REFUSED
                put_in_force(machine, size, now)
        if pool.who[HAVING] > 0:
            _pace(machine, now)
    _look_ahead(machine, now)
    return DONE


@inner
def _next_tick(machine: Machine) -> float:
    """When a part wants to decide though nothing happens; only parts with flows."""
    rules, clock = machine.rules, machine.clock
    then = np.inf
    for group in range(rules.tick.shape[0]):
        for k in range(rules.tick.shape[1]):
            if rules.tick[group, k] < np.inf:
                then = min(then, clock.tick[group, k] * rules.tick[group, k])
    return then


@inner
def _pass_ticks(machine: Machine, now: float) -> None:
    rules, clock = machine.rules, machine.clock
    for group in range(rules.tick.shape[0]):
        for k in range(rules.tick.shape[1]):
            tick = rules.tick[group, k]
            if tick < np.inf and clock.tick[group, k] * tick <= now * (1.0 + SAME):
                clock.tick[group, k] = next_tick(now, tick)
                soil_part(machine, group)


@inner
def _finish(machine: Machine, now: float) -> None:
    """Bring everything up to the end of the run."""
    flows, pool = machine.flows, machine.pool
    for k in range(pool.whole.size):
        bring_pool(pool, k, now)
    for flow in range(flows.active.size):
        if flows.active[flow] == 1:
            bring_up(flows, flow, now)
    for resource in range(flows.busy.size):
        if flows.moving[resource] > 0:
            flows.busy[resource] += now - flows.busy_since[resource]
            flows.busy_since[resource] = now


@kernel(types.int64(MACHINE, *[POLICY] * MOST_POLICIES, types.int64), no_cfunc_wrapper=True)
def run_machine(
    machine: Machine, one: Decide, two: Decide, three: Decide, four: Decide, five: Decide, six: Decide, budget: int
) -> int:
    """Go on until the end, until `budget` instants have passed, or the room for segments is used up."""
    policies = (one, two, three, four, five, six)
    jobs, apps, clock, segments = machine.jobs, machine.apps, machine.clock, machine.segments
    now = clock.time[NOW]
    ticking = _next_tick(machine) < np.inf
    while budget > 0:
        if segments.start.size > 0 and clock.counts[SEGMENTS] + apps.operation.size > segments.start.size:
            return ROOM_SPENT
        if _decide_all(machine, policies, now) == REFUSED:
            return REFUSED
        then = apps.tree[1]
        if clock.counts[WAITING] > 0:
            then = min(then, clock.heap_time[0])
        if clock.counts[LEFT] == 0 and apps.tree[1] == np.inf and jobs.end == np.inf:
            _finish(machine, now)
            return DONE
        if then == np.inf and jobs.end == np.inf:
            # Nothing will happen but ticks. A policy may have its reasons to wait, but not for ever.
            clock.counts[IDLE] += 1
            if not ticking or clock.counts[IDLE] > MOST_IDLE:
                return STALLED
        if ticking:
            then = min(then, _next_tick(machine))
        over = then * (1.0 + SAME) >= jobs.end
        now = jobs.end if over else max(now, then)
        clock.time[NOW] = now
        nearly = now + SAME * now
        while apps.tree[1] <= nearly:
            i = first(apps.tree)
            put(apps.tree, i, np.inf)
            flows_over(machine, i, now)
        while clock.counts[WAITING] > 0 and clock.heap_time[0] <= nearly:
            wake(machine, now)
        if over:
            _finish(machine, now)
            return DONE
        if ticking:
            _pass_ticks(machine, now)
        budget -= 1
    return BUDGET_SPENT
