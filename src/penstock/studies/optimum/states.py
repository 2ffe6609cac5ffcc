"""The optimum by dynamic programming: serve operations in every way that may be best, and forget what cannot be.

After some operations have been served, all that matters is how many of each application (`counts`), when the next one
of each can start (`ready`), and the makespan that is certain by now (`bound`). Of two states with equal counts, one
that is no later anywhere makes the other needless. Few applications have few states, and then this finds the optimum
at once where a solver gropes: three chains of fifty operations have 132,651 different counts, however many orders.

If there are too many, only the most promising `width` states of each length are kept (beam search). The best schedule
found is then a good one, and the least bound of what was dropped tells how much better another could be.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import boolean, types
from numpy.typing import NDArray

from penstock.kernels.arrays import Ints
from penstock.kernels.compile import kernel
from penstock.studies.optimum.chains import Chains, Order, twins

MOST_APPLICATIONS = 60  # beyond, even a narrow walk takes too long
_MOST_CELLS = 5_000_000  # of a layer, every state of which may lead to as many as there are applications: 0.5 GB
_REPORT_EVERY = 0.2  # seconds
NEVER = np.iinfo(np.int64).max // 4


class FoundSchedule(NamedTuple):
    """A schedule that ends before the limit, if one was found, and a makespan that none beats."""

    order: Order | None
    bound: int


GAVE_UP = FoundSchedule(None, 0)


class _Layer(NamedTuple):
    """States after the same number of operations, one row each."""

    counts: Ints  # rows × m: operations served
    ready: Ints  # rows × m: earliest start of the next one, given all that was served; 0 if there is none
    bound: Ints  # rows
    parent: Ints  # rows: where it came from in the layer before
    served: Ints  # rows: whose operation was served last

    def pick(self, rows: NDArray[np.generic]) -> _Layer:
        """Some of the rows."""
        return _Layer(*(column[rows] for column in self))


def explore(chains: Chains[int], below: int, width: int, deadline: float, report: Callable[[], None]) -> FoundSchedule:
    """Look for a schedule that ends before `below`, keeping `width` states; at the deadline (monotonic) give up.

    If `bound` of what is found equals the makespan, or `below` when there is no order, that is the optimum. `report` is
    called now and then: it is still going on.
    """
    return _Exploration(chains, below, width).finish(deadline, report)


class _Exploration:
    """One walk through the states."""

    def __init__(self, chains: Chains[int], below: int, width: int) -> None:
        self.chains, self.below = chains, below
        self.width = max(1, min(width, _MOST_CELLS // len(chains) ** 2))
        self.twins = twins(chains)
        longest = max(len(chain.io) for chain in chains) + 1
        # By application and number of operations served: the next compute, the next operation, and from its start to
        # the completion; one column more than operations, for an application that is through.
        self.work, self.io, self.rest = (np.zeros((len(chains), longest), np.int64) for _ in range(3))
        self.left = np.zeros((len(chains), longest), np.int64)  # I/O still to be done
        for i, chain in enumerate(chains):
            own = slice(0, len(chain.io))
            self.work[i, own], self.io[i, own], self.rest[i, own] = chain.work, chain.io, chain.rest
            self.left[i, own] = np.cumsum(chain.io[::-1])[::-1]
        self.length = np.array([len(chain.io) for chain in chains])
        self.tail = np.array([chain.tail for chain in chains])
        self.every = np.arange(len(chains))
        self.hash = np.random.default_rng(0).integers(1, 2**62, len(chains)) | 1
        self.dropped = below

    def finish(self, deadline: float, report: Callable[[], None]) -> FoundSchedule:
        """Walk to the end, or until no state is left that may end before `below`."""
        layer, trail = self._first(), []
        reported = time.monotonic()
        for _ in range(self.length.sum()):
            now = time.monotonic()
            if now > deadline:
                return GAVE_UP
            if now > reported + _REPORT_EVERY:
                report()
                reported = now
            layer = self._narrowed(self._distinct(self._next(layer)))
            if not layer.bound.size:
                return FoundSchedule(None, self.dropped)
            trail.append((layer.parent, layer.served))
        best = int(layer.bound.argmin())
        return FoundSchedule(_walked(trail, best), min(int(layer.bound[best]), self.dropped))

    def _first(self) -> _Layer:
        start = np.array([chain.start for chain in self.chains])
        ready = np.where(self.length > 0, start + self.work[:, 0], 0)
        idle = np.where(self.length > 0, 0, start + self.tail).max(initial=0)
        none = np.zeros(1, np.int64)
        return _Layer(np.zeros((1, start.size), np.int64), ready[None], none + idle, none, none)

    def _next(self, layer: _Layer) -> _Layer:
        """Every state after one more operation that may lead to something better than `below`."""
        unserved = layer.counts < self.length
        ends = np.where(unserved, layer.ready + self.io[self.every, layer.counts], NEVER)
        # Whoever would start when another could have been served already might as well let the other go first.
        soonest = ends.min(axis=1, keepdims=True)
        useful = unserved & ((layer.ready < soonest) | (ends == soonest))
        for i, twin in enumerate(self.twins):
            if twin >= 0:
                useful[:, i] &= layer.counts[:, i] < layer.counts[:, twin]
        parts = [self._served(layer, i, np.flatnonzero(useful[:, i]), ends) for i in range(self.length.size)]
        return _Layer(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _served(self, layer: _Layer, i: int, rows: Ints, ends: Ints) -> _Layer:
        """The states after application i has been served, in those rows where that is worth looking at."""
        counts, end = layer.counts[rows], ends[rows, i]
        counts[:, i] += 1
        unserved = counts < self.length
        ready = np.maximum(layer.ready[rows], end[:, None])
        ready[:, i] += self.work[i, counts[:, i]]
        completes = np.where(unserved[:, i], 0, end + self.tail[i])
        alone = np.where(unserved, ready + self.rest[self.every, counts], 0).max(axis=1)
        soonest = np.where(unserved, ready, NEVER).min(axis=1)
        after = np.where(unserved, self.tail, NEVER).min(axis=1)
        together = np.where(unserved.any(axis=1), soonest + self.left[self.every, counts].sum(axis=1) + after, 0)
        bound = np.max([layer.bound[rows], completes, alone, together], axis=0)
        new = _Layer(counts, np.where(unserved, ready, 0), bound, rows, np.full(rows.size, i))
        return new.pick(bound < self.below)

    def _distinct(self, layer: _Layer) -> _Layer:
        """Without the states that another one makes needless."""
        code = layer.counts @ self.hash
        # A state can be needless only because of one before it in this order.
        layer, code = layer.pick(rows := np.lexsort([layer.ready.sum(axis=1), layer.bound, code])), code[rows]
        keep = np.ones(code.size, np.bool_)
        strike_needless(code, layer.counts, layer.ready, keep)
        return layer.pick(keep)

    def _narrowed(self, layer: _Layer) -> _Layer:
        """The most promising states."""
        if layer.bound.size <= self.width:
            return layer
        rows = np.lexsort([layer.ready.sum(axis=1), layer.bound])
        self.dropped = min(self.dropped, int(layer.bound[rows[self.width]]))
        return layer.pick(rows[: self.width])


def _walked(trail: list[tuple[Ints, Ints]], row: int) -> Order:
    """Who was served on the way to a state."""
    order = []
    for parent, served in reversed(trail):
        order.append(int(served[row]))
        row = int(parent[row])
    return tuple(reversed(order))


@kernel(types.void(types.int64[::1], types.int64[:, ::1], types.int64[:, ::1], boolean[::1]))
def strike_needless(code: Ints, counts: Ints, ready: Ints, keep: NDArray[np.bool_]) -> None:
    """Clear `keep` for each state with an earlier one of equal counts and bound no higher that is ready no later.

    States of equal counts have equal `code` and stand together by rising bound; different counts may share a code.
    """
    begin = 0
    for b in range(1, code.size):
        if code[b] != code[b - 1]:
            begin = b
        for a in range(begin, b):
            needless = keep[a]
            i = 0
            while needless and i < counts.shape[1]:
                needless = counts[a, i] == counts[b, i] and ready[a, i] <= ready[b, i]
                i += 1
            if needless:
                keep[b] = False
                break
