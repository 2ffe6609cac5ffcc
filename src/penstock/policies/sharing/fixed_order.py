"""A plan: the order of all operations, fixed before the run and kept to whatever happens in it (P2, definition 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import inlined
from penstock.policies.sharing.exclusive import goes_on, start_application, start_first
from penstock.policies.sharing.view import View


def planned(sequence: Sequence[int] | Ints) -> Floats:
    """The memory of a plan: how far it has come, then whose operation comes when."""
    return np.concatenate([[0.0], sequence])


@inlined
def keep_to_plan(view: View, rates: Floats) -> None:
    """Serve whose operation comes next in the plan, or wait for it; after the plan, by posting."""
    if not goes_on(view, rates):
        place = int(view.memory[0]) + 1
        if place < view.memory.size:
            if start_application(view, view.memory[place], rates):
                view.memory[0] = place
        else:
            for row in range(rates.size):
                view.key[row] = view.posted[row]
            start_first(view, rates)
