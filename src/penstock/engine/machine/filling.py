"""Flows in the loop rise together: the level at which one resource is full, and max-min filling of a whole path."""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.compile import inner, kernel

_F = types.float64[::1]
_I = types.int64[::1]


@inner
def level_of(use: Floats, weight: Floats, limit: Floats, flows: int, room: float, level: float) -> float:
    """The α at which Σ use·min(limit, α·weight) is `room`; infinity if all can have their limits.

    Those that reach their limits below the level of the rest drop out, which lets the level rise: few passes. It is not
    below `level`.
    """
    while True:
        left, rising = room, 0.0
        for flow in range(flows):
            if limit[flow] <= level * weight[flow]:
                left -= use[flow] * limit[flow]
            else:
                rising += use[flow] * weight[flow]
        if rising <= 0.0:
            return np.inf
        higher = max(left, 0.0) / rising
        if higher <= level:
            return level
        level = higher


@inner
def _full_at(
    path: Ints,
    resource: Ints,
    use: Floats,
    weight: Floats,
    room: Floats,
    rates: Floats,
    first: int,
    last: int,
    wanted: int,
) -> float:
    """The level at which a resource is full; those that stop at this level still count."""
    in_all = 0.0
    for flow in range(first, last):
        if rates[flow] == -1.0 or rates[flow] <= -2.0:
            for edge in range(path[flow], path[flow + 1]):
                if resource[edge] == wanted:
                    in_all += use[edge] * weight[flow]
    return max(0.0, room[wanted]) / in_all if in_all > 0.0 else np.inf


@inner
def _next_level(
    path: Ints,
    resource: Ints,
    use: Floats,
    weight: Floats,
    limit: Floats,
    room: Floats,
    rates: Floats,
    first: int,
    last: int,
) -> float:
    """Where the first of those that rise is at its limit, or the first of what they cross is full."""
    level = np.inf
    for flow in range(first, last):
        if rates[flow] < 0.0:
            level = min(level, limit[flow] / weight[flow])
            for edge in range(path[flow], path[flow + 1]):
                level = min(level, _full_at(path, resource, use, weight, room, rates, first, last, resource[edge]))
    return level


@kernel(types.void(_I, _I, _F, _F, _F, _F, _F, types.int64, types.int64, _F))
def fill_alone(
    path: Ints,
    resource: Ints,
    use: Floats,
    capacity: Floats,
    weight: Floats,
    limit: Floats,
    room: Floats,
    first: int,
    last: int,
    rates: Floats,
) -> None:
    """Max-min filling of the flows `first : last` with the machine to themselves; `room` is scratch, by resource.

    All rise together, rate = α·weight, until one is at its limit or something that it crosses is full.
    """
    for flow in range(first, last):
        rates[flow] = -1.0
        for edge in range(path[flow], path[flow + 1]):
            room[resource[edge]] = capacity[resource[edge]]
    rising = last - first
    while rising > 0:
        level = _next_level(path, resource, use, weight, limit, room, rates, first, last)
        for flow in range(first, last):
            if rates[flow] < 0.0:
                stops = limit[flow] <= level * weight[flow] * (1.0 + SAME)
                for edge in range(path[flow], path[flow + 1]):
                    full = _full_at(path, resource, use, weight, room, rates, first, last, resource[edge])
                    stops = stops or full <= level * (1.0 + SAME)
                if stops:  # with all others of this level: until then they count as rising
                    rates[flow] = -2.0 - min(limit[flow], level * weight[flow])
        for flow in range(first, last):
            if rates[flow] <= -2.0:
                rates[flow] = -2.0 - rates[flow]
                rising -= 1
                for edge in range(path[flow], path[flow + 1]):
                    room[resource[edge]] -= use[edge] * rates[flow]
