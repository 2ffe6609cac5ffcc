"""One decision over several resources (models §9), in the words of the rule: dictionaries, one flow at a time.

A flow crosses resources, each of which has a policy of its own; a unit of its rate costs `use` there. Its weight is the
rate that it has when its application is alone, its peak what it can have at all. Policies see entries: all flows of one
owner on a resource are one, and what the entry is given is divided among them at one level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from .policies import POLICIES, State

TIE = 1e-9
Rates = dict["Flow", float]
# What is known of the owner of some flows, and how long its operation would still take alone.
Facts = Mapping[str, State]


@dataclass(eq=False)
class Flow:
    """What one owner (an application; what drains of one is another owner) moves on one way."""

    owner: str
    uses: dict[str, float]
    peak: float
    weight: float = 0.0
    siblings: int = 1  # flows of the operation, itself included

    @property
    def application(self) -> str:
        """What drains of one or is fetched for it is the same application."""
        return self.owner.partition(":")[0]


@dataclass
class Shared:
    """A resource: how much of it there is, and who divides it."""

    capacity: float
    policy: str | Callable[[State], dict[str, float]] = "fair-share"
    interference: tuple[float, ...] = (1.0,)

    def with_moving(self, count: int) -> float:
        return self.capacity * self.interference[min(max(count, 1), len(self.interference)) - 1]


Machine = Mapping[str, Shared]


def alone(flows: list[Flow], capacity: Mapping[str, float]) -> None:
    """Set the weights of all flows of one operation: progressive filling, with equal pace.

    Weights in it are the peaks b(n)/n, the same for all; a target that lets one transfer have less is a limit only. So
    the slowest flow is the last, nobody speeds up when another ends, and an undisturbed application has yield 1.
    """
    rates: dict[Flow, float] = {}
    while growing := [flow for flow in flows if flow not in rates]:
        level, full = min(flow.peak for flow in growing), set()
        for name, size in capacity.items():
            pace = sum(flow.uses.get(name, 0.0) for flow in growing)
            if pace > 0.0:
                spent = sum(flow.uses.get(name, 0.0) * rate for flow, rate in rates.items())
                at = max(0.0, size - spent) / pace
                if at < level * (1.0 - TIE):
                    level, full = at, {name}
                elif at <= level * (1.0 + TIE):
                    full.add(name)
        stopped = [f for f in growing if full & f.uses.keys() or f.peak <= level * (1.0 + TIE)]
        rates |= {flow: min(level, flow.peak) for flow in stopped}
    for flow in flows:
        flow.weight = rates[flow]


def at_one_level(flows: list[Flow], limit: Rates, weight: Rates, resource: str, room: float) -> Rates:
    """min(limit, α·weight) for each, with the α that fills `room`; everyone's limit if there is more than that."""
    use = {flow: flow.uses[resource] for flow in flows}
    if sum(use[flow] * limit[flow] for flow in flows) <= room:
        return {flow: limit[flow] for flow in flows}
    left, rising = room, sorted(flows, key=lambda flow: limit[flow] / weight[flow])
    while rising:
        level = left / sum(use[flow] * weight[flow] for flow in rising)
        first = rising[0]
        if limit[first] > level * weight[first]:
            return {flow: min(limit[flow], level * weight[flow]) for flow in flows}
        left -= use[first] * limit[first]
        rising = rising[1:]
    return {flow: limit[flow] for flow in flows}


def ask(resource: str, shared: Shared, flows: list[Flow], limit: Rates, room: float, moment: State) -> Rates:
    """What the policy of a resource grants to each flow there, of what is left of it."""
    if room <= TIE * shared.capacity:
        return dict.fromkeys(flows, 0.0)
    if shared.policy in ("fair-share", "best-effort"):
        return at_one_level(flows, limit, {flow: flow.weight for flow in flows}, resource, room)
    if shared.policy == "max-min":
        return at_one_level(flows, limit, {flow: 1 / flow.siblings for flow in flows}, resource, room)
    owned: dict[str, list[Flow]] = {}
    for owner in moment["facts"]:  # in the order of the scenario
        if found := [flow for flow in flows if flow.owner == owner]:
            owned[owner] = found
    entries = []
    for owner, mine in owned.items():
        bandwidth = sum(flow.uses[resource] * flow.weight for flow in mine)
        known = {"bandwidth": bandwidth, "limit": sum(flow.uses[resource] * limit[flow] for flow in mine)}
        facts = moment["facts"][owner]
        entries.append(facts | known | {"name": owner, "remaining": bandwidth * facts["time_left"]})
    seen = {"capacity": room, "now": moment["now"], "begin": moment["begin"], "end": moment["end"]}
    policy = POLICIES[shared.policy] if isinstance(shared.policy, str) else shared.policy
    there = [facts for facts in moment["there"] if resource in facts["may_use"]]
    given = policy(seen | {"active": entries, "there": there or entries, "resource": resource})
    grants: Rates = {}
    for owner, mine in owned.items():
        own = {flow: flow.weight for flow in mine}
        grants |= at_one_level(mine, limit, own, resource, given.get(owner, 0.0))
    return grants


def one_pass(machine: Machine, room: Mapping[str, float], flows: list[Flow], limit: Rates, moment: State) -> Any:
    """Rounds (1) to (5): what everyone gets of `room`, whether there was a circle, and the first round's grants."""
    frozen: Rates = {}
    circled, first = False, None
    while still := [flow for flow in flows if flow not in frozen]:
        grants: dict[str, Rates] = {}
        for name, shared in machine.items():
            here = [flow for flow in still if name in flow.uses]
            if here:
                used = sum(flow.uses.get(name, 0.0) * rate for flow, rate in frozen.items())
                grants[name] = ask(name, shared, here, limit, max(0.0, room[name] - used), moment)
        least = {f: min([given[f] for given in grants.values() if f in given], default=limit[f]) for f in still}
        first = first or least
        settled = {flow for flow in still if not any(flow in given for given in grants.values())}
        for given in grants.values():
            if all(grant <= least[flow] + TIE * flow.weight for flow, grant in given.items()):
                settled |= given.keys()
        if not settled:
            circled, settled = True, {worst_off(still, least, moment)}
        frozen |= {flow: least[flow] for flow in flows if flow in settled}
    return frozen, circled, first or {}


def worst_off(flows: list[Flow], least: Rates, moment: State) -> Flow:
    """Whom rule (4) freezes. Flows are listed in the order of the scenario, and of their lists of targets."""
    lowest = min(least[flow] / flow.weight for flow in flows)
    alike = [flow for flow in flows if least[flow] / flow.weight <= lowest + TIE]
    latest = max(moment["facts"][flow.owner]["posted"] for flow in alike)
    return [flow for flow in alike if moment["facts"][flow.owner]["posted"] >= latest - TIE * abs(latest)][-1]


def allocate(machine: Machine, capacity: Mapping[str, float], flows: list[Flow], moment: State) -> tuple[Rates, Rates]:
    """All rounds, (6) included; and what everyone had after the first."""
    rates = dict.fromkeys(flows, 0.0)
    room, at_first = dict(capacity), None
    open_flows = [flow for flow in flows if flow.peak > TIE * flow.weight]  # one that may have nothing does not ask
    while True:
        limit = {flow: flow.peak - rates[flow] for flow in open_flows}
        more, circled, first = one_pass(machine, room, open_flows, limit, moment)
        at_first = first if at_first is None else at_first
        for flow, rate in more.items():
            rates[flow] += rate
        for name in room:
            room[name] = capacity[name] - sum(flow.uses.get(name, 0.0) * rate for flow, rate in rates.items())
        gained = any(rate > TIE * flow.weight for flow, rate in more.items())
        open_flows = [
            flow
            for flow in flows
            if rates[flow] < flow.peak * (1 - TIE) and all(room[name] > TIE * capacity[name] for name in flow.uses)
        ]
        if not circled or not gained or not open_flows:
            return rates, at_first


def moment_of(facts: Facts, now: float = 0.0, end: float | None = None, there: Iterable[State] = ()) -> State:
    """The instant of a decision: who asks; all who are there, and what each may use."""
    return {"facts": facts, "there": list(there), "now": now, "begin": 0.0, "end": end}


def shares(machine: Machine, flows: Iterable[Flow], moment: State) -> Rates:
    """Rates under interference: as if all who ask moved, then as few as do; k never rises (models §8)."""
    listed = list(flows)
    moving = {name: len({f.application for f in listed if name in f.uses}) for name in machine}
    found = None
    while True:
        capacity = {name: shared.with_moving(moving[name]) for name, shared in machine.items()}
        rates, _ = allocate(machine, capacity, listed, moment)
        seen = {name: movers(name, rates) for name in machine}
        if found is not None and any(
            machine[name].with_moving(seen[name]) < capacity[name] * (1 - TIE) for name in machine
        ):
            return found
        if all(seen[name] >= moving[name] for name in machine):
            return rates
        found, moving = rates, {name: min(seen[name], moving[name]) for name in machine}


def movers(name: str, rates: Rates) -> int:
    """How many applications move on a resource; at least one, as nobody alone is disturbed."""
    return max(1, len({f.application for f, rate in rates.items() if name in f.uses and rate > TIE * f.peak}))


def operation(owner: str, ways: Iterable[tuple[dict[str, float], float]], capacity: Mapping[str, float]) -> list[Flow]:
    """The flows of one operation, with their weights; of each way its uses and its peak."""
    flows = [Flow(owner, uses, peak) for uses, peak in ways]
    for flow in flows:
        flow.siblings = len(flows)
    alone(flows, capacity)
    return flows


def seconds_alone(flows: list[Flow], volume: float) -> float:
    """V / b_i: how long an operation takes when its application has the machine to itself."""
    return max((volume / len(flows)) / flow.weight if flow.weight > 0 else inf for flow in flows)
