"""Sizing a buffer: whether bytes fit between when they may move at the earliest and must have moved at the latest.

For all s < t, what may move after s at the earliest and must have moved by t is at most B·(t - s), and what a buffer
holds besides. If that holds, serving the earliest deadline first is in time for everything.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import kernel

_F = types.float64[::1]
_I = types.int64[::1]


def scratch_of(starts: int) -> tuple[Floats, Floats]:
    """Room for a tree over so many starts."""
    size = 1 << max(1, (starts - 1).bit_length())
    return np.empty(2 * size), np.empty(2 * size)


@kernel(types.int64(_I, _F, _F, _F, types.float64, types.float64, _F, _F))
def first_excess(
    place: Ints, starts: Floats, volume: Floats, deadline: Floats, limit: float, held: float, top: Floats, add: Floats
) -> int:
    """The first of the volumes that does not fit with those before it, -1 if all do; they come by rising deadline.

    A tree over the starts in rising order; a leaf holds limit·start and the volume of what starts no earlier.
    """
    leaves = top.size >> 1
    for node in range(top.size):
        add[node] = 0.0
        top[node] = -np.inf
    for operation in range(place.size):
        # Only instants at which one of those considered so far starts matter.
        leaf = leaves + place[operation]
        top[leaf] = max(top[leaf], limit * starts[place[operation]] + add[leaf])
        # Everyone who starts no later than this operation counts it.
        low, high = leaves, leaf + 1
        left, right = low, high - 1
        while low < high:
            if low & 1:
                top[low] += volume[operation]
                add[low] += volume[operation]
                low += 1
            if high & 1:
                high -= 1
                top[high] += volume[operation]
                add[high] += volume[operation]
            low >>= 1
            high >>= 1
        node = left >> 1
        while node >= 1:
            top[node] = max(top[2 * node], top[2 * node + 1]) + add[node]
            node >>= 1
        node = right >> 1
        while node >= 1:
            top[node] = max(top[2 * node], top[2 * node + 1]) + add[node]
            node >>= 1
        if top[1] - limit * deadline[operation] > held:
            return operation
    return -1
