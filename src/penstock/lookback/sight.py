"""What of a controller's resources is looked back at: one of them, or all that jobs' bytes crossed, as a whole machine.

Looking at one resource, a phase counts with the part of its bytes that went there. Looking at all, a phase counts with
all of its bytes if it went to the targets that its job used most: a plan sends an application to one set of targets.
What does not count as bytes counts as time.

A scenario has one capacity for each target, and a limit that is joint to all targets only in one direction. A
controller that had another kind of limit is looked at one resource at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import InvalidOption
from penstock.live.core.resources import Route, Routes
from penstock.live.core.settings import Resource
from penstock.lookback.phases import PastPhase


@dataclass(frozen=True)
class Sight:
    """How phases count, and the platform that they are simulated on."""

    resources: tuple[str, ...]
    routes: Routes
    capacity: Mapping[str, float]
    platform: Mapping[str, Any]
    targets: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # of each application; only of all resources

    @property
    def whole(self) -> bool:
        """Whether all resources are looked at."""
        return len(self.resources) > 1

    def part(self, phase: PastPhase) -> float:
        """The part of a phase's bytes that counts; 0: it counts as time."""
        if not self.whole:
            return _share(self.routes, self.resources[0], phase)
        return float(_targets(self.routes, phase) == self.targets[phase.app])

    def most(self, phase: PastPhase) -> float:
        """The rate of what counts of a phase if its job had all to itself."""
        if not self.whole:
            return min(self.capacity[self.resources[0]], phase.limit * self.part(phase))
        capacity = [self.capacity.get(each.name, each.capacity) for each in self.routes.resources]
        return min(_route(self.routes, phase).most(capacity), phase.limit)


def sight(
    resources: tuple[Resource, ...], capacity: Mapping[str, float], phases: Sequence[PastPhase], asked: str | None
) -> Sight:
    """All resources if there are several and a scenario can say how they are shared; else the one that moved most."""
    routes = Routes(resources)
    if asked is not None and asked not in routes.place:
        raise InvalidOption(f"--resource is {asked!r}; known: {', '.join(routes.place)}")
    platform = None if asked is not None else _machine(routes, capacity, phases)
    if platform is not None:
        used = tuple(resources[k].name for k in _used(routes, phases))
        return Sight(used, routes, capacity, platform, _most_used(routes, phases))
    name = asked or _busiest(routes, phases)
    return Sight((name,), routes, capacity, {"bandwidth": capacity[name]})


def _route(routes: Routes, phase: PastPhase) -> Route:
    return routes.find(phase.direction, phase.targets)


def _share(routes: Routes, name: str, phase: PastPhase) -> float:
    """The part of a phase that goes to a resource."""
    return dict(_route(routes, phase).shares).get(routes.place[name], 0.0)


def _targets(routes: Routes, phase: PastPhase) -> tuple[str, ...]:
    """The targets that a phase used."""
    used = [routes.resources[k].target for k, _ in _route(routes, phase).shares]
    return tuple(sorted({target for target in used if target is not None}))


def _busiest(routes: Routes, phases: Sequence[PastPhase]) -> str:
    moved = {name: sum(_share(routes, name, each) * each.moved for each in phases) for name in routes.place}
    return max(moved, key=lambda name: moved[name])


def _used(routes: Routes, phases: Sequence[PastPhase]) -> list[int]:
    """Places of the resources that bytes crossed."""
    return sorted({k for phase in phases for k, _ in _route(routes, phase).shares})


def _most_used(routes: Routes, phases: Sequence[PastPhase]) -> dict[int, tuple[str, ...]]:
    """For each application, the targets that most of its bytes went to."""
    moved: dict[int, Counter[tuple[str, ...]]] = {}
    for phase in phases:
        moved.setdefault(phase.app, Counter())[_targets(routes, phase)] += phase.moved  # type: ignore[assignment]
    return {app: max(own, key=lambda targets: own[targets]) for app, own in moved.items()}


def _machine(routes: Routes, capacity: Mapping[str, float], phases: Sequence[PastPhase]) -> dict[str, Any] | None:
    """The platform of all resources that bytes crossed; None for fewer than two, or where a scenario cannot say it."""
    used = [routes.resources[k] for k in _used(routes, phases)]
    targets = [each for each in used if each.target is not None]
    ways = {phase.direction for phase in phases}
    one_each = len({each.target for each in targets}) == len(targets)
    both_ways = all(each.direction is None or ways == {each.direction} for each in targets)
    if len(used) < 2 or not one_each or not both_ways:
        return None
    links: dict[str, float] = {}
    for each in used:
        if each.target is None and targets and each.direction is None and len(ways) > 1:
            return None
        if each.target is None:
            key = _link(each.direction or (next(iter(ways)) if targets else None))
            links[key] = min(links.get(key, capacity[each.name]), capacity[each.name])
    listed = [{"name": each.target, "capacity": capacity[each.name]} for each in targets]
    return {"targets": listed, **links} if targets else links


def _link(direction: str | None) -> str:
    return "bandwidth" if direction is None else f"{direction}_bandwidth"
