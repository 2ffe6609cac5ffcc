"""All flows of a component in the loop rise together, where its resources share alike by themselves: max-min fairness.

Every resource has a level at which it would be full. The lowest of them is right: nobody on that resource can have
more, and elsewhere they need not wait for each other. What they take lets the levels of others rise, never fall; so
these are found anew only when one of them seems to be the lowest. Rounds (`solve`) come to the same rates, but look at
every flow in each of them.

What happens up to a level depends on nothing above it. So flows that come or go change nothing below the lowest level
at which a resource of theirs was full, or will be: what stopped there stays, and only what is above rises anew.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.machine.filling import level_of
from penstock.engine.machine.state import EVEN
from penstock.engine.machine.whole import Machine
from penstock.kernels.arrays import SAME
from penstock.kernels.compile import inner
from penstock.kernels.tournament import are_many, first, put, put_one, settle


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
def _full_at(machine: Machine, resource: int, bar: float, even: bool) -> float:
    """Where a resource is full if its flows that stopped below `bar` have what they got and the others rise alone."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    start, found = network.room[resource], 0
    room, rising = desk.capacity[resource], 0.0
    for place in range(start, start + flows.members[resource]):
        edge = flows.member[place]
        flow = network.edge_flow[edge]
        if desk.stop[flow] < bar:
            room -= flows.use[edge] * desk.given[flow]
        else:
            use, weight = flows.use[edge], network.even[flow] if even else network.weight[flow]
            desk.use[found], desk.weight[found], desk.limit[found] = use, weight, flows.peak[flow]
            rising += use * weight
            found += 1
    if found == 0:
        return np.inf
    if room <= SAME * desk.capacity[resource]:
        return 0.0
    return level_of(desk.use, desk.weight, desk.limit, found, room, room / rising)


@inner
def unchanged_below(machine: Machine, waiting: int) -> float:
    """The level below which nothing changes in steady parts by what has come to those that wait, or gone."""
    rules, desk = machine.rules, machine.desk
    bar = np.inf
    for place in range(waiting):
        resource = desk.waiting[place]
        if rules.steady[rules.part[resource]] == 1:
            bar = min(bar, desk.full[resource])
    lower = True
    while lower:
        lower = False
        for place in range(waiting):
            resource = desk.waiting[place]
            if rules.steady[rules.part[resource]] == 1:
                level = _full_at(machine, resource, bar, rules.mode[resource] == EVEN)
                if level < bar:
                    bar, lower = level, True
    return bar


@inner
def _stop_all(machine: Machine, resource: int, level: float, even: bool) -> None:
    """Its rising flows are at this level, or at their peaks below it; what they cross elsewhere may rise."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    start = network.room[resource]
    for place in range(start, start + flows.members[resource]):
        flow = network.edge_flow[flows.member[place]]
        if desk.stop[flow] == np.inf:
            desk.stop[flow] = level
            desk.given[flow] = min(flows.peak[flow], level * (network.even[flow] if even else network.weight[flow]))
            for edge in range(network.path[flow], network.path[flow + 1]):
                desk.dirty[network.resource[edge]] = 1


@inner
def _first_guess(machine: Machine, resource: int, even: bool) -> float:
    """A level that a resource is not full below; its level, unless it is marked to be asked again."""
    rules, desk = machine.rules, machine.desk
    bar = desk.bar[0]
    desk.dirty[resource] = int(bar > 0.0)
    if rules.steady[rules.part[resource]] == 0:
        return _full_at(machine, resource, np.inf, even)
    if desk.bottom[resource] < 0.0:
        desk.bottom[resource] = _full_at(machine, resource, 0.0, even)
    return max(bar, desk.bottom[resource])  # type: ignore[no-any-return]


@inner
def rise_together(machine: Machine, resources: int, size: int, even: bool) -> None:
    """The rates of a component's flows in `desk.given`; of these nobody has anything yet."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    for place in range(size):
        flow = desk.flows[place]
        desk.stop[flow] = 0.0 if flows.peak[flow] <= SAME * network.weight[flow] else np.inf
    many = are_many(desk.levels, resources)
    for place in range(resources):
        resource = desk.resources[place]
        desk.full[resource] = np.inf
        put_one(desk.levels, resource, _first_guess(machine, resource, even), many)
    if many:
        settle(desk.levels)
    while desk.levels[1] < np.inf:
        resource, level = first(desk.levels), desk.levels[1]
        put(desk.levels, resource, np.inf)
        if desk.dirty[resource] == 1:
            desk.dirty[resource] = 0
            level = _full_at(machine, resource, np.inf, even)
        if level > desk.levels[1]:
            put(desk.levels, resource, level)
        elif level < np.inf:
            desk.full[resource] = level
            _stop_all(machine, resource, level, even)
    for place in range(size):
        flow = desk.flows[place]
        if desk.stop[flow] == np.inf:
            desk.given[flow] = flows.peak[flow]
