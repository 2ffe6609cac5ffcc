"""The smallest buffer with fixed shares, where only one direction has traffic: a small linear program, cut by cut.

Shares that are too small miss a deadline, which gives a cut; the program then finds the smallest size that keeps all
cuts so far. It has one column per application and needs a few hundred cuts, where the program of P5 §6.2 has several
columns for each application and event. Its dual weighs the cuts: their demands prove that nothing smaller is enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog, nnls

from penstock.engine.program import Floats
from penstock.sizing.one_way import Cut, Way, checks_of, slack_of, violated


class Shares(NamedTuple):
    """The smallest size, one way to share it, and the cuts that force it with their weights."""

    size: float
    shares: Floats
    cuts: list[Cut]
    weights: Floats


def smallest(way: Way) -> Shares:
    """The smallest size; of all ways to share it the one with the least Σ S_k²."""
    together = _running_together(way)
    cuts: list[Cut] = []
    while True:
        size, shares, weights = _solved(way, together, cuts)
        found = [cut for cut in violated(way, shares, size) if cut.missing(shares, size) > slack_of(way)]
        if not found:
            break
        cuts += found
    return Shares(size, shares, cuts, weights)


def _running_together(way: Way) -> Floats:
    """Sets of applications that run at the same time: a row each, the largest ones."""
    checks = checks_of(way)
    rows = np.unique((way.begin <= checks[:, None]) & (checks[:, None] < way.end), axis=0)
    return rows.astype(np.float64)


def _solved(way: Way, together: Floats, cuts: list[Cut]) -> tuple[float, Floats, Floats]:
    m = way.total.size
    above = np.hstack([together, np.full((together.shape[0], 1), -1.0)])
    limit = np.zeros(together.shape[0])
    if cuts:
        rows = np.array([[*-cut.shares, -cut.whole] for cut in cuts])
        above = np.vstack([above, rows])
        limit = np.concatenate([limit, [cut.room - cut.demand for cut in cuts]])
    unit = max(1.0, float(np.abs(limit).max(initial=0.0)))
    cost = np.zeros(m + 1)
    cost[m] = 1.0
    found = linprog(cost, A_ub=above, b_ub=limit / unit, bounds=(0, None), method="highs")
    return found.x[m] * unit, found.x[:m] * unit, -found.ineqlin.marginals[together.shape[0] :]
