"""Buffering: who drains and fetches at which rate behind a burst buffer. One file per strategy; this is their list."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.policies.buffering.catalogue import NAMES, find, policies

if TYPE_CHECKING:
    from penstock.policies.buffering.policy import Strategy, strategy
    from penstock.policies.buffering.view import Flows

# Imported when first used: names are looked up, completed and refused without Numba.
_HOME = {"Flows": "view", "Strategy": "policy", "strategy": "policy"}

__all__ = ["NAMES", "Flows", "Strategy", "find", "policies", "strategy"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
