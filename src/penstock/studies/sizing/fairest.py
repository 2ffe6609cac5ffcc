"""Sizing a buffer: of all ways to share the smallest, the one with the least Σ S_k², by the linear program."""

from __future__ import annotations

import numpy as np

from penstock.studies.sizing.both_ways import LinearProgram, SolvedProgram
from penstock.studies.sizing.solvers import interior

_DUST = 1e-7  # of the size: what the solver leaves where nothing should be
_ROOM = 1e-9  # of the size: an interior point method cannot move where only one point is left


def most_even(program: LinearProgram, found: SolvedProgram) -> SolvedProgram:
    """The same size with the shares that have the least Σ S_k²; everything counts in units of the size."""
    columns, unit = program.size, found.size * (1.0 + _ROOM)
    rows = program.rows.matrix(columns + 1).tocsc()
    limit = program.rows.limit / unit - rows[:, [columns]].toarray()[:, 0]
    squared = np.zeros(columns)
    squared[program.share] = 2.0
    solved = interior(np.zeros(columns), rows[:, :columns], limit, squared)
    even = program.read(np.append(solved.x * found.size, found.size), found.prices, found.proved)
    busy = np.bincount(program.traffic.owner, minlength=even.shares.size) > 0
    return even._replace(shares=np.where(busy & (even.shares > _DUST * found.size), even.shares, 0.0))
