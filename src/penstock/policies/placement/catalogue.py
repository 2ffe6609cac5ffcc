"""How a name becomes a placement policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.policies.catalogue import Catalogue
from penstock.policies.placement.policy import Placement, placement

OURS = {
    "random": "random",
    "greedy-non-clairvoyant": "greedy_non_clairvoyant",
    "greedy-clairvoyant": "greedy_clairvoyant",
}
NAMES = tuple(OURS)


def from_function(function: Callable[..., Any]) -> Placement:
    """A policy of a user's function `(demand, option, draw)`."""
    return placement(getattr(function, "__name__", "own").replace("_", "-"))(function)


_catalogue = Catalogue("placement", OURS, Placement, from_function, "demand, option, draw")
find, policies = _catalogue.find, _catalogue.policies
