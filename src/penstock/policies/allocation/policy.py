"""What a policy that gives out targets is: a function, a name, and how much it must know (P4 §3.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from penstock.errors import PolicyError
from penstock.kernels.arrays import Ints
from penstock.policies.allocation.demand import Demand
from penstock.policies.sharing.policy import rule_of

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

    decision: ClassVar[str]

    @property
    def who(self) -> str:
        """The beginning of a sentence about it."""
        return f"{self.decision} policy {self.name!r}"

    def asked(self, *arguments: Any) -> Any:
        """What the policy's own function returns; what a user's raises becomes a sentence."""
        try:
            return self.plain(*arguments)
        except PolicyError:
            raise
        except Exception as error:
            message = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
            raise PolicyError(f"{self.who} raised {message}") from error


_NONE = np.empty(0, np.int64)


def whole_numbers(given: Any) -> Ints | None:
    """A list of whole numbers as an array; None if it is none."""
    try:
        numbers = np.asarray(given)
    except ValueError:
        return None
    if numbers.ndim != 1 or not (np.issubdtype(numbers.dtype, np.integer) or numbers.size == 0):
        return None
    return numbers.astype(np.int64)


def checked_places(who: str, demand: Demand, option: Ints, given: Any) -> Ints:
    """The targets of each application, one list after the other and each in rising order; refused if one is wrong."""
    lists = list(given) if isinstance(given, list | tuple) else []
    if len(lists) != option.size:
        raise PolicyError(f"{who} must return a list with the targets of each of {option.size} applications")
    arrays = [whole_numbers(places) for places in lists]
    owner = np.repeat(np.arange(option.size), [0 if places is None else places.size for places in arrays])
    flat = np.concatenate([_NONE, *(places for places in arrays if places is not None)])
    flat = flat[np.lexsort([flat, owner])]
    wrong = np.bincount(owner, minlength=option.size) != demand.count[option]
    wrong[owner[:-1][(np.diff(flat) == 0) & (np.diff(owner) == 0)]] = True
    wrong[owner[(flat < 0) | (flat >= demand.targets)]] = True
    for i in np.flatnonzero(wrong):
        raise PolicyError(
            f"{who} put {demand.names[i]!r} on {_shortened(lists[i])}; it gets "
            f"{demand.count[option[i]]} different targets of 0 to {demand.targets - 1}"
        )
    return flat


def _shortened(thing: Any) -> str:
    text = repr(thing.tolist() if isinstance(thing, np.ndarray) else thing)
    return text if len(text) <= 60 else f"{text[:57]}…"


@dataclass(frozen=True)
class Allocation(TargetPolicy):
    """A policy for how many targets each application gets."""

    decision = "allocation"

    def decide(self, demand: Demand, draw: np.random.Generator) -> Allocated:
        """One option for each application."""
        given = self.asked(demand, draw)
        option, places = given if isinstance(given, Allocated) else (given, None)
        found = whole_numbers(option)
        if found is None or found.shape != demand.nodes.shape or not _own(demand, found):
            raise PolicyError(
                f"{self.who} must return the number of one of its own options for each of the "
                f"{len(demand.names)} applications: option i of Demand has demand.count[i] targets"
            )
        if places is None:
            return Allocated(found)
        lists = np.split(places, np.cumsum(demand.count[found])[:-1]) if isinstance(places, np.ndarray) else places
        return Allocated(found, checked_places(self.who, demand, found, lists))


def _own(demand: Demand, option: Ints) -> bool:
    return bool(((demand.first[:-1] <= option) & (option < demand.first[1:])).all())


def allocation(name: str, *, source: str = "", needs: str = HARD) -> Callable[[Callable[..., Any]], Allocation]:
    """Make an allocation policy of a function `(demand, draw)` that returns one option of each application."""
    return lambda function: Allocation(name, function, rule_of(function), source, needs)
