"""Greedy, clairvoyant: the same stress on every target, as nearly as can be (GC, P4 §3.2).

Applications come by falling share of I/O in their time; each takes the least stressed targets, and every one of these
then carries its part of the stress. On a target that is too slow for it, an application's part is larger (ours): there
the least stressed targets are those that carry least together with it.

With jobs that come and go, those who start first come first, and a target carries only those who run by plan when an
application starts. Their stress is summed afresh whenever one has left: a difference would leave rounding noise behind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import inlined, kernel
from penstock.kernels.numba_types import numba_type
from penstock.policies.allocation.demand import Demand
from penstock.policies.placement.policy import placement
from penstock.policies.sharing.order import coarse, ranked


class _Placing(NamedTuple):
    """Applications in the order in which they are placed, and the targets."""

    order: Ints  # m: applications
    begin: Ints  # m: the instant of an application's start
    end: Ints  # m: the first instant at which it has left
    first: Ints  # m + 1: where its targets are in the list of all
    compute: Floats  # m: seconds
    transfer: Floats  # m: seconds of I/O, alone on fast targets
    peak: Floats  # m: bytes/s on each target
    limit: Floats  # N: the most a target can move
    running: Ints  # m: those who run now, as they were placed
    places: Ints  # s: the targets, application after application
    part: Floats  # s: the stress that each carries for it
    stress: Floats  # N: what a target carries now
    added: Floats  # N: what it would carry for the application in question
    key: Floats  # N
    heap: Ints  # N


_PLACING = numba_type(_Placing)


@inlined
def _carry(placing: _Placing, i: int) -> None:
    for k in range(placing.first[i], placing.first[i + 1]):
        placing.stress[placing.places[k]] += placing.part[k]


@inlined
def _let_go(placing: _Placing, running: int, instant: int) -> int:
    """Take those who have left off their targets; how many run on."""
    left = 0
    for place in range(running):
        i = placing.running[place]
        if placing.end[i] > instant:
            placing.running[left] = i
            left += 1
    if left < running:
        placing.stress[:] = 0.0
        for place in range(left):
            _carry(placing, placing.running[place])
    return left


@inlined
def _weigh(placing: _Placing, i: int) -> None:
    """How stressed each target would be with application `i`, less what it adds everywhere."""
    least = np.inf
    for target in range(placing.limit.size):
        slower = max(1.0, placing.peak[i] / placing.limit[target])
        transfer = placing.transfer[i] * slower
        placing.added[target] = transfer / (placing.compute[i] + transfer)
        least = min(least, placing.added[target])
    for target in range(placing.limit.size):
        placing.key[target] = coarse(placing.stress[target] + (placing.added[target] - least))
        placing.heap[target] = target


@inlined
def _lighter(key: Floats, a: int, b: int) -> bool:
    return key[a] < key[b] or (key[a] == key[b] and a < b)


@inlined
def _sift_down(heap: Ints, key: Floats, hole: int, size: int) -> None:
    target = heap[hole]
    child = 2 * hole + 1
    while child < size:
        if child + 1 < size and _lighter(key, heap[child + 1], heap[child]):
            child += 1
        if not _lighter(key, heap[child], target):
            break
        heap[hole] = heap[child]
        hole, child = child, 2 * child + 1
    heap[hole] = target


@inlined
def _choose(placing: _Placing, i: int) -> None:
    """The lightest targets, from a heap: only as many as are needed are put in order."""
    size = placing.heap.size
    for hole in range(size // 2 - 1, -1, -1):
        _sift_down(placing.heap, placing.key, hole, size)
    for k in range(placing.first[i], placing.first[i + 1]):
        target = placing.heap[0]
        placing.places[k] = target
        placing.part[k] = placing.added[target]
        size -= 1
        placing.heap[0] = placing.heap[size]
        _sift_down(placing.heap, placing.key, 0, size)


@kernel(types.void(_PLACING))
def _place(placing: _Placing) -> None:
    running, instant = 0, 0
    for i in placing.order:
        if placing.begin[i] > instant:
            instant = placing.begin[i]
            running = _let_go(placing, running, instant)
        _weigh(placing, i)
        _choose(placing, i)
        _carry(placing, i)
        placing.running[running] = i
        running += 1


@placement("greedy-clairvoyant", source="P4 §3.2")
def greedy_clairvoyant(demand: Demand, option: Ints, draw: np.random.Generator) -> list[Ints]:
    """Those who transfer most of their time first, each takes the targets with the least stress."""
    runs, count = demand.presence, demand.count[option]
    first = np.concatenate([[0], np.cumsum(count)])
    placing = _Placing(
        order=ranked(runs.begin, -demand.io_share[option]),
        begin=runs.begin,
        end=runs.end,
        first=first,
        compute=demand.compute,
        transfer=demand.transfer[option],
        peak=demand.bandwidth[option] / count,
        limit=demand.limit,
        running=np.empty(option.size, np.int64),
        places=np.empty(first[-1], np.int64),
        part=np.empty(first[-1]),
        stress=np.zeros(demand.targets),
        added=np.empty(demand.targets),
        key=np.empty(demand.targets),
        heap=np.empty(demand.targets, np.int64),
    )
    _place(placing)
    return np.split(placing.places, first[1:-1])
