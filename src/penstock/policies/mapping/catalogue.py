"""How a name becomes a mapping policy: what every catalogue does, and parameters in parentheses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.policies.catalogue import Catalogue
from penstock.policies.parameters import split_settings

if TYPE_CHECKING:
    from penstock.policies.mapping.policy import MappingPolicy

OURS = {
    "make-pack": "make_pack",
    "first-fit": "first_fit",
    "backfill": "backfill",
    "easy": "easy",
}
NAMES = tuple(OURS)


def find(asked: str | MappingPolicy | Callable[..., Any]) -> MappingPolicy:
    """The policy for a name, `name(parameter=value)`, `file.py`, `file.py:function`, or a function itself.

    >>> find("first-fit").rule
    'Packs by processors only: make-pack with S = infinity.'
    >>> find("make-pack(sensitivity=2)").settings
    {'sensitivity': 2.0}
    """
    if not isinstance(asked, str):
        return _catalogue.find(asked)
    name, settings = split_settings(asked.strip())
    return _catalogue.named(name).with_settings(settings)


def check(asked: str) -> None:
    """Refuse what is no policy's name, without loading any policy."""
    name, settings = split_settings(asked.strip())
    _catalogue.check(name)
    _catalogue.check_settings(name, settings)


def from_function(function: Callable[..., Any]) -> MappingPolicy:
    """A policy of a user's function `(view)`."""
    from penstock.policies.mapping.policy import mapping  # noqa: PLC0415 - loads Numba

    return mapping(getattr(function, "__name__", "own").replace("_", "-"))(function)


def _kind() -> type[MappingPolicy]:
    from penstock.policies.mapping.policy import MappingPolicy  # noqa: PLC0415 - loads Numba

    return MappingPolicy


_catalogue = Catalogue("mapping", OURS, _kind, from_function, "view", ("source", "packs"))
policies, known_names = _catalogue.policies, _catalogue.names
