"""The loop's rates for one component: every resource asks its policy, in rounds, until all are frozen (models §9).

Where all resources share alike by themselves, `levels` has a shorter way to the same rates.

In each round a resource offers its unfrozen flows what the frozen ones leave. A flow's least grant is the smallest of
its resources. A resource that grants each of its flows that flow's least is settled, and these are frozen. If none is
settled, because resources wait for each other in a circle, the flow that gets least of its weight is frozen, and in the
end what that left unused is offered once more.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.machine.asking import ask_policy
from penstock.engine.machine.filling import level_of
from penstock.engine.machine.levels import collect, rise_together
from penstock.engine.machine.network import Network
from penstock.engine.machine.state import ASK, EVEN, Desk, Rules
from penstock.engine.machine.whole import Machine
from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import inner
from penstock.policies.sharing.policy import Decide

_AGAIN = 64  # times that what circles left unused is offered once more, at most


@inner
def offer(machine: Machine, resource: int, even: bool) -> None:
    """Raise all unfrozen flows of a resource together, as one fair-share or max-min does."""
    desk = machine.desk
    found = collect(machine, resource, even)
    level = level_of(desk.use, desk.weight, desk.limit, found, desk.room[resource], 0.0)
    for place in range(found):
        most = desk.limit[place]
        desk.grant[desk.edges[place]] = most if level == np.inf else min(most, level * desk.weight[place])


@inner
def _offer_nothing(machine: Machine, resource: int) -> None:
    network, flows, desk = machine.network, machine.flows, machine.desk
    start = network.room[resource]
    for place in range(start, start + flows.members[resource]):
        desk.grant[flows.member[place]] = 0.0


@inner
def least_of(machine: Machine, flow: int) -> float:
    """The smallest grant of a flow's resources."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    least = flows.peak[flow] - desk.base[flow]
    for edge in range(network.path[flow], network.path[flow + 1]):
        least = min(least, desk.grant[edge])
    return least  # type: ignore[no-any-return]


@inner
def _is_settled(machine: Machine, resource: int) -> bool:
    """Whether each of its grants is the flow's least."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    start = network.room[resource]
    for place in range(start, start + flows.members[resource]):
        edge = flows.member[place]
        flow = network.edge_flow[edge]
        if desk.frozen[flow] == 0 and desk.grant[edge] > desk.least[flow] + SAME * network.weight[flow]:
            return False
    return True


@inner
def _freeze(machine: Machine, flow: int) -> None:
    """Its rate is certain: what it uses is gone, and those beside it are to be asked again."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    desk.frozen[flow] = 1
    desk.given[flow] = desk.base[flow] + desk.least[flow]
    for edge in range(network.path[flow], network.path[flow + 1]):
        resource = network.resource[edge]
        desk.room[resource] -= flows.use[edge] * desk.least[flow]
        desk.unfrozen[resource] -= 1
        desk.dirty[resource] = 1


@inner
def _find_settled(machine: Machine, resources: int) -> int:
    """Mark the settled resources; how many. Nothing is frozen meanwhile, lest one hides the other."""
    desk = machine.desk
    found = 0
    for place in range(resources):
        resource = desk.resources[place]
        if desk.unfrozen[resource] > 0 and _is_settled(machine, resource):
            desk.settled[resource] = 1
            found += 1
    return found


@inner
def _freeze_settled(machine: Machine, resources: int) -> int:
    """Freeze the flows of resources that are marked; how many."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    frozen = 0
    for place in range(resources):
        resource = desk.resources[place]
        if desk.settled[resource] == 1:
            desk.settled[resource] = 0
            start = network.room[resource]
            for member in range(start, start + flows.members[resource]):
                flow = network.edge_flow[flows.member[member]]
                if desk.frozen[flow] == 0:
                    _freeze(machine, flow)
                    frozen += 1
    return frozen


@inner
def _worst_off(network: Network, desk: Desk, posted: Floats, size: int) -> int:
    """The flow with the lowest share of its weight; of those alike who posted last, then the last."""
    lowest = np.inf
    for place in range(size):
        flow = desk.flows[place]
        if desk.frozen[flow] == 0:
            lowest = min(lowest, desk.least[flow] / network.weight[flow])
    chosen = -1
    for place in range(size):
        flow = desk.flows[place]
        if desk.frozen[flow] == 1 or desk.least[flow] / network.weight[flow] > lowest + SAME:
            continue
        if chosen < 0:
            chosen = flow
            continue
        one = posted[4 * network.owner[flow] + network.kind[flow]]
        other = posted[4 * network.owner[chosen] + network.kind[chosen]]
        if one > other or (one == other and flow > chosen):
            chosen = flow
    return chosen


@inner
def _room_for(machine: Machine, flow: int) -> bool:
    """Whether a flow could be faster, and everything that it crosses has room."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    if flows.peak[flow] - desk.base[flow] <= SAME * network.weight[flow]:
        return False
    for edge in range(network.path[flow], network.path[flow + 1]):
        resource = network.resource[edge]
        if desk.room[resource] <= SAME * desk.capacity[resource]:
            return False
    return True


@inner
def begin_pass(machine: Machine, resources: int, size: int) -> int:
    """Note who can gain something; how many."""
    network, desk = machine.network, machine.desk
    for place in range(resources):
        resource = desk.resources[place]
        desk.unfrozen[resource] = 0
        desk.dirty[resource] = 1
    opened = 0
    for place in range(size):
        flow = desk.flows[place]
        desk.frozen[flow] = 0 if _room_for(machine, flow) else 1
        if desk.frozen[flow] == 0:
            opened += 1
            for edge in range(network.path[flow], network.path[flow + 1]):
                desk.unfrozen[network.resource[edge]] += 1
    return opened


@inner
def _offer_of(
    machine: Machine, policies: tuple[Decide, ...], resource: int, kinds: int, keep: bool, now: float
) -> bool:
    """What a resource grants its unfrozen flows; False if its policy gives what is not there."""
    rules, desk = machine.rules, machine.desk
    if desk.room[resource] <= SAME * desk.capacity[resource]:
        _offer_nothing(machine, resource)
        return True
    if rules.mode[resource] == ASK:
        return ask_policy(machine, policies, resource, kinds, keep, now)
    offer(machine, resource, rules.mode[resource] == EVEN)
    return True


@inner
def _one_pass(
    machine: Machine,
    policies: tuple[Decide, ...],
    resources: int,
    size: int,
    opened: int,
    kinds: int,
    keep: bool,
    now: float,
) -> int:
    """Freeze all flows that can gain; 1 if resources waited for each other in a circle, -1 if a policy is at fault."""
    network, apps, desk = machine.network, machine.apps, machine.desk
    circled = 0
    while opened > 0:
        for place in range(resources):
            resource = desk.resources[place]
            if desk.dirty[resource] == 1 and desk.unfrozen[resource] > 0:
                desk.dirty[resource] = 2
                if not _offer_of(machine, policies, resource, kinds, keep, now):
                    return -1 - resource  # type: ignore[no-any-return]
        for place in range(size):
            flow = desk.flows[place]
            if desk.frozen[flow] == 0:
                desk.least[flow] = least_of(machine, flow)
        found = _find_settled(machine, resources)
        if found == 0:
            circled = 1
            _freeze(machine, _worst_off(network, desk, apps.posted, size))
            opened -= 1
            continue
        opened -= _freeze_settled(machine, resources)
    return circled


@inner
def _mode_of_all(rules: Rules, desk: Desk, resources: int) -> int:
    """How the resources of a component are shared, if all are alike; else as if policies had to be asked."""
    mode = rules.mode[desk.resources[0]]
    for place in range(1, resources):
        if rules.mode[desk.resources[place]] != mode:
            return ASK
    return mode  # type: ignore[no-any-return]


@inner
def share_out(
    machine: Machine, policies: tuple[Decide, ...], resources: int, size: int, kinds: int, keep: bool, now: float
) -> int:
    """The rates of a component's flows in `desk.given`; below 0: resource -1 - that has a policy at fault."""
    network, rules, desk = machine.network, machine.rules, machine.desk
    for place in range(resources):
        resource = desk.resources[place]
        desk.room[resource] = desk.capacity[resource]
        desk.asked[resource] = 0
        desk.settled[resource] = 0
    for place in range(size):
        flow = desk.flows[place]
        desk.given[flow] = desk.base[flow] = 0.0
    mode = _mode_of_all(rules, desk, resources)
    if mode != ASK:
        rise_together(machine, resources, size, mode == EVEN)
        return 0
    for _ in range(_AGAIN):
        opened = begin_pass(machine, resources, size)
        if opened == 0:
            break
        circled = _one_pass(machine, policies, resources, size, opened, kinds, keep, now)
        if circled < 0:
            return circled
        gained = False
        for place in range(size):
            flow = desk.flows[place]
            gained = gained or desk.given[flow] - desk.base[flow] > SAME * network.weight[flow]
            desk.base[flow] = desk.given[flow]
        if circled == 0 or not gained:
            break
    return 0
