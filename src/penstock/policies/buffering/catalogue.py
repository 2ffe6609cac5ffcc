"""How a name becomes a strategy for a burst buffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.policies.catalogue import Catalogue

if TYPE_CHECKING:
    from penstock.policies.buffering.policy import Strategy

OURS = {
    "fair": "fair",
    "blocked-first": "blocked_first",
    "earliest-burst": "earliest_burst",
    "planned": "planned",
}
NAMES = tuple(OURS)


def from_function(function: Callable[..., Any]) -> Strategy:
    """A strategy of a user's function `(flows, rates)`."""
    from penstock.policies.buffering.policy import strategy  # noqa: PLC0415 - loads Numba

    return strategy(getattr(function, "__name__", "own").replace("_", "-"))(getattr(function, "py_func", function))


def _kind() -> type[Strategy]:
    from penstock.policies.buffering.policy import Strategy  # noqa: PLC0415 - loads Numba

    return Strategy


_catalogue = Catalogue("buffering", OURS, _kind, from_function, "flows, rates")
find, policies = _catalogue.find, _catalogue.policies
known_names, check = _catalogue.names, _catalogue.check
