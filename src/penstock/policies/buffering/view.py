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
    application: Ints  # place in the scenario
    reading: Ints  # 1: into the buffer, 0: out of it
    cap: Floats  # the most that this flow can use, bytes/s
    under: Ints  # the row of the flow that it must not exceed, because the buffer is full; -1: none
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


def empty_flows(rows: int, read: float, write: float, joint: float) -> Flows:
    """Room for so many flows."""
    columns: dict[str, Any] = {
        name: np.zeros(rows, np.int64 if kind == _I else np.float64)
        for name, kind in zip(Flows._fields[4:], FLOWS.types[4:], strict=True)
    }
    return Flows(0.0, read, write, joint, **columns)
