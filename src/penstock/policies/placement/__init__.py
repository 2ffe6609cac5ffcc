"""Placement: which targets for each application. One file per policy; this page is their list."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.policies.placement.catalogue import NAMES, find, policies

if TYPE_CHECKING:
    from penstock.policies.placement.policy import Placement, placement

# Imported when first used: names are looked up, completed and refused without Numba.
_HOME = {"Placement": "policy", "placement": "policy"}

__all__ = ["NAMES", "Placement", "find", "placement", "policies"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
