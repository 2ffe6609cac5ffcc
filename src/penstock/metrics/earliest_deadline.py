"""For bounds on metrics: by earliest deadline at the full rate B, the largest lateness tells if any order is in time.

To be `need` seconds into its dedicated run at time `due`, an application must have each operation done by a deadline:
`due` minus the dedicated time needed after it. An operation may start as early as if all before it had run alone. Both
starts and deadlines rise along an application, so its operations queue in order: one walk along them posts, another
serves, and each of two heaps holds at most one entry per application.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype, types

from penstock.engine.dedicated import add
from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import inlined, kernel
from penstock.kernels.heap import pop, push

# How far along its operations a walk is: `done + lost` seconds into the dedicated run.
_WALK = np.dtype([("operation", np.int64), ("done", np.float64), ("lost", np.float64)])

# One per application. `posting` stands at the start of the next operation to come. `serving` stands at the end of the
# operation that is served, which still takes `left` seconds at rate B; the operations from it up to `posting` wait.
_QUEUE = np.dtype(
    [
        ("start", np.float64),
        ("need", np.float64),
        ("due", np.float64),
        ("posting", _WALK),
        ("serving", _WALK),
        ("left", np.float64),
    ]
)

_FLOATS, _INTS = types.float64[::1], types.int64[::1]


def lateness(program: Program, need: Floats, due: Floats) -> float:
    """By how many seconds the latest operation misses its deadline; `due` counts from the begin."""
    queues = np.zeros(len(need), _QUEUE)
    # Counted from the begin, times keep their digits when a trace carries calendar times.
    queues["start"], queues["need"], queues["due"] = program.start - program.begin, need, due
    queues["posting"]["operation"] = queues["serving"]["operation"] = program.first[:-1]
    times, applications = np.empty((2, len(need))), np.empty((2, len(need)), np.int64)
    operations = program.first, program.work, program.volume, program.limit, program.capacity
    return float(serve(*operations, queues.view(np.recarray), *times, *applications))


@inlined
def go(walk: Any, seconds: float) -> None:
    """Move on by `seconds` of the dedicated run."""
    walk.done, walk.lost = add(walk.done, walk.lost, seconds)


@inlined
def next_start(queue: Any, last: int, work: Floats) -> float:
    """Earliest start of the next operation to come; infinity if there is none or it is not needed."""
    walk, start = queue.posting, np.inf
    if walk.operation < last:
        go(walk, work[walk.operation])
        if walk.done + walk.lost < queue.need:
            start = queue.start + (walk.done + walk.lost)
    return start


@inlined
def take_up(queue: Any, work: Floats, volume: Floats, limit: Floats, capacity: float) -> float:
    """Begin to serve the first operation that waits, as much of it as is needed; its deadline."""
    walk, operation = queue.serving, queue.serving.operation
    go(walk, work[operation])
    needed = queue.need - (walk.done + walk.lost)
    queue.left = min(volume[operation], needed * limit[operation]) / capacity
    go(walk, volume[operation] / limit[operation])
    return float(queue.due - max(0.0, queue.need - (walk.done + walk.lost)))


@kernel(types.float64(_INTS, *[_FLOATS] * 3, types.float64, from_dtype(_QUEUE)[::1], *[_FLOATS] * 2, *[_INTS] * 2))
def serve(
    first: Ints,
    work: Floats,
    volume: Floats,
    limit: Floats,
    capacity: float,
    queues: Any,
    ready: Floats,
    deadline: Floats,
    comer: Ints,
    waiter: Ints,
) -> float:
    """Largest lateness; the heap (ready, comer) says what comes next, (deadline, waiter) what here is most urgent."""
    m, waiting = len(queues), 0
    now, worst = 0.0, -np.inf
    for i in range(m):
        push(ready, comer, i, next_start(queues[i], first[i + 1], work), i)
    while waiting > 0 or ready[0] < np.inf:
        until = ready[0]
        if waiting > 0 and now < until:
            i = waiter[0]
            queue = queues[i]
            idle = now + queue.left <= until
            if idle:
                now += queue.left
                worst = max(worst, now - deadline[0])
                queue.serving.operation += 1
                pop(deadline, waiter, waiting)
                waiting -= 1
            else:
                queue.left -= until - now
                now = until
        else:
            i = comer[0]
            queue = queues[i]
            now = max(now, until)
            idle = queue.serving.operation == queue.posting.operation
            go(queue.posting, volume[queue.posting.operation] / limit[queue.posting.operation])
            queue.posting.operation += 1
            pop(ready, comer, m)
            push(ready, comer, m - 1, next_start(queue, first[i + 1], work), i)
        if idle and queue.serving.operation < queue.posting.operation:
            push(deadline, waiter, waiting, take_up(queue, work, volume, limit, capacity), i)
            waiting += 1
    return worst
