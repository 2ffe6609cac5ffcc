"""All flows of a component rise together, where all its resources share alike by themselves: max-min fairness.

Every resource has a level at which it would be full. The lowest of them is right: nobody on that resource can have
more, and elsewhere they need not wait for each other. What they take lets the levels of others rise, never fall; so
these are found anew only when one of them seems to be the lowest. Rounds (`solve`) come to the same rates, but look at
every flow in each of them.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.machine.filling import level_of
from penstock.engine.machine.whole import Machine
from penstock.kernels.arrays import SAME
from penstock.kernels.compile import inner
from penstock.kernels.tournament import first, put


@inner
def collect(machine: Machine, resource: int, even: bool) -> int:
    """Note the unfrozen flows of a resource side by side; how many there are."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    start, found = network.room[resource], 0
    for place in range(start, start + flows.members[resource]):
        edge = flows.member[place]
        flow = network.edge_flow[edge]
        if desk.frozen[flow] == 0:
            desk.edges[found] = edge
            desk.use[found] = flows.use[edge]
            desk.weight[found] = network.even[flow] if even else network.weight[flow]
            desk.limit[found] = flows.peak[flow] - desk.base[flow]
            found += 1
    return found


@inner
def _find_level(machine: Machine, resource: int, even: bool) -> None:
    """Where a resource would be full if its unfrozen flows rose alone."""
    desk = machine.desk
    desk.dirty[resource] = 0
    level = 0.0
    if desk.room[resource] > SAME * desk.capacity[resource]:
        found = collect(machine, resource, even)
        level = level_of(desk.use, desk.weight, desk.limit, found, desk.room[resource])
    put(desk.levels, resource, level)


@inner
def _freeze_all(machine: Machine, resource: int, level: float, even: bool) -> None:
    """Its unfrozen flows are at this level, or at their peaks below it; what they cross elsewhere may rise."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    start = network.room[resource]
    for place in range(start, start + flows.members[resource]):
        flow = network.edge_flow[flows.member[place]]
        if desk.frozen[flow] == 0:
            rate = min(flows.peak[flow], level * (network.even[flow] if even else network.weight[flow]))
            desk.frozen[flow] = 1
            desk.given[flow] = rate
            for edge in range(network.path[flow], network.path[flow + 1]):
                desk.room[network.resource[edge]] -= flows.use[edge] * rate
                desk.dirty[network.resource[edge]] = 1


@inner
def rise_together(machine: Machine, resources: int, size: int, even: bool) -> None:
    """The rates of a component's flows in `desk.given`; rooms are whole, and nobody has anything yet."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    for place in range(size):
        flow = desk.flows[place]
        desk.frozen[flow] = int(flows.peak[flow] <= SAME * network.weight[flow])
    for place in range(resources):
        _find_level(machine, desk.resources[place], even)
    while desk.levels[1] < np.inf:
        resource, level = first(desk.levels), desk.levels[1]
        if desk.dirty[resource] == 1:
            _find_level(machine, resource, even)
        else:
            put(desk.levels, resource, np.inf)
            _freeze_all(machine, resource, level, even)
    for place in range(size):
        flow = desk.flows[place]
        if desk.frozen[flow] == 0:
            desk.given[flow] = flows.peak[flow]
