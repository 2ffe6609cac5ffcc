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
    # A block is a stack: who comes later here is served earlier, and the first closes the block.
    order = ranked(-foresight.operations, -foresight.mean_work)
    order = order[foresight.operations[order] > 0]
    reached = _reached(foresight)[order]
    heights = np.repeat(np.arange(order.size), reached)
    place = np.arange(heights.size) - np.repeat(np.cumsum(reached) - reached, reached)  # among a job's operations
    return order[heights[np.lexsort([-heights, _blocks(foresight.operations[order], heights, place)])]]


def _reached(foresight: Foresight) -> Ints:
    """How many operations of each job to place: inside a window, one more than it can reach.

    For that one the storage waits until the window ends, or the job's walltime, after which it has no turns.
    """
    reached: Ints = np.minimum(foresight.operations, np.diff(foresight.first) + 1).astype(np.int64)
    return reached


def _blocks(counts: Floats, heights: Ints, place: Ints) -> Floats:
    """The block of an operation, the `place`-th of the job at that height."""
    longest = counts == counts.max(initial=0.0)
    room = counts.max(initial=2.0) - 1.0  # all blocks but the first
    others = np.where(longest, 0.0, counts)
    first = (np.cumsum(others) - others) % room  # where the one before stopped
    again = np.maximum(0.0, first + others - room)  # so many go round to the first of them, and come before the rest
    spread = np.where(place < again[heights], place, first[heights] + place - again[heights])
    found: Floats = np.where(longest[heights], place, 1.0 + spread)
    return found


@sharing("hierarchical-round-robin", source="P2 §3.2", prepare=blocks)
def hierarchical_round_robin(view: View, rates: Floats) -> None:
    """Blocks with one operation of each longest job, the other jobs' operations spread evenly over them."""
    keep_to_plan(view, rates)
