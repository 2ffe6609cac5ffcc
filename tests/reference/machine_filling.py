"""Max-min fairness in α = rate/weight over several resources, twice more: exactly, and as a property of any answer.

The first is progressive filling in exact fractions: all flows grow at the pace of their weights; what is full stops its
flows, a peak stops one. The second builds nothing: an allocation is max-min fair if and only if it fits and every flow
is at its peak or has a bottleneck, a full resource on which nobody has a higher α (Bertsekas and Gallager, Data
Networks, §6.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from .machine_shares import Flow, Rates


def exactly(flows: list[Flow], capacity: Mapping[str, float]) -> Rates:
    """Rates by progressive filling, rounded once at the end."""
    weight = {flow: Fraction(flow.weight) for flow in flows}
    level: dict[Flow, Fraction] = {}
    while growing := [flow for flow in flows if flow not in level]:
        stops = {flow: Fraction(flow.peak) / weight[flow] for flow in growing}
        for name, size in capacity.items():
            here = [flow for flow in growing if name in flow.uses]
            if here:
                spent = sum(Fraction(f.uses[name]) * weight[f] * at for f, at in level.items() if name in f.uses)
                full = (Fraction(size) - spent) / sum(Fraction(flow.uses[name]) * weight[flow] for flow in here)
                stops |= {flow: min(stops[flow], full) for flow in here}
        lowest = min(stops.values())
        level |= {flow: lowest for flow in growing if stops[flow] == lowest}
    return {flow: float(level[flow] * weight[flow]) for flow in flows}


def unfair(flows: list[Flow], capacity: Mapping[str, float], rates: Rates, tolerance: float = 1e-7) -> list[str]:
    """Every way in which an allocation is not the max-min one."""
    used = {name: sum(flow.uses.get(name, 0.0) * rates[flow] for flow in flows) for name in capacity}
    broken = [
        f"{name} carries {used[name]:g} of {size:g}"
        for name, size in capacity.items()
        if used[name] > size * (1 + tolerance)
    ]
    for flow in flows:
        level = rates[flow] / flow.weight
        bottleneck = any(
            used[name] >= capacity[name] * (1 - tolerance)
            and all(rates[other] / other.weight <= level * (1 + tolerance) for other in flows if name in other.uses)
            for name in flow.uses
        )
        if not bottleneck and rates[flow] < flow.peak * (1 - tolerance):
            broken.append(f"{flow.owner} has {rates[flow]:g}, below its peak {flow.peak:g}, and no bottleneck")
    return broken
