"""First fit for generated workloads: one application after the other, each as early as its cores are free long enough.

The machine's future is a list of steps: from `at[i]` on, `free[i]` cores are free. As placing somebody only takes
cores, the earliest place of a kind never moves back: the search for it goes on where the last of its kind started.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import kernel

SAME_MOMENT = 1e-6  # seconds: instants closer than this are one

_FLOATS, _INTS = types.float64[::1], types.int64[::1]


def first_fit(kinds: Ints, width: Ints, length: Floats, cores: int) -> Floats:
    """When each of a list of `kinds` starts; a kind takes `width` cores for `length` seconds.

    >>> first_fit(np.array([0, 0, 1]), np.array([2, 1]), np.array([10.0, 5.0]), 3).tolist()
    [0.0, 10.0, 0.0]
    """
    starts = np.empty(kinds.size)
    at, free = np.empty(kinds.size + 1), np.empty(kinds.size + 1, dtype=np.int64)
    place_all(kinds, width, length, cores, at, free, np.zeros(width.size), starts)
    return starts


@kernel(types.int64(_FLOATS, _INTS, types.int64, types.float64, types.int64, types.float64))
def earliest(at: Floats, free: Ints, steps: int, since: float, width: int, length: float) -> int:
    """The first step, not before `since`, from which `width` cores are free for `length` seconds."""
    low, high = 0, steps - 1
    while low < high:
        middle = (low + high + 1) // 2
        if at[middle] <= since:
            low = middle
        else:
            high = middle - 1
    place = low
    step = low
    while step < steps and at[step] < at[place] + length - SAME_MOMENT:
        if free[step] < width:
            place = step + 1
        step += 1
    return place


@kernel(types.void(_INTS, _INTS, _FLOATS, types.int64, _FLOATS, _INTS, _FLOATS, _FLOATS))
def place_all(
    kinds: Ints, width: Ints, length: Floats, cores: int, at: Floats, free: Ints, last: Floats, starts: Floats
) -> None:
    """Fill `starts`; `last` is where the last of each kind started, 0 at first."""
    at[0], free[0] = 0.0, cores
    steps = 1
    for job in range(len(kinds)):
        kind = kinds[job]
        step = earliest(at, free, steps, last[kind], width[kind], length[kind])
        starts[job] = last[kind] = at[step]
        end = at[step] + length[kind]
        while step < steps and at[step] < end - SAME_MOMENT:
            free[step] -= width[kind]
            step += 1
        if step == steps or at[step] > end + SAME_MOMENT:
            for later in range(steps, step, -1):
                at[later], free[later] = at[later - 1], free[later - 1]
            at[step], free[step] = end, free[step - 1] + width[kind]
            steps += 1
