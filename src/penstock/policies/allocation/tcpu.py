"""Tcpu: from the lowest load, more targets where they keep most compute nodes computing (TA, P4 algorithm 1).

Everyone starts at n_sys. Again and again one application takes a step up: to the next of its numbers, never past
n_perf, that keeps the load at most 1 and does not lower its own part of Σ CPULoad. It is the one whose step raises
Σ CPULoad most, in doubt the first. When nobody can, all is done.

With jobs that come and go the load is that of the time in which the application runs (`tcpu_in_time`).

Algorithm 1 looks at everyone before every step. Here an application looks again only when it has moved, when the step
that it had in mind has become too large for the load, or when one that was too large no longer is. Trees know whose
step gains most, whose adds most to the load, and who has passed over one that would add least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import inlined, kernel
from penstock.kernels.numba_types import numba_type
from penstock.kernels.tournament import empty_tree, first, put
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import allocation
from penstock.policies.allocation.steps import next_step
from penstock.policies.allocation.tcpu_in_time import climb_in_time

_F = types.float64[::1]
_I = types.int64[::1]


class _Climb(NamedTuple):
    """Where the climb stands."""

    stress: Floats  # k: of each option, as a part of the load
    cpu_load: Floats  # k
    fastest: Ints  # m
    option: Ints  # m
    step: Ints  # m: the option that an application would take next
    loss: Floats  # a tree: the gain of that step, negative, so that the greatest comes first; infinite if there is none
    room: Floats  # a tree: what the step adds to the load, negative likewise
    passed: Floats  # a tree: the least that a step would add that was too large


_CLIMB = numba_type(_Climb)


@inlined
def _look(climb: _Climb, load: float, i: int) -> None:
    """Find the step that application `i` would take at this load."""
    now = climb.option[i]
    step, gain, passed = next_step(climb.stress, climb.cpu_load, now, climb.fastest[i], load)
    climb.step[i] = step
    put(climb.passed, i, passed)
    put(climb.loss, i, -gain if gain >= 0.0 else np.inf)
    put(climb.room, i, climb.stress[now] - climb.stress[step] if gain >= 0.0 else np.inf)


@kernel(types.void(_CLIMB))
def _climb(climb: _Climb) -> None:
    load, rest = 0.0, 0.0
    for chosen in climb.option:
        load += climb.stress[chosen]
    for i in range(climb.option.size):
        _look(climb, load, i)
    while climb.loss[1] < np.inf:
        best = first(climb.loss)
        added = climb.stress[climb.step[best]] - climb.stress[climb.option[best]]
        climb.option[best] = climb.step[best]
        # Summed with what rounding has lost (Kahan): there may be a million steps.
        before, corrected = load, added - rest
        load = before + corrected
        rest = (load - before) - corrected
        _look(climb, load, best)
        while load - climb.room[1] > 1.0:
            _look(climb, load, first(climb.room))
        while load + climb.passed[1] <= 1.0:
            _look(climb, load, first(climb.passed))


@allocation("tcpu", source="P4 §3.1, algorithm 1")
def tcpu(demand: Demand, draw: np.random.Generator) -> Ints:
    """From the lowest load, more targets where they keep most nodes computing, as long as the load is at most 1."""
    if not demand.presence.together:
        return climb_in_time(demand)
    option = demand.lightest.copy()
    trees = [empty_tree(option.size) for _ in range(3)]
    stress = demand.stress / demand.targets
    _climb(_Climb(stress, demand.cpu_load, demand.fastest, option, option.copy(), *trees))
    return option
