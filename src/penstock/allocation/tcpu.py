"""Tcpu: from the lowest load, more targets where they keep most compute nodes computing (TA, P4 algorithm 1).

Everyone starts at n_sys. Again and again one application takes a step up: to the next of its numbers, never past
n_perf, that keeps the load at most 1 and does not lower its own part of Σ CPULoad. It is the one whose step raises
Σ CPULoad most, in doubt the first. When nobody can, all is done.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.allocation.demand import Demand
from penstock.allocation.policy import allocation
from penstock.kernels import inlined, kernel
from penstock.sharing.order import coarse
from penstock.sharing.view import Floats, Ints

_F = types.float64[::1]
_I = types.int64[::1]


@inlined
def _load(stress: Floats, option: Ints, targets: int) -> float:
    total = 0.0
    for chosen in option:
        total += stress[chosen]
    return total / targets


@inlined
def _fits(stress: Floats, load: float, targets: int, now: int, then: int) -> bool:
    return load + (stress[then] / targets - stress[now] / targets) <= 1.0  # type: ignore[no-any-return]


@inlined
def _look(
    stress: Floats,
    cpu_load: Floats,
    fastest: Ints,
    option: Ints,
    step: Ints,
    gain: Floats,
    load: float,
    targets: int,
    i: int,
) -> None:
    """Find the step that application `i` would take at this load, and what it would gain; a negative gain: none."""
    gain[i] = -1.0
    step[i] = option[i]
    while step[i] < fastest[i] and gain[i] < 0.0:
        step[i] += 1
        if _fits(stress, load, targets, option[i], step[i]):
            gain[i] = coarse(cpu_load[step[i]] - cpu_load[option[i]])


@kernel(types.void(_F, _F, _I, types.int64, _I, _I, _F))
def _climb(
    stress: Floats, cpu_load: Floats, fastest: Ints, targets: int, option: Ints, step: Ints, gain: Floats
) -> None:
    load = _load(stress, option, targets)
    for i in range(option.size):
        _look(stress, cpu_load, fastest, option, step, gain, load, targets, i)
    while True:
        best = 0
        for i in range(1, gain.size):
            if gain[i] > gain[best]:
                best = i
        if gain[best] < 0.0:
            break
        if _fits(stress, load, targets, option[best], step[best]):
            option[best] = step[best]
            before, load = load, _load(stress, option, targets)
            # What did not fit into a lower load does not fit now: only when the load falls must all look again.
            if load < before:
                for i in range(option.size):
                    _look(stress, cpu_load, fastest, option, step, gain, load, targets, i)
        _look(stress, cpu_load, fastest, option, step, gain, load, targets, best)


@allocation("tcpu", source="P4 §3.1, algorithm 1")
def tcpu(demand: Demand, draw: np.random.Generator) -> Ints:
    """From the lowest load, more targets where they keep most nodes computing, as long as the load is at most 1."""
    option = demand.lightest.copy()
    step, gain = np.empty_like(option), np.empty(option.size)
    _climb(demand.stress, demand.cpu_load, demand.fastest, demand.targets, option, step, gain)
    return option
