"""Sharing over several resources, slowly and plainly: dictionaries, one flow at a time, in the words of the rule.

And its closed form for fair-share everywhere: all flows grow by the same fraction of their limits until something that
they cross is full, or they have all that they can use; those stop, the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Crossing = Mapping[str, Mapping[str, float]]  # of each flow, the share of its rate on each resource
Policy = Callable[[float, Mapping[str, float]], Mapping[str, float]]  # room, what each could use → what each gets
TIE = 1e-9


def proportional(room: float, usable: Mapping[str, float]) -> dict[str, float]:
    """Everyone the same fraction of what it could use."""
    part = min(1.0, room / sum(usable.values()))
    return {flow: part * most for flow, most in usable.items()}


def in_order(room: float, usable: Mapping[str, float]) -> dict[str, float]:
    """One after the other, by name."""
    given = {}
    for flow in sorted(usable):
        given[flow] = min(room, usable[flow])
        room -= given[flow]
    return given


def rounds(
    crossing: Crossing, capacity: Mapping[str, float], limit: Mapping[str, float], policies: Mapping[str, Policy]
) -> dict[str, float]:
    """One pass of the rule; where nothing is settled, the flow with the least of its limit is frozen."""
    frozen: dict[str, float] = {}
    while len(frozen) < len(crossing):
        grants: dict[str, dict[str, float]] = {flow: {} for flow in crossing if flow not in frozen}
        for resource in capacity:
            flows = [flow for flow in grants if resource in crossing[flow]]
            used = sum(crossing[flow].get(resource, 0.0) * rate for flow, rate in frozen.items())
            usable = {flow: crossing[flow][resource] * limit[flow] for flow in flows}
            room = max(0.0, capacity[resource] - used)
            for flow, rate in (policies[resource](room, usable) if flows and room > 0.0 else {}).items():
                grants[flow][resource] = rate / crossing[flow][resource]
            for flow in flows if room == 0.0 else ():
                grants[flow][resource] = 0.0
        least = {flow: min(limit[flow], *found.values()) for flow, found in grants.items()}
        settled = {flow for flow, rate in least.items() if rate == limit[flow]}
        for resource in capacity:
            flows = [flow for flow in grants if resource in grants[flow]]
            if all(grants[flow][resource] <= least[flow] + TIE * limit[flow] for flow in flows):
                settled |= set(flows)
        if not settled:
            lowest = min(least[flow] / limit[flow] for flow in least)
            settled = {[flow for flow in crossing if flow in least and least[flow] / limit[flow] <= lowest + TIE][-1]}
        frozen |= {flow: least[flow] for flow in settled}
    return frozen


def max_min(crossing: Crossing, capacity: Mapping[str, float], limit: Mapping[str, float]) -> dict[str, float]:
    """Progressive filling in the fraction of the limit."""
    fraction: dict[str, float] = {}

    def weight(flow: str, resource: str) -> float:
        return crossing[flow].get(resource, 0.0) * limit[flow]

    while growing := [flow for flow in crossing if flow not in fraction]:
        full: dict[str, float] = {}  # where each resource is full, as a fraction
        for resource, size in capacity.items():
            if any(weight(flow, resource) for flow in growing):
                used = sum(weight(flow, resource) * part for flow, part in fraction.items())
                full[resource] = (size - used) / sum(weight(flow, resource) for flow in growing)
        level = min(1.0, *full.values()) if full else 1.0
        stopped = {resource for resource, at in full.items() if at <= level * (1.0 + TIE)}
        fraction |= {flow: level for flow in growing if level == 1.0 or stopped & crossing[flow].keys()}
    return {flow: fraction[flow] * limit[flow] for flow in crossing}
