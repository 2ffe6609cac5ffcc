"""The smallest buffer with fixed shares, where only one direction has traffic: a small linear program, cut by cut.

Shares that are too small miss a deadline, which gives a cut; the program then finds the smallest size that keeps all
cuts so far. It has one column per application and needs a few hundred cuts, where the program of P5 §6.2 has several
columns for each application and event. Its dual weighs the cuts: their demands prove that nothing smaller is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.studies.sizing.least_squares import nearest_to_zero
from penstock.studies.sizing.one_way import Cut, Way, checks_of, violated
from penstock.studies.sizing.solvers import interior, simplex

Progress = Callable[[int, float], None]  # cuts so far, and how much of the size is missing somewhere at most
MANY = 64  # applications: from here on the exact search for even shares takes seconds
_COARSE, _NEAR, _SOLVERS = 1e-6, 0.05, 1e-9  # of the size
_HEAVY = 10.0


class Partition(NamedTuple):
    """The smallest size, the most even way to share it, and the cuts that force it with their weights."""

    size: float
    shares: Floats
    cuts: list[Cut]
    weights: Floats


def smallest(way: Way, progress: Progress | None = None) -> Partition:
    """The smallest size; of all ways to share it the one with the least Σ S_k².

    Every round asks about the most even shares at the size so far: they lie deep inside what the cuts leave, where the
    next cuts bite. A corner of it, as the linear program gives, took up to 15 times as many rounds.
    """
    together = _running_together(way)
    many = way.total.size > MANY
    cuts = _first_cuts(way, together, progress) if many else []
    known = {cut.key for cut in cuts}
    while True:
        size, weights = _least_size(way.total.size, together, cuts)
        shares = (_nearly_even if many else _most_even)(size, together, cuts)
        found = [cut for cut in violated(way, shares, size) if cut.key not in known]
        if many:
            found = [cut for cut in found if cut.missing(shares, size) > _SOLVERS * size]
        # A cut that is there already is missed by rounding only.
        if not found:
            return Partition(size, shares, cuts, weights)
        cuts.extend(found)
        known.update(cut.key for cut in found)
        if progress is not None:
            progress(len(cuts), max(cut.missing(shares, size) for cut in found) / size if size > 0.0 else 1.0)


def _first_cuts(way: Way, together: Floats, progress: Progress | None) -> list[Cut]:
    """Cuts for many applications: one solver finds size and even shares at once, to some digits, until none is missed.

    Those that bite near the end are kept; from there on exactly.
    """
    cuts: list[Cut] = []
    known: set[bytes] = set()
    while True:
        shares, size = _balanced(together, cuts)
        found = [cut for cut in violated(way, shares, size) if cut.key not in known]
        found = [cut for cut in found if cut.missing(shares, size) > _COARSE * size]
        if not found:
            return [cut for cut in cuts if cut.missing(shares, size) > -_NEAR * size]
        cuts.extend(found)
        known.update(cut.key for cut in found)
        if progress is not None:
            progress(len(cuts), max(cut.missing(shares, size) for cut in found) / size if size > 0.0 else 1.0)


def _balanced(together: Floats, cuts: list[Cut]) -> tuple[Floats, float]:
    """The least size, which weighs most, and even shares."""
    m = together.shape[1]
    rows, limit = _rows(together, cuts)
    unit = float(np.abs(limit).max(initial=0.0)) or 1.0
    weights = np.append(np.zeros(m), _HEAVY * m)
    found = interior(weights, rows, limit / unit, np.append(np.ones(m), 0.0))
    return found.x[:m] * unit, float(found.x[m]) * unit


def _nearly_even(size: float, together: Floats, cuts: list[Cut]) -> Floats:
    """As `_most_even`, to about eight digits, where there are many shares."""
    m = together.shape[1]
    rows, limit = _rows(together, cuts)
    unit = size or 1.0
    room = (limit - rows[:, m] * size) / unit + _SOLVERS
    return interior(np.zeros(m), rows[:, :m], room, np.ones(m)).x * unit


def _running_together(way: Way) -> Floats:
    """Sets of applications that run at the same time, a row each."""
    checks = checks_of(way)
    rows = np.unique((way.begin <= checks[:, None]) & (checks[:, None] < way.end), axis=0)
    return rows.astype(np.float64)


def _rows(together: Floats, cuts: list[Cut]) -> tuple[Floats, Floats]:
    """All that shares and size must keep: rows·(S_1, …, S_m, S) ≤ limit."""
    rows = np.hstack([together, np.full((together.shape[0], 1), -1.0)])
    limit = np.zeros(together.shape[0])
    if cuts:
        rows = np.vstack([rows, [[*-cut.shares, -cut.whole] for cut in cuts]])
        limit = np.concatenate([limit, [cut.room - cut.demand for cut in cuts]])
    return rows, limit


def _least_size(m: int, together: Floats, cuts: list[Cut]) -> tuple[float, Floats]:
    """The smallest size that keeps all cuts, and how much each cut weighs in that."""
    rows, limit = _rows(together, cuts)
    unit = float(np.abs(limit).max(initial=0.0)) or 1.0
    cost = np.zeros(m + 1)
    cost[m] = 1.0
    found = simplex(cost, rows, limit / unit)
    return found.x[m] * unit, found.prices[together.shape[0] :]


def _most_even(size: float, together: Floats, cuts: list[Cut]) -> Floats:
    """The shares with the least Σ S_k² that keep all cuts at this size."""
    m = together.shape[1]
    rows, limit = _rows(together, cuts)
    unit = size or 1.0
    at_least = np.vstack([-rows[:, :m], np.eye(m)])
    amount = np.concatenate([-(limit - rows[:, m] * size) / unit, np.zeros(m)])
    return nearest_to_zero(at_least, amount) * unit
