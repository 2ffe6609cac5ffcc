"""A binary heap of (time, application) in two arrays: when each compute phase ends, or a job is released."""

from __future__ import annotations

from numba import types

from penstock.engine.program import Floats, Ints
from penstock.kernels import kernel

_T = types.float64[::1]
_A = types.int64[::1]


@kernel(types.void(_T, _A, types.int64, types.float64, types.int64))
def push(times: Floats, applications: Ints, size: int, time: float, application: int) -> None:
    """Add an entry to a heap that holds `size`; equal times are ordered by application."""
    slot = size
    while slot > 0:
        parent = (slot - 1) >> 1
        if times[parent] < time or (times[parent] == time and applications[parent] < application):
            break
        times[slot], applications[slot] = times[parent], applications[parent]
        slot = parent
    times[slot], applications[slot] = time, application


@kernel(types.void(_T, _A, types.int64))
def pop(times: Floats, applications: Ints, size: int) -> None:
    """Remove the first entry of a heap that holds `size`."""
    last = size - 1
    time, application = times[last], applications[last]
    slot, child = 0, 1
    while child < last:
        other = child + 1
        if other < last and (
            times[other] < times[child]
            or (times[other] == times[child] and applications[other] < applications[child])
        ):
            child = other
        if time < times[child] or (time == times[child] and application < applications[child]):
            break
        times[slot], applications[slot] = times[child], applications[child]
        slot, child = child, 2 * child + 1
    times[slot], applications[slot] = time, application
