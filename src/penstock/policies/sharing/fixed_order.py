"""For policies with a plan: an order of all operations, fixed before the run and kept to in it (P2, definition 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.compile import inlined
from penstock.policies.sharing.exclusive import goes_on, start_application, start_first
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.view import View


def planned(foresight: Foresight, sequence: Sequence[int] | Ints) -> Floats:
    """The memory of a plan: how far it has come, when walltimes end, one for each job, then whose operation comes when.

    Before the walltimes stands how many there are.
    """
    until = foresight.untils()
    return np.concatenate([[0.0, until.size], until, sequence])


@inlined
def _is_over(view: View, application: float) -> bool:
    """Whether its walltime has ended."""
    return view.memory[2 + int(application)] <= view.now * (1.0 + SAME)  # type: ignore[no-any-return]


@inlined
def keep_to_plan(view: View, rates: Floats) -> None:
    """Serve whose operation comes next in the plan, or wait for it; after the plan, by posting.

    Operations of a job that its walltime has cut off are passed over.
    """
    if not goes_on(view, rates):
        first = 2 + int(view.memory[1])
        place = int(view.memory[0])
        while first + place < view.memory.size and _is_over(view, view.memory[first + place]):
            place += 1
        view.memory[0] = place
        if first + place < view.memory.size:
            if start_application(view, view.memory[first + place], rates):
                view.memory[0] = place + 1
        else:
            for row in range(rates.size):
                view.key[row] = view.posted[row]
            start_first(view, rates)
