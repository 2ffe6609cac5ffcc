"""Taking turns in a fixed order: every period serves one operation of each unfinished job (P2 §4.2, §5.1).

The storage waits for the job whose turn it is even if another is ready. A job takes part from its start until its last
operation has been served, or its walltime cuts it off; others coming and going does not change the order of the rest.
The job that the storage waits for keeps its turn: one that joins meanwhile, at an earlier place, has the next period.

Whom the storage waits for is settled when it becomes free, or when a job comes to storage that waits for none. At
neither instant need an operation be posted, and without one a policy is not asked. So it is worked out afterwards, from
when the last operation ended, which is known since only a walltime interrupts it.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.compile import inlined
from penstock.policies.sharing.exclusive import goes_on, start_application
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.view import View

# The memory: whose turn it is and since when the storage is free, then for each place in the order these four.
_TURN, _FREE = 0, 1
_WHO, _START, _UNTIL, _LEFT, _WIDTH = 0, 1, 2, 3, 4


def in_turns(policy: str, foresight: Foresight, order: Ints) -> Floats:
    """The memory of jobs that take turns in `order`."""
    start, until = foresight.known_starts(policy), foresight.untils()
    places = np.stack([order, start[order], until[order], foresight.operations[order]], axis=1)
    return np.concatenate([[0.0, -np.inf], places.ravel()])


@inlined
def take_turns(view: View, rates: Floats) -> None:
    """Serve the job whose turn it is, or wait for it."""
    if not goes_on(view, rates):
        memory = view.memory
        jobs = (memory.size - 2) // _WIDTH
        place = _awaited(memory, jobs, view.now)
        if place >= 0:
            job = memory[2 + _WIDTH * place : 2 + _WIDTH * (place + 1)]
            if start_application(view, job[_WHO], rates):
                job[_LEFT] -= 1.0
                memory[_TURN] = (place + 1) % jobs
                memory[_FREE] = min(view.now + _seconds(view, rates), job[_UNTIL])


@inlined
def _awaited(memory: Floats, jobs: int, now: float) -> int:
    """Whose turn it is now, as a place in the order; -1 if nobody takes part.

    From the instant at which the storage became free on: the first in order of those who take part then; if there are
    none, at the next start. Should its walltime end before now, the same again from there.
    """
    nearly = now * (1.0 + SAME)
    instant, place = memory[_FREE], -1
    while instant <= nearly:
        place = _first_present(memory, jobs, instant)
        if place < 0:
            instant = _next_start(memory, jobs, instant)
        else:
            memory[_TURN] = place
            instant = memory[2 + _WIDTH * place + _UNTIL]
            if instant > nearly:
                break
            place = -1
        memory[_FREE] = instant
    return place


@inlined
def _first_present(memory: Floats, jobs: int, instant: float) -> int:
    """The first place, from the turn on, of a job that takes part at an instant; -1 if none does."""
    turn, found = int(memory[_TURN]), -1
    late = instant + SAME * abs(instant) if instant > -np.inf else instant
    for step in range(jobs):
        place = (turn + step) % jobs
        job = memory[2 + _WIDTH * place : 2 + _WIDTH * (place + 1)]
        if found < 0 and job[_START] <= late and job[_UNTIL] > late and job[_LEFT] > 0.0:
            found = place
    return found


@inlined
def _next_start(memory: Floats, jobs: int, instant: float) -> float:
    """When the next job starts that has operations; infinity if none does."""
    soonest = np.inf
    for place in range(jobs):
        job = memory[2 + _WIDTH * place : 2 + _WIDTH * (place + 1)]
        if job[_START] > instant and job[_LEFT] > 0.0:
            soonest = min(soonest, job[_START])
    return soonest


@inlined
def _seconds(view: View, rates: Floats) -> float:
    """How long the operation takes that was just started."""
    seconds = 0.0
    for row in range(rates.size):
        if rates[row] > 0.0:
            seconds = view.remaining[row] / rates[row]
    return seconds
