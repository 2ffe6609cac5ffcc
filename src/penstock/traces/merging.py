"""Merging neighbouring bursts of a log, cheapest first: 65,536 of them in a few hundredths of a second.

A heap holds the cost of merging each burst with its right neighbour. Its entries are not searched for when they become
outdated; they are recognised by their stamp when they come up.
"""

from __future__ import annotations

from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import kernel

_F, _I = types.float64[::1], types.int64[::1]


@kernel(types.int64(_F, _F, _I, _I, _F, _I, _I, types.int64, types.int64))
def _push(
    centre: Floats,
    volume: Floats,
    right: Ints,
    stamp: Ints,
    heap: Floats,
    owner: Ints,
    issued: Ints,
    size: int,
    i: int,
) -> int:
    """Put the cost of merging burst i with its right neighbour on the heap."""
    j = right[i]
    cost = 2.0 * volume[i] * volume[j] / (volume[i] + volume[j]) * abs(centre[j] - centre[i])
    place = size
    while place > 0 and heap[(place - 1) // 2] > cost:
        above = (place - 1) // 2
        heap[place], owner[place], issued[place] = heap[above], owner[above], issued[above]
        place = above
    heap[place], owner[place], issued[place] = cost, i, stamp[i] + stamp[j]
    return size + 1


@kernel(types.void(_F, _I, _I, types.int64))
def _sink(heap: Floats, owner: Ints, issued: Ints, size: int) -> None:
    """Restore the order of the heap below its top."""
    cost, i, when = heap[0], owner[0], issued[0]
    place, below = 0, 1
    while below < size:
        if below + 1 < size and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= cost:
            below = size  # found: leaves the loop
        else:
            heap[place], owner[place], issued[place] = heap[below], owner[below], issued[below]
            place = below
            below = 2 * place + 1
    heap[place], owner[place], issued[place] = cost, i, when


@kernel(types.void(_F, _F, _I, _I, _I, _F, _I, _I, _I, types.float64))
def merge_cheapest(
    centre: Floats,
    volume: Floats,
    left: Ints,
    right: Ints,
    stamp: Ints,
    heap: Floats,
    owner: Ints,
    issued: Ints,
    group: Ints,
    budget: float,
) -> None:
    """Merge neighbours, cheapest first, while all costs together stay within the budget; `group` numbers the results.

    The heap holds the cost of merging a burst with its right neighbour. An entry is outdated once either of the two has
    changed, which shows by the sum of their stamps.
    """
    count = centre.size
    size = 0
    for i in range(count - 1):
        size = _push(centre, volume, right, stamp, heap, owner, issued, size, i)
    spent = 0.0
    while size > 0 and spent + heap[0] <= budget:
        cost, i, when = heap[0], owner[0], issued[0]
        size -= 1
        heap[0], owner[0], issued[0] = heap[size], owner[size], issued[size]
        _sink(heap, owner, issued, size)
        j = right[i]
        if volume[i] > 0.0 and j < count and stamp[i] + stamp[j] == when:
            spent += cost
            total = volume[i] + volume[j]
            centre[i] = (volume[i] * centre[i] + volume[j] * centre[j]) / total
            volume[i], volume[j] = total, 0.0
            stamp[i] = stamp[i] + stamp[j] + 1
            right[i] = right[j]
            if right[j] < count:
                left[right[j]] = i
                size = _push(centre, volume, right, stamp, heap, owner, issued, size, i)
            if left[i] >= 0:
                size = _push(centre, volume, right, stamp, heap, owner, issued, size, left[i])
    number = -1
    for i in range(count):
        if volume[i] > 0.0:
            number += 1
        group[i] = number
