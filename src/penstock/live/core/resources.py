"""Which of the controller's resources an operation uses, and how much of its rate falls on each.

An operation on n targets puts 1/n of its rate on each of them, and all of it on a limit that is joint to all targets.
One that names no target uses the only one there is or, where there are several, none of them: it is charged on the
resource `unknown`, until its bytes were seen on some.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.live.core.settings import UNKNOWN, Resource
from penstock.wire.messages import BYTES, METADATA, OPERATIONS

Key = tuple[str, tuple[str, ...]]  # direction, targets
_MOST_KNOWN = 1000  # there are as many routes as sets of targets, and clients choose


@dataclass(frozen=True, slots=True)
class Route:
    """What operations of one direction on the same targets use: places of resources, and the share on each."""

    key: Key
    shares: tuple[tuple[int, float], ...]

    def most(self, capacity: Sequence[float]) -> float:
        """The rate at which the first of its resources is full; infinity if it uses none."""
        return min((capacity[k] / share for k, share in self.shares), default=float("inf"))


def kind_of(direction: str) -> str:
    """What operations of a direction are counted in."""
    return OPERATIONS if direction == METADATA else BYTES


class Routes:
    """All routes over some resources, made when they are first asked for."""

    def __init__(self, resources: tuple[Resource, ...]) -> None:
        self.resources = resources
        self.place = {resource.name: k for k, resource in enumerate(resources)}
        targets = dict.fromkeys(each.target for each in resources if each.target is not None)
        self.targets = tuple(target for target in targets if target != UNKNOWN)
        self.unseen = (UNKNOWN,) if UNKNOWN in self.place else self.targets  # what an operation uses that names none
        self._known: dict[Key, Route] = {}

    def find(self, direction: str, targets: Sequence[str]) -> Route:
        """The route of an operation; targets that are not there any more are left out."""
        key = (direction, tuple(sorted(set(targets))))
        if key not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = Route(key, self._shares(*key))
        return self._known[key]

    def _shares(self, direction: str, targets: tuple[str, ...]) -> tuple[tuple[int, float], ...]:
        used = [
            (k, resource)
            for k, resource in enumerate(self.resources)
            if resource.kind == kind_of(direction)
            and resource.direction in (None, direction)
            and (resource.target is None or resource.target in (targets or self.unseen))
        ]
        count = len({resource.target for _, resource in used if resource.target is not None})
        return tuple((k, 1.0 if resource.target is None else 1.0 / count) for k, resource in used)
