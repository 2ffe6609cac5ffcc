"""How a name becomes an allocation policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.policies.catalogue import Catalogue

if TYPE_CHECKING:
    from penstock.policies.allocation.policy import Allocation

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
    from penstock.policies.allocation.policy import allocation  # noqa: PLC0415 - loads Numba

    return allocation(getattr(function, "__name__", "own").replace("_", "-"))(function)


def _kind() -> type[Allocation]:
    from penstock.policies.allocation.policy import Allocation  # noqa: PLC0415 - loads Numba

    return Allocation


_catalogue = Catalogue("allocation", OURS, _kind, from_function, "demand, draw")
find, policies = _catalogue.find, _catalogue.policies
known_names, check = _catalogue.names, _catalogue.check
