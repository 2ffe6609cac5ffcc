"""A binary heap for kernels, of (time, application) in two arrays: when each compute phase ends, or a job is released.

Equal times come out in any order: what happens at one instant is applied together anyway.
"""

from __future__ import annotations

from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import kernel

_T = types.float64[::1]
_A = types.int64[::1]


@kernel(types.void(_T, _A, types.int64, types.float64, types.int64), forceinline=True)
def push(times: Floats, applications: Ints, size: int, time: float, application: int) -> None:
    """Add an entry to a heap that holds `size`."""
    slot = size
    while slot > 0:
        parent = (slot - 1) >> 1
        if times[parent] <= time:
            break
        times[slot], applications[slot] = times[parent], applications[parent]
        slot = parent
    times[slot], applications[slot] = time, application


@kernel(types.void(_T, _A, types.int64), forceinline=True)
def pop(times: Floats, applications: Ints, size: int) -> None:
    """Remove the first entry of a heap that holds `size`."""
    last = size - 1
    time, application = times[last], applications[last]
    slot, child = 0, 1
    while child < last:
        # Added, not branched on: which child is earlier cannot be predicted.
        child += child + 1 < last and times[child + 1] < times[child]
        if time <= times[child]:
            break
        times[slot], applications[slot] = times[child], applications[child]
        slot, child = child, 2 * child + 1
    times[slot], applications[slot] = time, application
