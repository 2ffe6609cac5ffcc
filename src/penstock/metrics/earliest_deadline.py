"""Serving by earliest deadline at the full rate B: the largest lateness shows whether any order meets all deadlines.

To be `need[i]` seconds into its dedicated run at time `due[i]`, application i must have each operation done by a
deadline: `due[i]` minus the dedicated time needed after it. An operation is there from its earliest start on, as if
all before it had run alone. Starts and deadlines both rise along an application, so its operations queue in order: one
walk posts them, one serves them, and each of two heaps holds at most one entry per application.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import from_dtype, types

from penstock.engine.heap import pop, push
from penstock.engine.program import Floats, Ints, Program
from penstock.kernels import kernel
from penstock.metrics.dedicated import add

# Operations serving : posting of an application wait. A walk is `done + lost` seconds into the dedicated run; that of
# posting has the compute before its operation behind it, that of serving has not.
_QUEUE = np.dtype(
    [
        ("start", np.float64),
        ("need", np.float64),
        ("due", np.float64),
        ("posting", np.int64),
        ("posting_done", np.float64),
        ("posting_lost", np.float64),
        ("serving", np.int64),
        ("serving_done", np.float64),
        ("serving_lost", np.float64),
        ("left", np.float64),  # seconds at rate B that the operation being served still takes
    ]
)


def lateness(program: Program, need: Floats, due: Floats) -> float:
    """By how many seconds the latest operation misses its deadline (counted from the begin); negative if none does."""
    m = len(need)
    queues = np.zeros(m, _QUEUE)
    # Counted from the begin, times keep their digits when a trace carries calendar times.
    queues["start"], queues["need"], queues["due"] = program.start - program.begin, need, due
    queues["posting"] = queues["serving"] = program.first[:-1]
    times, applications = np.empty((2, m)), np.empty((2, m), np.int64)
    operations = program.first, program.work, program.volume, program.limit, program.capacity
    return float(serve(*operations, queues.view(np.recarray), *times, *applications))


_FLOATS, _INTS = types.float64[::1], types.int64[::1]


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
    """Largest lateness; the heap (ready, comer) holds next postings, (deadline, waiter) what can be served now."""
    coming, waiting = 0, 0
    now, worst = 0.0, -np.inf
    for i in range(len(queues)):
        if first[i] < first[i + 1] and work[first[i]] < queues[i].need:
            queues[i].posting_done = work[first[i]]
            push(ready, comer, coming, queues[i].start + work[first[i]], i)
            coming += 1
    while coming + waiting > 0:
        until = ready[0] if coming > 0 else np.inf
        if waiting > 0 and now < until:
            i = waiter[0]
            queue = queues[i]
            idle = now + queue.left <= until
            if idle:
                now += queue.left
                worst = max(worst, now - deadline[0])
                pop(deadline, waiter, waiting)
                waiting -= 1
            else:
                queue.left -= until - now
                now = until
        else:
            i = comer[0]
            queue = queues[i]
            idle = queue.serving == queue.posting
            now = max(now, until)
            pop(ready, comer, coming)
            coming -= 1
            j = queue.posting
            queue.posting += 1
            if j + 1 < first[i + 1]:
                done, lost = add(queue.posting_done, queue.posting_lost, volume[j] / limit[j])
                done, lost = add(done, lost, work[j + 1])
                queue.posting_done, queue.posting_lost = done, lost
                if done + lost < queue.need:
                    push(ready, comer, coming, queue.start + (done + lost), i)
                    coming += 1
        if idle and queue.serving < queue.posting:
            j = queue.serving
            queue.serving += 1
            done, lost = add(queue.serving_done, queue.serving_lost, work[j])
            left = queue.need - (done + lost)
            queue.left = min(volume[j], left * limit[j]) / capacity
            done, lost = add(done, lost, volume[j] / limit[j])
            queue.serving_done, queue.serving_lost = done, lost
            push(deadline, waiter, waiting, queue.due - max(0.0, queue.need - (done + lost)), i)
            waiting += 1
    return worst
