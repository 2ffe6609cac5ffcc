"""Applications on storage targets: how many, which, and what comes of it. The Python face of `penstock allocate` (P4).

Policies decide by what they are told of the applications; the engine then runs them with their true profiles.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.studies.targets.allotments import allocate, compare_allotments
    from penstock.studies.targets.local_search import improve
    from penstock.studies.targets.out_of_service import Move, moves
    from penstock.studies.targets.result import Allotment, Striped, TargetUse

# Imported when first used: a plan in a file is read, and refused, without Numba.
_HOME = {
    "Allotment": "result",
    "Move": "out_of_service",
    "Striped": "result",
    "TargetUse": "result",
    "allocate": "allotments",
    "compare_allotments": "allotments",
    "improve": "local_search",
    "moves": "out_of_service",
}

__all__ = ["Allotment", "Move", "Striped", "TargetUse", "allocate", "compare_allotments", "improve", "moves"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
