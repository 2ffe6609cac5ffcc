"""How a name becomes a strategy for a burst buffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.policies.buffering.policy import Strategy, strategy
from penstock.policies.catalogue import Catalogue

OURS = {
    "fair": "fair",
    "blocked-first": "blocked_first",
    "earliest-burst": "earliest_burst",
    "planned": "planned",
}
NAMES = tuple(OURS)


def from_function(function: Callable[..., Any]) -> Strategy:
    """A strategy of a user's function `(flows, rates)`."""
    return strategy(getattr(function, "__name__", "own").replace("_", "-"))(getattr(function, "py_func", function))


_catalogue = Catalogue("buffering", OURS, Strategy, from_function, "flows, rates")
find, policies = _catalogue.find, _catalogue.policies
