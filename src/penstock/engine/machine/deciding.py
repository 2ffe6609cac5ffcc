"""One decision of the loop of a whole machine: what is joined by flows now, its rates, and putting these in force."""

from __future__ import annotations

from penstock.engine.machine.motion import set_rate, touch
from penstock.engine.machine.network import Network
from penstock.engine.machine.pool import HAVING
from penstock.engine.machine.solve import share_out
from penstock.engine.machine.through import fit_fetches, hold_back, start_over
from penstock.engine.machine.whole import Machine
from penstock.kernels.arrays import SAME
from penstock.kernels.compile import inner
from penstock.policies.sharing.policy import Decide

MOST_PASSES = 400  # at one instant, until nobody has to pass through, or to fetch more slowly


@inner
def gather(machine: Machine, resource: int, bar: float) -> tuple[int, int]:
    """All that is joined to a resource by flows that are there now: how many resources, how many flows.

    Flows that stopped below `bar` stay as they are: what only they join is decided apart.
    """
    network, flows, desk = machine.network, machine.flows, machine.desk
    desk.stamp[0] += 1
    stamp = desk.stamp[0]
    desk.bar[0] = bar
    desk.resource_mark[resource] = stamp
    desk.resources[0] = resource
    found, size, looked = 1, 0, 0
    while looked < found:
        here = desk.resources[looked]
        looked += 1
        desk.dirty_resource[here] = 0
        start = network.room[here]
        for place in range(start, start + flows.members[here]):
            flow = network.edge_flow[flows.member[place]]
            if desk.stop[flow] >= bar and desk.flow_mark[flow] != stamp:
                desk.flow_mark[flow] = stamp
                desk.flows[size] = flow
                size += 1
                for edge in range(network.path[flow], network.path[flow + 1]):
                    other = network.resource[edge]
                    if desk.resource_mark[other] != stamp:
                        desk.resource_mark[other] = stamp
                        desk.resources[found] = other
                        found += 1
    return found, size


@inner
def _left_by(network: Network, resource: int, moving: int) -> float:
    """The share of its capacity that a resource has while so many applications move."""
    return network.efficiency[resource, min(max(1, moving), network.efficiency.shape[1]) - 1]  # type: ignore[no-any-return]


@inner
def _movers(machine: Machine, resource: int, might: bool) -> int:
    """How many applications have flows on a resource, or get a rate there (rounding is none)."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    start, count = network.room[resource], 0
    stop = start + flows.members[resource]
    for place in range(start, stop):
        desk.head[network.owner[network.edge_flow[flows.member[place]]]] = 0
    for place in range(start, stop):
        flow = network.edge_flow[flows.member[place]]
        if (might or desk.given[flow] > SAME * network.weight[flow]) and desk.head[network.owner[flow]] == 0:
            desk.head[network.owner[flow]] = 1
            count += 1
    return count


@inner
def _recount(machine: Machine, resources: int) -> bool:
    """Whether fewer applications move on a resource than were counted, which leaves more of it; if more, it stays."""
    network, desk = machine.network, machine.desk
    changed = False
    for place in range(resources):
        resource = desk.resources[place]
        number, counted = _movers(machine, resource, False), desk.counted[resource]
        same = _left_by(network, resource, number) == _left_by(network, resource, counted)
        if desk.fixed[resource] == 1 or same:
            continue
        if number > counted:
            desk.fixed[resource] = 1
            desk.counted[resource] = desk.before[resource]
        else:
            desk.before[resource], desk.counted[resource] = counted, number
        changed = True
    return changed


@inner
def _count_all(machine: Machine, resources: int, disturbed: bool) -> None:
    """Before a decision all who are there count as moving."""
    network, desk = machine.network, machine.desk
    for place in range(resources):
        resource = desk.resources[place]
        desk.capacity[resource] = network.capacity[resource]
        if disturbed:
            desk.fixed[resource] = 0
            desk.counted[resource] = desk.before[resource] = _movers(machine, resource, True)
            desk.capacity[resource] *= _left_by(network, resource, desk.counted[resource])


@inner
def _ask_anew(machine: Machine, resources: int, disturbed: bool) -> None:
    """Before a decision is made again: with what those who are counted leave, and nothing remembered of the first."""
    network, rules, desk, view = machine.network, machine.rules, machine.desk, machine.seen
    for place in range(resources):
        resource = desk.resources[place]
        if disturbed:
            share = _left_by(network, resource, desk.counted[resource])
            desk.capacity[resource] = network.capacity[resource] * share
        if desk.asked[resource] == 1:
            for k in range(rules.memory[resource], rules.memory[resource + 1]):
                view.memory[k] = desk.remembered[k]


@inner
def decide(machine: Machine, policies: tuple[Decide, ...], resources: int, size: int, now: float) -> int:
    """The rates of a component. Where sharing costs, first with what is left if all move; again if fewer do.

    Should more move then, there would not be as much: what was counted before holds. Who passes through is found with
    rates for which that has come to an end; then all are counted anew.
    """
    network, rules, pool = machine.network, machine.rules, machine.pool
    disturbed = network.efficiency.size > 0
    _count_all(machine, resources, disturbed)
    behind = pool.who[HAVING] > 0
    kinds = 4 if behind else 1
    keep = resources > 1 or disturbed or behind
    heeding = behind and rules.heeding[rules.part[machine.desk.resources[0]]] == 1
    if heeding:
        start_over(machine, size, now)
    again = 0
    while True:
        status = share_out(machine, policies, resources, size, kinds, keep, now)
        if status < 0:
            return status
        again += 1
        if not disturbed or not _recount(machine, resources):
            if not heeding or again >= MOST_PASSES:
                return status
            if not fit_fetches(machine, size) and not hold_back(machine, size):
                return status
            _count_all(machine, resources, disturbed)
        _ask_anew(machine, resources, disturbed)


@inner
def put_in_force(machine: Machine, size: int, now: float) -> None:
    """Take over the rates that have changed."""
    network, apps, flows, clock, desk = machine.network, machine.apps, machine.flows, machine.clock, machine.desk
    for place in range(size):
        flow = desk.flows[place]
        if desk.given[flow] != flows.rate[flow]:
            set_rate(network, flows, flow, desk.given[flow], now)
            touch(apps, clock, network.owner[flow])
