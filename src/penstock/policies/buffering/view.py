"""What a strategy for a burst buffer may know when it divides the file system's bandwidth.

A row is a *flow*: bytes between the buffer of one application and the file system, out of it (draining, or writing
past it) or into it (fetching ahead, or reading past it). What comes next of an application is known as it was
described: P5 assumes that patterns are known from earlier runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.numba_types import numba_type


class Flows(NamedTuple):
    """The flows now. Limits are those of the file system, infinite where there is none."""

    now: float
    read_limit: float
    write_limit: float
    joint_limit: float
    port_limit: float  # of all that goes into the buffer and comes out of it
    application: Ints  # place in the scenario
    reading: Ints  # 1: into the buffer, 0: out of it
    cap: Floats  # the most that this flow can use, bytes/s
    under: Ints  # the row of the flow that it must not exceed, because the buffer is full; -1: none
    over: Ints  # 1: its application has ended, so that what it drains makes room for others
    grows: Ints  # 1: that room is for this flow, into a full part; it must not exceed `under` and all that is `over`
    crossing: Ints  # how often its bytes cross the port: 0 past the buffer, 2 if what drains is written anew at once
    beside: Floats  # the most that its application writes to, or reads from, the buffer beside this flow; 0: nothing
    beside_rate: Floats  # what the port leaves of that
    blocked: Ints  # 1: the application is held up by this flow right now
    held: Floats  # output that is not drained yet, or input that is there ahead of its time
    room: Floats  # what the buffer can still take of this application
    due: Floats  # when it will next write or read, if nothing holds it up until then; now, if it does
    ahead: Floats  # how much it will then write or read
    stuck: Floats  # when it would be held up if this flow stood still; infinity: never
    lag: Floats  # how far the plan is ahead of this flow, bytes; 0 without a plan
    planned: Floats  # the rate of the plan now
    key: Floats  # scratch, one number per row
    rows: Ints  # scratch, one row index per row


_F = types.float64[::1]
_I = types.int64[::1]
FLOWS = numba_type(Flows)
DIVIDE = types.void(FLOWS, _F)
STRATEGY = types.FunctionType(DIVIDE)


def empty_flows(rows: int, read: float, write: float, joint: float, port: float) -> Flows:
    """Room for so many flows."""
    columns: dict[str, Any] = {
        name: np.zeros(rows, np.int64 if kind == _I else np.float64)
        for name, kind in zip(Flows._fields[5:], FLOWS.types[5:], strict=True)
    }
    return Flows(0.0, read, write, joint, port, **columns)
