"""The dedicated run of every application: where each operation starts and ends when nobody else is there.

`before` and `after` are seconds of ideal progress since the first listed phase, so that an operation of application i
can start at `start[i] + before[j]` at the earliest, and V(p), the bytes moved within p seconds of progress, is one
binary search. Times count from the begin of the window, which keeps their digits when a trace carries calendar times.

Kernels that only other kernels call, here and in the modules that use this one, have no signature: a process that finds
their callers compiled never loads them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from penstock.engine.program import Floats, Ints, Program
from penstock.kernels import kernel


class Chains(NamedTuple):
    """`m` applications and their `k` operations; operations of application i are `first[i] : first[i + 1]`."""

    capacity: float  # B
    end: float  # length of the window; infinity without one
    release: Floats  # m
    progress: Floats  # m: seconds of ideal progress made before `start`
    start: Floats  # m
    total: Floats  # m: seconds of ideal progress listed
    endless: NDArray[np.bool_]  # m
    first: Ints  # m + 1
    owner: Ints  # k: the application of each operation
    before: Floats  # k: progress when the operation starts
    after: Floats  # k: progress when it ends
    sent: Floats  # k: bytes moved by the operations in front of it
    volume: Floats  # k
    limit: Floats  # k


_FLOAT, _FLOATS, _INTS = types.float64, types.float64[::1], types.int64[::1]
CHAINS = types.NamedTuple(
    [_FLOAT, _FLOAT, *[_FLOATS] * 4, types.boolean[::1], _INTS, _INTS, *[_FLOATS] * 5],
    Chains,
)


def chains(program: Program) -> Chains:
    """Lay out the dedicated run of every application of `program`."""
    k = len(program.volume)
    lines = Chains(
        capacity=float(program.capacity),
        end=float(program.end - program.begin),
        release=program.release - program.begin,
        progress=program.progress,
        start=program.start - program.begin,
        total=program.tail.copy(),
        endless=program.endless,
        first=program.first,
        owner=np.repeat(np.arange(len(program.first) - 1), np.diff(program.first)),
        before=np.empty(k),
        after=np.empty(k),
        sent=np.empty(k),
        volume=program.volume,
        limit=program.limit,
    )
    lay_out(lines, program.work)
    return lines


@kernel(None)
def add(total: float, lost: float, term: float) -> tuple[float, float]:
    """One step of Kahan's sum: the new total and what it lost to rounding."""
    rest = term - lost
    new = total + rest
    return new, (new - total) - rest


@kernel(types.void(CHAINS, _FLOATS))
def lay_out(chains: Chains, work: Floats) -> None:
    """Fill the progress and the bytes at each operation, and add the progress of all to `total`."""
    for i in range(len(chains.total)):
        # A million equal phases summed plainly drift by 1e-10, which would show in a bound.
        done, done_lost = 0.0, 0.0
        moved, moved_lost = 0.0, 0.0
        for j in range(chains.first[i], chains.first[i + 1]):
            done, done_lost = add(done, done_lost, work[j])
            chains.before[j] = done
            done, done_lost = add(done, done_lost, chains.volume[j] / chains.limit[j])
            chains.after[j] = done
            chains.sent[j] = moved
            moved, moved_lost = add(moved, moved_lost, chains.volume[j])
        chains.total[i] += done


@kernel(None)
def bytes_at(chains: Chains, i: int, progress: float) -> float:
    """V_i(p): bytes that application i has moved after `progress` seconds of a dedicated run."""
    low, high = chains.first[i], chains.first[i + 1]
    while low < high:
        middle = (low + high) // 2
        if chains.after[middle] <= progress:
            low = middle + 1
        else:
            high = middle
    if low < chains.first[i + 1]:
        return float(chains.sent[low] + max(0.0, progress - chains.before[low]) * chains.limit[low])
    if low > chains.first[i]:
        return float(chains.sent[low - 1] + chains.volume[low - 1])
    return 0.0
