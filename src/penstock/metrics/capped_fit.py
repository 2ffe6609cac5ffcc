"""For bounds on metrics: do bytes fit when operations have caps of their own? A maximum flow over elementary intervals.

Cut time at every earliest start and deadline. Operation j can put at most cap·length bytes into an interval inside its
window, an interval takes at most B·length, and rates constant within an interval realise any such division: all bytes
fit exactly if the maximum flow from operations to intervals carries them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import inlined, kernel
from penstock.kernels.numba_types import numba_type

MISSING = 1e-10  # share of all bytes that one operation may lack before it counts as not fitting
NO_ROOM = 1e-15  # share of all bytes below which room is taken for rounding

_NOBODY, _SOURCE = -1, -2  # where no path has come from yet, and where it starts


class FlowNetwork(NamedTuple):
    """Operations by rising deadline; operation j may use the intervals `low[j] : high[j]`."""

    low: Ints
    high: Ints
    offset: Ints  # where the flows of an operation start, one per interval of its window
    limit: Floats
    length: Floats  # seconds of each interval
    room: Floats  # bytes that each interval can still take
    left: Floats  # bytes that each operation still has to place
    flow: Floats  # bytes placed, per operation and interval
    via_operation: Ints  # the path being searched: the operation that led to an interval
    via_interval: Ints  # and the interval that led to an operation
    queue: Ints


_FLOATS, _INTS = types.float64[::1], types.int64[::1]
_NETWORK = numba_type(FlowNetwork)


def fits(program: Program, need: Floats, due: Floats) -> bool:
    """Whether all that is needed fits between earliest starts and deadlines under B and the caps."""
    net = network(program, need, due)
    return bool(carries(net, float(net.left.sum())))


def network(program: Program, need: Floats, due: Floats) -> FlowNetwork:
    """Lay out the needed part of every operation, with nothing placed yet."""
    ready, deadline, volume = needed_parts(program, need, due)
    wanted = np.flatnonzero(volume > 0.0)
    order = wanted[np.argsort(deadline[wanted], kind="stable")]
    points = np.unique(np.concatenate([ready[order], deadline[order]]))
    low = np.searchsorted(points, ready[order])
    # A window of no length can come out reversed by rounding.
    high = np.maximum(low, np.searchsorted(points, deadline[order]))
    offset = np.concatenate([[0], np.cumsum(high - low)])
    length = np.diff(points)
    return FlowNetwork(
        low=low,
        high=high,
        offset=offset,
        limit=program.limit[order],
        length=length,
        room=length * program.capacity,
        left=volume[order],
        flow=np.zeros(offset[-1]),
        via_operation=np.empty(len(length), np.int64),
        via_interval=np.empty(len(order), np.int64),
        queue=np.empty(len(order), np.int64),
    )


def needed_parts(program: Program, need: Floats, due: Floats) -> tuple[Floats, Floats, Floats]:
    """Earliest start and deadline from the begin on, and bytes (0 if not needed), of each operation."""
    seconds = program.volume / program.limit
    owner = np.repeat(np.arange(len(need)), np.diff(program.first))
    ends = np.cumsum(program.work + seconds)
    after = ends - np.concatenate([[0.0], ends])[program.first[owner]]
    before = after - seconds
    return (
        (program.start - program.begin)[owner] + before,
        due[owner] - np.maximum(0.0, need[owner] - after),
        np.clip((need[owner] - before) * program.limit, 0.0, program.volume),
    )


@inlined
def take_early(net: FlowNetwork, j: int) -> None:
    """Put the bytes of operation j into the earliest room of its window."""
    for interval in range(net.low[j], net.high[j]):
        part = min(net.left[j], net.room[interval], net.limit[j] * net.length[interval])
        net.flow[net.offset[j] + interval - net.low[j]] = part
        net.room[interval] -= part
        net.left[j] -= part


@inlined
def displace(net: FlowNetwork, interval: int, size: int, nothing: float) -> int:
    """Queue the operations that could move bytes out of a full interval; the new size of the queue."""
    for j in range(len(net.low)):
        if (
            net.via_interval[j] == _NOBODY
            and net.low[j] <= interval < net.high[j]
            and net.flow[net.offset[j] + interval - net.low[j]] > nothing
        ):
            net.via_interval[j] = interval
            net.queue[size] = j
            size += 1
    return size


@inlined
def find_path(net: FlowNetwork, source: int, nothing: float) -> int:
    """Search breadth first for an interval with room that `source` reaches by moving others' bytes; -1 if none."""
    for interval in range(len(net.via_operation)):
        net.via_operation[interval] = _NOBODY
    for j in range(len(net.via_interval)):
        net.via_interval[j] = _NOBODY
    net.via_interval[source] = _SOURCE
    net.queue[0] = source
    done, size = 0, 1
    while done < size:
        j = net.queue[done]
        done += 1
        for interval in range(net.low[j], net.high[j]):
            spare = net.limit[j] * net.length[interval] - net.flow[net.offset[j] + interval - net.low[j]]
            if net.via_operation[interval] == _NOBODY and spare > nothing:
                net.via_operation[interval] = j
                if net.room[interval] > nothing:
                    return interval
                size = displace(net, interval, size, nothing)
    return -1


@inlined
def push(net: FlowNetwork, source: int, last: int) -> None:
    """Send as much as the path from `source` to the interval `last` takes."""
    part = min(net.left[source], net.room[last])
    interval = last
    while interval >= 0:
        j = net.via_operation[interval]
        part = min(part, net.limit[j] * net.length[interval] - net.flow[net.offset[j] + interval - net.low[j]])
        interval = net.via_interval[j]
        if interval >= 0:
            part = min(part, net.flow[net.offset[j] + interval - net.low[j]])
    net.room[last] -= part
    net.left[source] -= part
    interval = last
    while interval >= 0:
        j = net.via_operation[interval]
        net.flow[net.offset[j] + interval - net.low[j]] += part
        interval = net.via_interval[j]
        if interval >= 0:
            net.flow[net.offset[j] + interval - net.low[j]] -= part


@kernel(types.boolean(_NETWORK, types.float64))
def carries(net: FlowNetwork, total: float) -> bool:
    """Whether the maximum flow is all of the `total` bytes.

    Each operation takes the earliest room there is, which is nearly always enough, and asks for the rest along
    augmenting paths.
    """
    for j in range(len(net.left)):
        take_early(net, j)
        while net.left[j] > MISSING * total:
            last = find_path(net, j, NO_ROOM * total)
            if last < 0:
                return False
            push(net, j, last)
    return True
