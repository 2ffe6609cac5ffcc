"""Taking turns in a fixed order: every period serves one operation of each unfinished job (P2 §4.2, §5.1).

The storage waits for the job whose turn it is even if another is ready. A job takes part from its start until its last
operation has been served; others coming and going does not change the order of the rest.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.compile import inlined
from penstock.policies.sharing.exclusive import goes_on, start_application
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.view import View

# The memory: whose turn it is, then for each place in the order these three.
_WHO, _START, _LEFT, _WIDTH = 0, 1, 2, 3


def in_turns(policy: str, foresight: Foresight, order: Ints) -> Floats:
    """The memory of jobs that take turns in `order`."""
    start = foresight.known_starts(policy)
    places = np.stack([order, start[order], foresight.operations[order]], axis=1)
    return np.concatenate([[0.0], places.ravel()])


@inlined
def take_turns(view: View, rates: Floats) -> None:
    """Serve the job whose turn it is, or wait for it."""
    if not goes_on(view, rates):
        jobs = (view.memory.size - 1) // _WIDTH
        turn = int(view.memory[0])
        waiting = True
        for step in range(jobs):
            place = (turn + step) % jobs
            job = view.memory[1 + _WIDTH * place : 1 + _WIDTH * (place + 1)]
            if waiting and job[_START] <= view.now * (1.0 + SAME) and job[_LEFT] > 0.0:
                waiting = False
                if start_application(view, job[_WHO], rates):
                    job[_LEFT] -= 1.0
                    view.memory[0] = (place + 1) % jobs
