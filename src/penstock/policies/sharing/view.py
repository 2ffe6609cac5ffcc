"""What a sharing policy may know when it decides: the present and the past of the active applications, no future.

A `View` has one row per active application (one with an I/O operation posted and not finished). It has no way to
reach the phases still to come, so a policy cannot use them even by accident; the live controller builds the same
View from what jobs announced.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.numba_types import FLOATS, numba_type


class View(NamedTuple):
    """The active applications now. Rows come in no particular order: break ties by `application`.

    Times have no meaning but against each other: the simulator counts them from the beginning of the run.
    """

    now: float
    begin: float  # when the run began
    end: float  # T_end, infinity without a window
    capacity: float  # B, bytes/s to divide
    application: Ints  # place in the scenario
    nodes: Floats  # p_i
    limit: Floats  # the most this operation can use, bytes/s
    remaining: Floats  # V_i, bytes still to transfer
    posted: Floats  # R_i, when the operation was posted
    release: Floats  # tau_i
    progress: Floats  # seconds of work and of I/O at full rate done since release
    omega: Floats  # mean length of the iterations completed so far, seconds; NaN before the first
    rate: Floats  # bytes/s in force until now
    confidence: Floats  # that `remaining` is right: 1 if the volume was announced, below 1 if it was predicted
    bandwidth: Floats  # b_i, what it would move at alone, bytes/s: the limit, but for several flows on a whole machine
    settings: Floats  # the policy's own parameters, in the order they were declared
    memory: Floats  # the policy's own numbers, zero or prepared at first, kept from one decision to the next
    key: Floats  # scratch, one number per row
    rows: Ints  # scratch, one row index per row
    # Mean of 1 - yield over all that are released and not finished, those that compute included; NaN unless asked for
    mean_loss: float = np.nan


COLUMNS = (
    "application",
    "nodes",
    "limit",
    "remaining",
    "posted",
    "release",
    "progress",
    "omega",
    "rate",
    "confidence",
    "bandwidth",
)
# A policy that writes to what it is shown does not compile; its own are the memory and the scratch space.
VIEW = numba_type(View, read_only=(*COLUMNS, "settings"))
# The engine's own, with room for every application.
ROOM = numba_type(View)
RATES = FLOATS
DECIDE = types.void(VIEW, RATES)
POLICY = types.FunctionType(DECIDE)


def active_rows(view: View, now: float, start: int, active: int, mean_loss: float) -> View:
    """`active` rows of a View with room for more, from `start` on, to be read only."""
    front = {name: getattr(view, name)[start : start + active] for name in COLUMNS}
    scratch = {name: getattr(view, name)[:active] for name in ("key", "rows")}
    return shut(view._replace(now=now, mean_loss=mean_loss, **front, **scratch))


def shut(view: View) -> View:
    """The same View, in which only memory and scratch space can be written."""
    shown = {name: getattr(view, name).view() for name in (*COLUMNS, "settings")}
    for column in shown.values():
        column.flags.writeable = False
    return view._replace(**shown)


def empty_view(rows: int, settings: Floats, memory: Floats) -> View:
    """A View with room for `rows` active applications, all zero; what each would have alone is its limit."""
    limit = np.zeros(rows)
    return View(
        now=0.0,
        begin=0.0,
        end=np.inf,
        capacity=0.0,
        application=np.zeros(rows, np.int64),
        nodes=np.zeros(rows),
        limit=limit,
        remaining=np.zeros(rows),
        posted=np.zeros(rows),
        release=np.zeros(rows),
        progress=np.zeros(rows),
        omega=np.zeros(rows),
        rate=np.zeros(rows),
        confidence=np.ones(rows),
        bandwidth=limit,
        settings=settings,
        memory=memory,
        key=np.zeros(rows),
        rows=np.zeros(rows, np.int64),
    )
