"""Telling applications apart by colour: the largest have one each, the rest share one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from penstock.report.parts.theme import COLOURS, OTHERS, label

if TYPE_CHECKING:
    from penstock.kernels.arrays import Floats, Ints

_MOST = 8
GROUP_COLOURS = (*COLOURS[:_MOST], OTHERS)


def groups_of(names: Sequence[str], weight: Floats) -> tuple[Ints, list[str]]:
    """A colour number for every application, and the names of those colours: those of most weight, then the rest."""
    if len(names) <= _MOST:
        return np.arange(len(names)), [label(name) for name in names]
    chosen = np.sort(np.argsort(-weight, kind="stable")[:_MOST])
    groups = np.full(len(names), _MOST)
    groups[chosen] = np.arange(_MOST)
    return groups, [*(label(names[index]) for index in chosen), f"{len(names) - _MOST:,} others"]
