"""Merging neighbouring bursts of a log, in plain Python: where they are few, quicker than loading compiled code."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from penstock.kernels.arrays import Ints


def merge_few(centre: list[float], volume: list[float], budget: float) -> Ints:
    """The number of the burst that each becomes part of; what `merging.merge_cheapest` does, in the same order."""
    count = len(centre)
    left, right, stamp = list(range(-1, count - 1)), list(range(1, count + 1)), [0] * count
    centre, volume = centre.copy(), volume.copy()

    def entry(i: int) -> tuple[float, int, int]:
        j = right[i]
        cost = 2.0 * volume[i] * volume[j] / (volume[i] + volume[j]) * abs(centre[j] - centre[i])
        return cost, i, stamp[i] + stamp[j]

    heap = [entry(i) for i in range(count - 1)]
    heapify(heap)
    spent = 0.0
    while heap and spent + heap[0][0] <= budget:
        cost, i, when = heappop(heap)
        j = right[i]
        if volume[i] == 0.0 or j >= count or stamp[i] + stamp[j] != when:
            continue  # one of the two has changed since
        spent += cost
        total = volume[i] + volume[j]
        centre[i] = (volume[i] * centre[i] + volume[j] * centre[j]) / total
        volume[i], volume[j] = total, 0.0
        stamp[i] += stamp[j] + 1
        right[i] = right[j]
        if right[i] < count:
            left[right[i]] = i
            heappush(heap, entry(i))
        if left[i] >= 0:
            heappush(heap, entry(left[i]))
    return np.cumsum(np.array(volume) > 0.0) - 1
