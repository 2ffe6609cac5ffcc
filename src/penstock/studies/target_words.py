"""What options of studies of storage targets may say. It loads no kernels, so that a wrong word is refused at once."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from penstock.errors import InvalidOption, InvalidScenario
from penstock.model import Scenario, Target
from penstock.model.needs import need_targets

MOST_TARGETS = 100_000
FIRST, ALL = INTERVALS = ("first", "all")  # where metrics stop: with the first completion (P4), or with the run
EXACT, SHAPE, CLASS = KNOWLEDGE = ("exact", "shape", "class")
SLOWDOWN, IDLE = OBJECTIVES = ("slowdown", "idle")

_PLACE = re.compile(r"[0-9]{1,9}")


def check_interval(interval: str | None) -> None:
    """Refuse an unknown place to stop."""
    if interval is not None and interval not in INTERVALS:
        raise InvalidOption(f"interval is {interval!r}; accepted is first or all")


def check_knowledge(knowledge: str | None, error: float | None) -> None:
    """Refuse what policies cannot be told."""
    if knowledge is not None and knowledge not in KNOWLEDGE:
        raise InvalidOption(f"knowledge is {knowledge!r}; accepted is exact, shape or class")
    if error is not None and not 0.0 <= error < 1.0:
        raise InvalidOption(f"error is {error!r}; accepted is a number from 0 to less than 1")


def targets_of(scenario: Scenario) -> tuple[Target, ...]:
    """The targets of the platform; without names they are called by their places."""
    need_targets(scenario)
    targets = scenario.platform.targets or ()
    many = targets if isinstance(targets, int) else len(targets)
    if many > MOST_TARGETS:
        raise InvalidScenario(f"platform.targets says {many:,}; at most {MOST_TARGETS:,} are simulated")
    return tuple(Target(name=str(i)) for i in range(targets)) if isinstance(targets, int) else targets


def places_of(targets: Sequence[Target], asked: str | int | Sequence[str | int], what: str) -> list[int]:
    """Places of targets given by name or by place."""
    names = {target.name: place for place, target in enumerate(targets)}
    found = []
    for each in (asked,) if isinstance(asked, str | int) else asked:
        place = None
        if isinstance(each, str):
            # The name comes first: targets may be called by numbers.
            place = names.get(each, int(each) if _PLACE.fullmatch(each) else None)
        elif isinstance(each, int | np.integer) and not isinstance(each, bool):
            place = int(each)
        if place is None or not 0 <= place < len(names):
            known_targets = ", ".join(list(names)[:5]) + (", …" if len(names) > 5 else "")
            raise InvalidOption(
                f"{what}: there is no target {str(each)[:40]!r}; a target is one of {known_targets} or its place, "
                f"from 0 to {len(names) - 1}"
            )
        found.append(place)
    return found
