"""Telling applications apart by colour: the largest have one each, the rest share one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from penstock.report.parts.theme import GROUP_COLOURS, GROUPS, label

if TYPE_CHECKING:
    from penstock.kernels.arrays import Floats, Ints

__all__ = ["GROUP_COLOURS", "groups_of"]


def groups_of(names: Sequence[str], weight: Floats) -> tuple[Ints, list[str]]:
    """A colour number for every application, and the names of those colours: those of most weight, then the rest."""
    if len(names) <= GROUPS:
        return np.arange(len(names)), [label(name) for name in names]
    chosen = np.sort(np.argsort(-weight, kind="stable")[:GROUPS])
    groups = np.full(len(names), GROUPS)
    groups[chosen] = np.arange(GROUPS)
    return groups, [*(label(names[index]) for index in chosen), f"{len(names) - GROUPS:,} others"]
