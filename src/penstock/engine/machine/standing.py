"""How far an application has come: what policies are told of it, whichever loop of the engine asks."""

from __future__ import annotations

import numpy as np

from penstock.engine.machine.buffer import writes
from penstock.engine.machine.network import IN, OUT
from penstock.engine.machine.pool import Pool
from penstock.engine.machine.state import FlowState
from penstock.engine.machine.whole import Machine
from penstock.kernels.arrays import SAME
from penstock.kernels.compile import inner


@inner
def remaining_now(flows: FlowState, flow: int, now: float) -> float:
    """Bytes that a flow still has to move."""
    return max(0.0, flows.remaining[flow] - flows.rate[flow] * (now - flows.updated[flow]))  # type: ignore[no-any-return]


@inner
def moved_now(machine: Machine, i: int, now: float) -> float:
    """Bytes that an application has moved of the operation under way."""
    network, jobs, apps, flows, pool = machine.network, machine.jobs, machine.apps, machine.flows, machine.pool
    if apps.under_way[i] == 0:
        return 0.0
    operation = apps.operation[i]
    if network.buffered[i] == 1:
        return jobs.volume[operation] - todo_now(pool, i, now)  # type: ignore[no-any-return]
    own = 4 * i + jobs.kind[operation]
    left = 0.0
    for flow in range(network.first[own], network.first[own + 1]):
        if flows.active[flow] == 1:
            left += remaining_now(flows, flow, now)
    return jobs.volume[operation] - left  # type: ignore[no-any-return]


@inner
def progress_now(machine: Machine, i: int, now: float) -> float:
    """Seconds of work and of I/O at full rate that it has behind it; after its end so many that its yield stays."""
    network, jobs, apps = machine.network, machine.jobs, machine.apps
    done = apps.done[i]
    if apps.operation[i] < 0:
        return done  # type: ignore[no-any-return]
    over = apps.completion[i] if np.isnan(apps.cut[i]) else apps.cut[i]
    if over <= now * (1.0 + SAME):
        age = over - jobs.release[i]
        return done * (now - jobs.release[i]) / age if age > 0.0 else done  # type: ignore[no-any-return]
    if over > now:  # its last compute is under way, and counted already
        return done - max(0.0, over - now)  # type: ignore[no-any-return]
    if apps.under_way[i] > 0:
        way = jobs.kind[apps.operation[i]]
        return done + moved_now(machine, i, now) / network.speed[i, way]  # type: ignore[no-any-return]
    return done + max(0.0, now - apps.since[i])  # type: ignore[no-any-return]


@inner
def todo_now(pool: Pool, i: int, now: float) -> float:
    """Bytes of its operation that an application behind a buffer has still to write, or to read."""
    return max(0.0, pool.todo[i] - (pool.write[i] + pool.read[i]) * (now - pool.updated[i]))  # type: ignore[no-any-return]


@inner
def _pooled_now(machine: Machine, i: int, kind: int, now: float) -> float:
    """Bytes that the flows of a kind behind a buffer have before them."""
    jobs, apps, pool = machine.jobs, machine.apps, machine.pool
    seconds = now - pool.updated[i]
    if kind == IN:
        return max(0.0, pool.ahead[i] - pool.fetch[i] * seconds)  # type: ignore[no-any-return]
    left = todo_now(pool, i, now) if apps.under_way[i] > 0 else 0.0
    if kind != OUT:
        return left
    held = max(0.0, pool.out[i] + (pool.write[i] - pool.drain[i]) * seconds)
    return held + (left if writes(jobs, apps, i) else 0.0)  # type: ignore[no-any-return]


@inner
def time_left(machine: Machine, i: int, kind: int, now: float) -> float:
    """Seconds until the flows of a kind would all be over if the application were alone."""
    network, flows = machine.network, machine.flows
    own = 4 * i + kind
    if network.buffered[i] == 1:
        weights = network.weight[network.first[own]]
        if kind in (OUT, IN):
            for flow in range(network.first[own] + 1, network.first[own + 1]):
                weights += network.weight[flow]
        return _pooled_now(machine, i, kind, now) / weights  # type: ignore[no-any-return]
    longest = 0.0
    for flow in range(network.first[own], network.first[own + 1]):
        if flows.active[flow] == 1:
            longest = max(longest, remaining_now(flows, flow, now) / network.weight[flow])
    return longest
