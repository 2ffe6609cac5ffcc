"""Tcpu for jobs that come and go: a step must keep the load at most 1 while the application runs, and no longer.

So a crowded hour elsewhere freezes nobody (models §8). The load of an application is the highest at the instants of its
own interval. Bounds of it tell who cannot be concerned by a step of another, so that few intervals are looked through.
Stress is rounded down to multiples of a unit of 1e-14, of which sums are exact: which load is at most 1 then depends
neither on the order of the steps nor on the last bit of a quotient.
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
from penstock.policies.allocation.steps import next_step

# Bits behind the point of a load below 1: sums of up to 53 are exact, and the last few of a stress are rounding noise.
_BITS = 46


class _Climb(NamedTuple):
    """Where the climb stands."""

    stress: Floats  # k: of each option, as a part of the load
    cpu_load: Floats  # k
    fastest: Ints  # m
    begin: Ints  # m: the first instant of its interval
    end: Ints  # m: the first after it
    by_start: Ints  # m: applications in the order of their starts
    started: Ints  # instants + 1: how many have started before each instant
    reach: Ints  # m: by place in `by_start`: the last end of those up to there
    load: Floats  # at each instant
    option: Ints  # m
    step: Ints  # m: the option that an application would take next
    added: Floats  # m: what that step adds to the load; negative infinity if there is none
    passed: Floats  # m: the least that a step would add that was too large
    high: Floats  # m: the load of its interval is at most this
    low: Floats  # m: and at least this
    loss: Floats  # a tree: the gain of the step, negative, so that the greatest comes first; infinite if there is none


_CLIMB = numba_type(_Climb)


@inlined
def _measure(climb: _Climb, i: int) -> float:
    """The load of the interval of application `i`."""
    load = climb.load[climb.begin[i]]
    for instant in range(climb.begin[i] + 1, climb.end[i]):
        load = max(load, climb.load[instant])
    climb.high[i] = load
    climb.low[i] = load
    return load  # type: ignore[no-any-return]


@inlined
def _look(climb: _Climb, load: float, i: int) -> None:
    """Find the step that application `i` would take at this load."""
    now = climb.option[i]
    step, gain, passed = next_step(climb.stress, climb.cpu_load, now, climb.fastest[i], load)
    climb.step[i] = step
    climb.passed[i] = passed
    climb.added[i] = climb.stress[step] - climb.stress[now] if gain >= 0.0 else -np.inf
    put(climb.loss, i, -gain if gain >= 0.0 else np.inf)


@inlined
def _first_reaching(climb: _Climb, instant: int) -> int:
    """The first place by start from which on somebody may still run at an instant."""
    low, high = 0, climb.reach.size
    while low < high:
        middle = (low + high) // 2
        if climb.reach[middle] > instant:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def _spread(climb: _Climb, begin: int, end: int, added: float) -> None:
    """The load of some instants has changed: let those look again who had another load in mind."""
    for instant in range(begin, end):
        climb.load[instant] += added
    for place in range(_first_reaching(climb, begin), climb.started[end]):
        i = climb.by_start[place]
        if climb.end[i] <= begin:
            continue
        if added > 0.0:
            climb.high[i] += added
        else:
            climb.low[i] += added
        if climb.high[i] + climb.added[i] > 1.0 or climb.low[i] + climb.passed[i] <= 1.0:
            load = _measure(climb, i)
            if load + climb.added[i] > 1.0 or load + climb.passed[i] <= 1.0:
                _look(climb, load, i)


@kernel(types.void(_CLIMB))
def _climb(climb: _Climb) -> None:
    for i in range(climb.option.size):
        _look(climb, _measure(climb, i), i)
    while climb.loss[1] < np.inf:
        best = first(climb.loss)
        added = climb.added[best]
        climb.option[best] = climb.step[best]
        _spread(climb, climb.begin[best], climb.end[best], added)
        _look(climb, _measure(climb, best), best)


def climb_in_time(demand: Demand) -> Ints:
    """The option of each application at which the climb ends."""
    runs, option = demand.presence, demand.lightest.copy()
    stress = _exact(demand)
    by_start = np.argsort(runs.begin, kind="stable")
    numbers = {name: np.zeros(option.size) for name in ("added", "passed", "high", "low")}
    _climb(
        _Climb(
            stress=stress,
            cpu_load=demand.cpu_load,
            fastest=demand.fastest,
            begin=runs.begin,
            end=runs.end,
            by_start=by_start,
            started=np.searchsorted(runs.begin[by_start], np.arange(runs.instants + 1)),
            reach=np.maximum.accumulate(runs.end[by_start]),
            load=runs.sums(stress[option]),
            option=option,
            step=option.copy(),
            loss=empty_tree(option.size),
            **numbers,
        )
    )
    return option


def _exact(demand: Demand) -> Floats:
    """The parts of the load, rounded down to multiples of a unit."""
    stress = demand.stress / demand.targets
    most = demand.presence.sums(np.maximum.reduceat(stress, demand.first[:-1])).max()
    unit = 2.0 ** (np.ceil(np.log2(max(1.0, most))) - _BITS)
    exact: Floats = np.floor(stress / unit) * unit
    return exact
