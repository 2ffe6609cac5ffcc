"""Flows come, move and go: the bookkeeping around every change of a rate."""

from __future__ import annotations

import numpy as np

from penstock.engine.machine.network import Network
from penstock.engine.machine.state import DIRTY, TOUCHED, AppState, Clock, Desk, FlowState
from penstock.engine.machine.whole import Machine
from penstock.kernels.compile import inner


@inner
def touch(apps: AppState, clock: Clock, i: int) -> None:
    """When something happens to this application next must be found anew."""
    if apps.is_touched[i] == 0:
        apps.is_touched[i] = 1
        apps.touched[clock.counts[TOUCHED]] = i
        clock.counts[TOUCHED] += 1


@inner
def soil(clock: Clock, desk: Desk, resource: int) -> None:
    """Note that a resource must decide anew."""
    desk.bottom[resource] = -1.0
    if desk.dirty_resource[resource] == 0:
        desk.dirty_resource[resource] = 1
        desk.waiting[clock.counts[DIRTY]] = resource
        clock.counts[DIRTY] += 1


@inner
def bring_up(flows: FlowState, flow: int, now: float) -> None:
    """Let a flow move its bytes up to now."""
    moved = flows.rate[flow] * (now - flows.updated[flow])
    flows.remaining[flow] -= moved
    flows.carried[flow] += moved
    flows.updated[flow] = now


@inner
def set_rate(network: Network, flows: FlowState, flow: int, rate: float, now: float) -> None:
    """From now on a flow has this rate."""
    bring_up(flows, flow, now)
    was, will = flows.rate[flow] > 0.0, rate > 0.0
    flows.rate[flow] = rate
    if was != will:
        for edge in range(network.path[flow], network.path[flow + 1]):
            resource = network.resource[edge]
            if will:
                if flows.moving[resource] == 0:
                    flows.busy_since[resource] = now
                flows.moving[resource] += 1
            else:
                flows.moving[resource] -= 1
                if flows.moving[resource] == 0:
                    flows.busy[resource] += now - flows.busy_since[resource]


@inner
def open_flow(machine: Machine, flow: int, volume: float, now: float) -> None:
    """A flow is there; without anything on its path it has its peak at once."""
    network, flows, clock, desk = machine.network, machine.flows, machine.clock, machine.desk
    flows.active[flow] = 1
    flows.remaining[flow] = volume
    flows.updated[flow] = now
    desk.stop[flow] = np.inf
    for edge in range(network.path[flow], network.path[flow + 1]):
        resource = network.resource[edge]
        slot = network.room[resource] + flows.members[resource]
        flows.members[resource] += 1
        flows.member[slot] = edge
        flows.slot[edge] = slot
        soil(clock, desk, resource)
    if network.path[flow] == network.path[flow + 1]:
        flows.rate[flow] = desk.given[flow] = network.peak[flow]


@inner
def close_flow(machine: Machine, flow: int, now: float) -> None:
    """A flow is over, or broken off."""
    network, flows, clock, desk = machine.network, machine.flows, machine.clock, machine.desk
    set_rate(network, flows, flow, 0.0, now)
    flows.active[flow] = 0
    for edge in range(network.path[flow], network.path[flow + 1]):
        resource = network.resource[edge]
        flows.members[resource] -= 1
        last = network.room[resource] + flows.members[resource]
        slot = flows.slot[edge]
        flows.member[slot] = flows.member[last]
        flows.slot[flows.member[slot]] = slot
        soil(clock, desk, resource)
