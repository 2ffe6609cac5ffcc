"""Sharing: who gets which rate now. One file per policy; this page is their list and how names are found."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.policies.sharing.catalogue import NAMES, find, policies

if TYPE_CHECKING:
    from penstock.policies.sharing.policy import Sharing, sharing
    from penstock.policies.sharing.view import View

# Imported when first used: names are looked up, completed and refused without Numba.
_HOME = {"Sharing": "policy", "sharing": "policy", "View": "view"}

__all__ = ["NAMES", "Sharing", "View", "find", "policies", "sharing"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
