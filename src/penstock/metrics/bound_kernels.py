"""The loops behind the bounds: demand for bytes at a yield, one preemptive EDF pass, and the cut it allows.

To reach yield y, application i needs `need[i]` seconds of progress before `due[i]`. Read backwards from there, each
operation has a deadline; read forwards from its start, an earliest start. Serving the earliest deadline first at the
full rate B minimises the largest lateness, so a positive one proves that y is out of reach.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.engine.program import Floats, Ints
from penstock.kernels import kernel
from penstock.metrics.chains import CHAINS, Chains, bytes_at

BISECTIONS = 80  # from [0, y] down to neighbouring floats
ROUNDS = 100  # each round's yield is a valid bound; random scenarios need two to five
ROUNDING = 1e-13  # relative; lets sums of bytes that fill the window exactly fit


class Desk(NamedTuple):
    """Room to work in, one place per application: kernels do not allocate."""

    need: Floats  # what the yield under test asks: seconds of progress from the start on
    due: Floats  # and when
    heap: Ints  # EDF: the applications that wait, smallest key on top
    key: Floats  # deadline of the operation at the head
    left: Floats  # seconds at rate B that it still takes
    head: Ints  # operations head : tail wait
    tail: Ints
    low: Ints  # the crowd: operations low : high
    high: Ints


_FLOATS, _INTS = types.float64[::1], types.int64[::1]
_DESK = types.NamedTuple([_FLOATS, _FLOATS, _INTS, _FLOATS, _FLOATS, *[_INTS] * 4], Desk)


def desk(m: int) -> Desk:
    """Make room for `m` applications."""
    floats = iter(np.empty((4, m)))
    ints = iter(np.empty((5, m), np.int64))
    return Desk(next(floats), next(floats), next(ints), next(floats), next(floats), *ints)


@kernel(None)
def needed(chains: Chains, i: int, y: float) -> float:
    """Progress that application i needs from its start on; all of its total if it has to finish."""
    wanted = max(0.0, y * (chains.end - chains.release[i]) - chains.progress[i])
    if wanted >= chains.total[i] and not chains.endless[i]:
        return float(chains.total[i])
    return float(wanted)


@kernel(None)
def due_at(chains: Chains, i: int, y: float) -> float:
    """When application i needs that progress: at the end of the window, or earlier if it has to finish for y."""
    wanted = y * (chains.end - chains.release[i]) - chains.progress[i]
    if wanted >= chains.total[i] and not chains.endless[i]:
        return float(chains.release[i] + (chains.progress[i] + chains.total[i]) / y)
    return chains.end


@kernel(None)
def take_aim(chains: Chains, desk: Desk, y: float) -> None:
    """Note what yield y asks of every application."""
    for i in range(len(desk.need)):
        desk.need[i] = needed(chains, i, y)
        desk.due[i] = due_at(chains, i, y)


@kernel(None)
def demand(chains: Chains, y: float) -> float:
    """Bytes that must move inside the window if every application is to reach yield y."""
    total = 0.0
    for i in range(len(chains.release)):
        total += bytes_at(chains, i, needed(chains, i, y))
    return total


@kernel(types.float64(CHAINS, types.float64))
def volume_limit(chains: Chains, top: float) -> float:
    """Largest y up to `top` whose demand the storage can move in the whole window."""
    room = chains.capacity * chains.end * (1.0 + ROUNDING)
    if demand(chains, top) <= room:
        return top
    low, high = 0.0, top
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if demand(chains, middle) <= room:
            low = middle
        else:
            high = middle
    return high


@kernel(None)
def sift_down(desk: Desk, size: int) -> None:
    """Restore the heap after its top changed."""
    heap, key = desk.heap, desk.key
    at, child, moving = 0, 1, heap[0]
    while child < size:
        if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if key[heap[child]] < key[moving]:
            heap[at] = heap[child]
            at, child = child, 2 * child + 1
        else:
            child = size
    heap[at] = moving


@kernel(None)
def sift_up(desk: Desk, at: int) -> None:
    """Restore the heap after an application was put at position `at`, its end."""
    heap, key = desk.heap, desk.key
    moving = heap[at]
    while at > 0 and key[moving] < key[heap[(at - 1) // 2]]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = moving


@kernel(None)
def seconds_alone(chains: Chains, desk: Desk, j: int) -> float:
    """Seconds at rate B that the needed part of operation j takes."""
    part = min(chains.volume[j], (desk.need[chains.owner[j]] - chains.before[j]) * chains.limit[j])
    return float(part / chains.capacity)


@kernel(None)
def deadline_of(chains: Chains, desk: Desk, j: int) -> float:
    """Latest end of operation j that still leaves the dedicated time needed after it."""
    i = chains.owner[j]
    return float(desk.due[i] - max(0.0, desk.need[i] - chains.after[j]))


@kernel(None)
def take_up(chains: Chains, desk: Desk, j: int) -> None:
    """Make operation j the one that its application waits for."""
    i = chains.owner[j]
    desk.head[i] = j
    desk.left[i] = seconds_alone(chains, desk, j)
    desk.key[i] = deadline_of(chains, desk, j)


@kernel(None)
def post(chains: Chains, desk: Desk, j: int, size: int) -> int:
    """Let operation j wait, if it is needed at all; the new size of the heap."""
    i = chains.owner[j]
    if chains.before[j] >= desk.need[i]:
        return size
    waiting = desk.head[i] < desk.tail[i]
    desk.tail[i] = j + 1
    if waiting:
        return size
    take_up(chains, desk, j)
    desk.heap[size] = i
    sift_up(desk, size)
    return size + 1


@kernel(None)
def complete(chains: Chains, desk: Desk, size: int) -> int:
    """Take the operation on top off the heap, the next of its application in its place; the new size."""
    i = desk.heap[0]
    if desk.head[i] + 1 < desk.tail[i]:
        take_up(chains, desk, desk.head[i] + 1)
    else:
        desk.head[i] = desk.tail[i]
        size -= 1
        desk.heap[0] = desk.heap[size]
    sift_down(desk, size)
    return size


@kernel(None)
def worst_lateness(chains: Chains, desk: Desk, order: Ints) -> tuple[float, float]:
    """Serve by earliest deadline; the largest lateness and the deadline that it misses.

    Both starts and deadlines rise along an application, so its operations queue in order and the heap holds
    applications, keyed by the deadline of their first waiting operation.
    """
    for i in range(len(desk.head)):
        desk.head[i] = desk.tail[i] = chains.first[i]
    size, now = 0, -np.inf
    worst, missed = -np.inf, np.inf
    for n in range(len(order) + 1):
        until = chains.start[chains.owner[order[n]]] + chains.before[order[n]] if n < len(order) else np.inf
        while size > 0 and now < until:
            i = desk.heap[0]
            if now + desk.left[i] > until:
                desk.left[i] -= until - now
                now = until
            else:
                now += desk.left[i]
                if now - desk.key[i] > worst:
                    worst, missed = now - desk.key[i], desk.key[i]
                size = complete(chains, desk, size)
        if n < len(order):
            now = max(now, until)
            size = post(chains, desk, order[n], size)
    return worst, missed


@kernel(None)
def busy_since(chains: Chains, desk: Desk, order: Ints, missed: float) -> float:
    """Since when the storage has had work due by `missed` without a pause, up to the miss."""
    since, now = -np.inf, -np.inf
    for n in range(len(order)):
        j, i = order[n], chains.owner[order[n]]
        if chains.before[j] < desk.need[i] and deadline_of(chains, desk, j) <= missed:
            ready = chains.start[i] + chains.before[j]
            if ready > now:
                since, now = ready, ready
            now += seconds_alone(chains, desk, j)
    return since


@kernel(None)
def gather(chains: Chains, desk: Desk, since: float, missed: float) -> None:
    """Note the crowd: all operations that must run between `since` and `missed`."""
    for i in range(len(desk.low)):
        low, high = chains.first[i], chains.first[i + 1]
        while low < high and chains.start[i] + chains.before[low] < since:
            low += 1
        while low < high and (chains.before[high - 1] >= desk.need[i] or deadline_of(chains, desk, high - 1) > missed):
            high -= 1
        desk.low[i], desk.high[i] = low, high


@kernel(None)
def crowd_lateness(chains: Chains, desk: Desk, since: float, y: float) -> float:
    """By how much the crowd alone, served from `since` on, overruns its last deadline when the yield is only y."""
    work, last = 0.0, -np.inf
    for i in range(len(desk.low)):
        if desk.low[i] < desk.high[i]:
            need, final = needed(chains, i, y), desk.high[i] - 1
            moved = min(bytes_at(chains, i, need), chains.sent[final] + chains.volume[final])
            work += max(0.0, moved - chains.sent[desk.low[i]]) / chains.capacity
            last = max(last, due_at(chains, i, y) - max(0.0, need - chains.after[final]))
    return since + work - last


@kernel(None)
def cut(chains: Chains, desk: Desk, since: float, y: float, tolerance: float) -> float:
    """Largest yield at which the crowd fits; its lateness never falls as the yield grows."""
    fits, fails = 0.0, y
    for _ in range(BISECTIONS):
        middle = 0.5 * (fits + fails)
        if crowd_lateness(chains, desk, since, middle) > tolerance:
            fails = middle
        else:
            fits = middle
    return fails


@kernel(types.float64(CHAINS, _DESK, _INTS, types.float64, types.float64))
def deadline_limit(chains: Chains, desk: Desk, order: Ints, top: float, tolerance: float) -> float:
    """Largest y up to `top` at which EDF at rate B meets all deadlines within `tolerance` seconds.

    `order` lists the operations by earliest start. Each round lowers y to where the worst crowd of the last pass fits:
    Newton's method from above, so that y is a valid bound at any time.
    """
    y, lower = top, top
    for _ in range(ROUNDS):
        y = lower
        take_aim(chains, desk, y)
        late, missed = worst_lateness(chains, desk, order)
        if late <= tolerance:
            break
        since = busy_since(chains, desk, order, missed)
        gather(chains, desk, since, missed)
        lower = cut(chains, desk, since, y, tolerance)
        if lower >= y * (1.0 - ROUNDING):
            break
    return y
