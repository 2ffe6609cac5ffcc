"""Sizing a buffer: the two solvers behind the linear programs.

The simplex method (HiGHS) is exact to the last digits, and slow beyond some thousand columns where shares are fixed. An
interior point method (Clarabel) takes seconds where the other takes minutes, to about 1e-8; it also takes squares.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from penstock.errors import PenstockError
from penstock.kernels.arrays import Floats

_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_CLOSE = 1e-10  # asked for; what is reached is about a hundred times as much


class Unsolved(PenstockError):
    """A linear program that has no solution, or whose solution was not found."""


class Solved(NamedTuple):
    """The columns, and what one more of each row's limit would save."""

    x: Floats
    prices: Floats


def simplex(cost: Floats, rows: Any, limit: Floats) -> Solved:
    """Minimise cost·x for rows·x ≤ limit and x ≥ 0."""
    from scipy.optimize import linprog  # noqa: PLC0415 - takes longer to load than most sizes take to find

    found = linprog(cost, A_ub=rows, b_ub=limit, bounds=(0, None), method="highs", options=_EXACT)
    if found.status != 0:
        raise Unsolved(f"the linear program of the buffer was not solved: {found.message}")
    return Solved(found.x, np.maximum(0.0, -found.ineqlin.marginals))


def interior(cost: Floats, rows: Any, limit: Floats, squared: Floats | None = None) -> Solved:
    """The same, plus ½·Σ squared·x² if that is given."""
    import clarabel  # noqa: PLC0415 - see simplex
    from scipy.sparse import csc_array, eye_array, vstack  # noqa: PLC0415

    columns, place = cost.size, np.arange(cost.size)
    squares = (np.zeros(0), (place[:0], place[:0])) if squared is None else (squared, (place, place))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = _CLOSE
    solution = clarabel.DefaultSolver(
        csc_array(squares, shape=(columns, columns)),
        cost,
        csc_array(vstack([csc_array(rows), -eye_array(columns)])),
        np.concatenate([limit, np.zeros(columns)]),
        [clarabel.NonnegativeConeT(limit.size + columns)],
        settings,
    ).solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise Unsolved(f"the linear program of the buffer was not solved: {solution.status}")
    return Solved(np.maximum(0.0, np.array(solution.x)), np.maximum(0.0, np.array(solution.z)[: limit.size]))
