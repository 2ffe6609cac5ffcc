"""Rows of the View as the loops use them: show them to a policy, put its rates in force, let time pass, drop one."""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import glance, inlined, kernel, part
from penstock.policies.sharing.view import View

_F = types.float64[::1]


@inlined
def rows_shown(
    view: View, now: float, capacity: float, start: int, active: int, memory: Floats, mean_loss: float
) -> View:
    """What the policy sees: `active` rows of every column, from `start` on, its memory, and what all have lost."""
    limit = glance(view.limit, start, active)
    return View(
        now,
        view.begin,
        view.end,
        capacity,
        glance(view.application, start, active),
        glance(view.nodes, start, active),
        limit,
        glance(view.remaining, start, active),
        glance(view.posted, start, active),
        glance(view.release, start, active),
        glance(view.progress, start, active),
        glance(view.omega, start, active),
        glance(view.rate, start, active),
        glance(view.confidence, start, active),  # a scenario's volumes are what it says: all are 1
        limit,
        glance(view.settings, 0, view.settings.size),
        memory,
        part(view.key, 0, active),
        part(view.rows, 0, active),
        mean_loss,
    )


@inlined
def move_row(view: View, source: int, row: int) -> None:
    """Let the row `source` take the place of `row`."""
    view.application[row] = view.application[source]
    view.nodes[row] = view.nodes[source]
    view.limit[row] = view.limit[source]
    view.remaining[row] = view.remaining[source]
    view.posted[row] = view.posted[source]
    view.release[row] = view.release[source]
    view.progress[row] = view.progress[source]
    view.omega[row] = view.omega[source]
    view.rate[row] = view.rate[source]


@kernel(types.UniTuple(types.float64, 2)(_F, _F, _F, _F, types.int64), fastmath={"nsz", "reassoc"}, forceinline=True)
def take(rates: Floats, rate: Floats, limit: Floats, remaining: Floats, active: int) -> tuple[float, float]:
    """Put a decision's rates in force and clear them for the next one.

    Returns the seconds to the first completion (a rate of 0 takes forever) and the sum of the rates, infinite if one
    is improper. One loop: there are few rows, and each loop's end costs a branch that is hard to predict. A rate that
    is no number makes the sum none.
    """
    improper = 0
    in_all = 0.0
    soonest = np.inf
    for row in range(active):
        given = rates[row]
        improper += given < 0.0 or given > limit[row] * (1.0 + SAME)
        in_all += given
        rate[row] = given
        rates[row] = 0.0
        soonest = min(soonest, remaining[row] / given)
    return soonest, np.inf if improper > 0 else in_all


@kernel(types.int64(_F, _F, _F, _F, types.int64, types.float64, types.float64), forceinline=True)
def move(
    remaining: Floats, progress: Floats, rate: Floats, limit: Floats, active: int, passed: float, nearly: float
) -> int:
    """Let `passed` seconds go by for all transfers; return the last that is over, or would be in `nearly` seconds."""
    over = -1
    for row in range(active):
        moved = rate[row] * passed
        left = remaining[row] - moved
        remaining[row] = left
        progress[row] += moved / limit[row]
        if left <= rate[row] * nearly:
            over = row
    return over
