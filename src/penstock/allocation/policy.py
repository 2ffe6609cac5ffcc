"""What a policy that gives out targets is: a function, a name, and how much it must know (P4 §3.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from penstock.allocation.demand import Demand
from penstock.errors import PolicyError
from penstock.sharing.policy import rule_of
from penstock.sharing.view import Ints

# What must be known of applications: nothing at all; what the batch system knows (nodes); sums over a run, or its best
# number of targets; the bandwidth on every number of targets.
NOTHING, EASY, MEDIUM, HARD = "nothing", "easy", "medium", "hard"


class Allocated(NamedTuple):
    """For each application the option it gets; and on which targets, where the policy decides that too.

    `places` holds, application after application, the numbers of its targets in rising order.
    """

    option: Ints
    places: Ints | None = None


@dataclass(frozen=True)
class TargetPolicy:
    """What the policies for numbers of targets and for places have in common."""

    name: str
    plain: Callable[..., Any]
    rule: str = ""
    source: str = ""
    needs: str = HARD

    def ask(self, kind: str, *arguments: Any) -> Any:
        """Call the policy; what a user's own function raises becomes a sentence."""
        try:
            return self.plain(*arguments)
        except PolicyError:
            raise
        except Exception as error:
            message = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
            raise PolicyError(f"{kind} policy {self.name!r} raised {message}") from error


@dataclass(frozen=True)
class Allocation(TargetPolicy):
    """A policy for how many targets each application gets."""

    def decide(self, demand: Demand, draw: np.random.Generator) -> Allocated:
        """One option for each application."""
        given = self.ask("allocation", demand, draw)
        allocated = given if isinstance(given, Allocated) else Allocated(np.asarray(given))
        option = allocated.option
        whole = option.shape == demand.nodes.shape and np.issubdtype(option.dtype, np.integer)
        if not whole or (option < demand.first[:-1]).any() or (option >= demand.first[1:]).any():
            raise PolicyError(
                f"allocation policy {self.name!r} must return the number of one of its own options for each of the "
                f"{len(demand.names)} applications: option i of Demand has demand.count[i] targets"
            )
        return allocated


def allocation(name: str, *, source: str = "", needs: str = HARD) -> Callable[[Callable[..., Any]], Allocation]:
    """Make an allocation policy of a function `(demand, draw)` that returns one option of each application."""
    return lambda function: Allocation(name, function, rule_of(function), source, needs)
