"""How a name becomes a placement policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.policies.catalogue import Catalogue

if TYPE_CHECKING:
    from penstock.policies.placement.policy import Placement

OURS = {
    "random": "random",
    "greedy-non-clairvoyant": "greedy_non_clairvoyant",
    "greedy-clairvoyant": "greedy_clairvoyant",
}
NAMES = tuple(OURS)


def from_function(function: Callable[..., Any]) -> Placement:
    """A policy of a user's function `(demand, option, draw)`."""
    from penstock.policies.placement.policy import placement  # noqa: PLC0415 - loads Numba

    return placement(getattr(function, "__name__", "own").replace("_", "-"))(function)


def _kind() -> type[Placement]:
    from penstock.policies.placement.policy import Placement  # noqa: PLC0415 - loads Numba

    return Placement


_catalogue = Catalogue("placement", OURS, _kind, from_function, "demand, option, draw")
find, policies = _catalogue.find, _catalogue.policies
known_names, check = _catalogue.names, _catalogue.check
