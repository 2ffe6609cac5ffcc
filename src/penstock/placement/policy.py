"""What a placement policy is: a function that says which targets the applications use, once their numbers are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.allocation.demand import Demand
from penstock.allocation.policy import HARD, TargetPolicy
from penstock.errors import PolicyError
from penstock.sharing.policy import rule_of
from penstock.sharing.view import Ints


@dataclass(frozen=True)
class Placement(TargetPolicy):
    """A policy for which targets each application uses."""

    def decide(self, demand: Demand, option: Ints, draw: np.random.Generator) -> Ints:
        """Application after application, the numbers of its targets in rising order."""
        given = [np.asarray(places, dtype=np.int64) for places in self.ask("placement", demand, option, draw)]
        if len(given) != option.size:
            raise PolicyError(
                f"placement policy {self.name!r} gave targets to {len(given)} applications; there are {option.size}"
            )
        size = np.array([places.size for places in given])
        owner = np.repeat(np.arange(size.size), size)
        flat = np.concatenate(given)
        order = np.lexsort([flat, owner])
        places = flat[order]
        twice = np.flatnonzero((np.diff(places) == 0) & (np.diff(owner) == 0))
        outside = np.flatnonzero((places < 0) | (places >= demand.targets))
        unlike = np.flatnonzero(size != demand.count[option])
        for i in (*owner[twice], *owner[outside], *unlike):
            raise PolicyError(
                f"placement policy {self.name!r} put {demand.names[i]!r} on {given[i].tolist()}; it gets "
                f"{demand.count[option[i]]} different targets of 0 to {demand.targets - 1}"
            )
        return places


def placement(name: str, *, source: str = "", needs: str = HARD) -> Callable[[Callable[..., Any]], Placement]:
    """Make a placement policy of a function `(demand, option, draw)` that returns a list of targets per application."""
    return lambda function: Placement(name, function, rule_of(function), source, needs)
