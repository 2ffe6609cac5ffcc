"""Of all ways to share the smallest buffer, the one with the least Σ S_k², where only the linear program knows them."""

from __future__ import annotations

import numpy as np

from penstock.engine.program import Floats
from penstock.errors import PenstockError
from penstock.sizing.both_ways import Held, Program

_ROOM = 1e-9  # of the size: an interior point method cannot move where only one point is left
_EXACT = 1e-10


def most_even(program: Program, found: Held) -> Held:
    """The same size with the shares that have the least Σ S_k²."""
    x = _solved(program, found.size * (1.0 + _ROOM)) * found.size
    even = program.read(np.append(np.maximum(0.0, x), found.size), found.prices, found.proved)
    return even._replace(shares=np.where(even.shares > 1e-9 * found.size, even.shares, 0.0))


def _solved(program: Program, size: float) -> Floats:
    """All columns but the size, in units of it."""
    import clarabel  # noqa: PLC0415 - see static.py
    from scipy.sparse import csc_array, eye_array, vstack  # noqa: PLC0415

    rows, columns = program.rows.matrix(program.size + 1).tocsc(), program.size
    squared = np.zeros(columns)
    squared[program.share] = 2.0
    limit = program.rows.limit / size - rows[:, [columns]].toarray()[:, 0]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = _EXACT
    place = np.arange(columns)
    solver = clarabel.DefaultSolver(
        csc_array((squared, (place, place)), shape=(columns, columns)),
        np.zeros(columns),
        csc_array(vstack([rows[:, :columns], -eye_array(columns)])),
        np.concatenate([limit, np.zeros(columns)]),
        [clarabel.NonnegativeConeT(program.rows.count + columns)],
        settings,
    )
    solution = solver.solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise PenstockError(f"the most even shares of the buffer were not found: {solution.status}")
    return np.array(solution.x)
