"""Longest processing time first: on which I/O node each pack runs (P3 §6.2.4).

The longest pack goes to the node that is free first, then the next one. On R nodes the last pack ends at most
4/3 - 1/(3R) times later than in the best distribution, if packs take the time that was announced.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.policies.sharing.order import ranked


def longest_first(seconds: Floats, nodes: int) -> Ints:
    """The node of each pack; a node runs its packs longest first.

    >>> longest_first(np.array([3.0, 3.0, 2.0, 2.0, 2.0]), nodes=2)
    array([0, 1, 0, 1, 0])
    """
    node = np.empty(seconds.size, np.int64)
    free = np.zeros(nodes)
    for pack in ranked(-seconds):
        # Of those free at the same time, rounding apart, the lowest.
        node[pack] = np.flatnonzero(free <= free.min() * (1.0 + SAME))[0]
        free[node[pack]] += seconds[pack]
    return node
