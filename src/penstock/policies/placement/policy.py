"""What a placement policy is: a function that says which targets the applications use, once their numbers are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import HARD, TargetPolicy, checked_places
from penstock.policies.sharing.policy import rule_of


@dataclass(frozen=True)
class Placement(TargetPolicy):
    """A policy for which targets each application uses."""

    decision = "placement"

    def decide(self, demand: Demand, option: Ints, draw: np.random.Generator) -> Ints:
        """Application after application, the numbers of its targets in rising order."""
        return checked_places(self.who, demand, option, self.asked(demand, option, draw))


def placement(name: str, *, source: str = "", needs: str = HARD) -> Callable[[Callable[..., Any]], Placement]:
    """Make a placement policy of a function `(demand, option, draw)` that returns a list of targets per application."""
    return lambda function: Placement(name, function, rule_of(function), source, needs)
