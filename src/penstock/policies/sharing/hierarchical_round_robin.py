"""Hierarchical round-robin: blocks built around the longest jobs, the others spread evenly over them (P2 §3.2).

With n the largest number of operations of a job there are n blocks. A job with n operations has one in every block;
each other job has its operations in consecutive blocks of 2 … n, going round, starting where the previous one stopped.
So blocks differ by at most one operation, and the same job always closes one. Optimal for uniform jobs, and within
1 + 1/n of the optimum for jobs of equal counts, served by rising compute time inside a block (P2 theorems 2 and 4;
the printed algorithm and remark 1 have slips, this follows the text and lemma 2). For other jobs it is a rule of thumb.

On several targets there is one order of all jobs, of which each target keeps its own jobs: with orders of their own,
targets could wait for each other for ever.
"""

from collections.abc import Mapping

import numpy as np

from penstock.kernels.arrays import Floats, Ints
from penstock.policies.sharing.fixed_order import keep_to_plan, planned
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.order import ranked
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


def blocks(foresight: Foresight, settings: Mapping[str, float]) -> Floats:
    """All operations in the order of their blocks."""
    foresight.known_starts("hierarchical-round-robin")
    if foresight.everyone is None:
        return planned(foresight, _in_blocks(foresight))
    place = {name: here for here, name in enumerate(foresight.names)}
    names = foresight.everyone.names
    everyone = _in_blocks(foresight.everyone)
    return planned(foresight, [place[names[job]] for job in everyone if names[job] in place])


def _in_blocks(foresight: Foresight) -> Ints:
    """Whose operation comes when."""
    counts = foresight.operations
    most, reached = counts.max(), _reached(foresight)
    # A block is a stack: who comes later here is served earlier, and the first closes the block.
    order = ranked(-counts, -foresight.mean_work)
    order = order[counts[order] > 0]
    levels = np.flatnonzero(counts[order] == most)
    block = [np.tile(np.arange(reached), levels.size)]
    height = [np.repeat(levels, reached)]
    place = 0.0
    for level in np.flatnonzero(counts[order] < most):
        count = counts[order[level]]
        mine = 1 + _going_round(place % (most - 1), count, most - 1, reached - 1)
        place += count
        block.append(mine)
        height.append(np.full(mine.size, level))
    blocks, heights = np.concatenate(block), np.concatenate(height)
    return order[heights[np.lexsort([-heights, blocks])]]


def _reached(foresight: Foresight) -> int:
    """How many blocks to build: inside a window, one more than the slowest of the longest jobs can reach."""
    longest = foresight.operations == foresight.operations.max()
    return int(min(foresight.operations.max(), np.diff(foresight.first)[longest].min() + 1))


def _going_round(place: float, count: float, room: float, reached: int) -> Ints:
    """Those below `reached` of `count` places from `place` on, where after `room` of them comes the first again."""
    onward = np.arange(place, min(place + count, reached))
    again = np.arange(0, max(0.0, min(place + count - room, reached)))
    return np.concatenate([onward, again]).astype(np.int64)


@sharing("hierarchical-round-robin", source="P2 §3.2", prepare=blocks)
def hierarchical_round_robin(view: View, rates: Floats) -> None:
    """Blocks with one operation of each longest job, the other jobs' operations spread evenly over them."""
    keep_to_plan(view, rates)
