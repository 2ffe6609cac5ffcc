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
    counts, reached = foresight.operations, _reached(foresight)
    most = counts.max()
    # A block is a stack: who comes later here is served earlier, and the first closes the block.
    order = ranked(-counts, -foresight.mean_work)
    order = order[counts[order] > 0]
    blocks, place = [np.empty(0, np.int64)], 0.0
    for job in order:
        if counts[job] == most:
            blocks.append(np.arange(reached[job]))
        else:
            blocks.append(1 + _going_round(place % (most - 1), counts[job], most - 1, reached[job]))
            place += counts[job]
    heights = np.repeat(np.arange(order.size), reached[order])
    return order[heights[np.lexsort([-heights, np.concatenate(blocks)])]]


def _reached(foresight: Foresight) -> Ints:
    """How many operations of each job to place: inside a window, one more than it can reach.

    For that one the storage waits until the window ends, or the job's walltime, after which it has no turns.
    """
    reached: Ints = np.minimum(foresight.operations, np.diff(foresight.first) + 1).astype(np.int64)
    return reached


def _going_round(place: float, count: float, room: float, reached: int) -> Ints:
    """The first `reached` of `count` places from `place` on, where after `room` of them comes the first again."""
    again = max(0.0, place + count - room)
    onward = min(count - again, max(0.0, reached - again))
    return np.concatenate([np.arange(min(again, reached)), np.arange(place, place + onward)]).astype(np.int64)


@sharing("hierarchical-round-robin", source="P2 §3.2", prepare=blocks)
def hierarchical_round_robin(view: View, rates: Floats) -> None:
    """Blocks with one operation of each longest job, the other jobs' operations spread evenly over them."""
    keep_to_plan(view, rates)
