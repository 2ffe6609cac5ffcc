"""Mapping: which jobs run together, on which I/O node, and when. One file per policy; this page is their list."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.policies.mapping.catalogue import NAMES, find, policies

if TYPE_CHECKING:
    from penstock.policies.mapping.policy import MappingPolicy, mapping
    from penstock.policies.mapping.view import View

# Imported when first used: names are looked up, completed and refused without Numba.
_HOME = {"MappingPolicy": "policy", "View": "view", "mapping": "policy"}

__all__ = ["NAMES", "MappingPolicy", "View", "find", "mapping", "policies"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
