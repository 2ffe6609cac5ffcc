"""How a name becomes an allocation policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.policies.allocation.policy import Allocation, allocation
from penstock.policies.catalogue import Catalogue

OURS = {
    "random": "random",
    "static": "static",
    "best-bandwidth": "best_bandwidth",
    "nsys": "nsys",
    "tcpu": "tcpu",
    "mckp": "mckp",
}
NAMES = tuple(OURS)


def from_function(function: Callable[..., Any]) -> Allocation:
    """A policy of a user's function `(demand, draw)`."""
    return allocation(getattr(function, "__name__", "own").replace("_", "-"))(function)


_catalogue = Catalogue("allocation", OURS, Allocation, from_function, "demand, draw")
find, policies = _catalogue.find, _catalogue.policies
