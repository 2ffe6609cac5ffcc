"""Mckp: the highest sum of bandwidths when every application has targets of its own (Bez et al., as told in P4 §1).

A multiple-choice knapsack: one number n_i per application, Σ n_i ≤ N, Σ b_i(n_i) as high as possible; in doubt the
fewest targets in all, then the lexicographically first. Applications that cannot all have a target of their own leave
one aside: those left out share it, and count nothing; who cannot use a single target is never left out. It says which
targets, too.

With jobs that come and go this is solved at every instant of starts, for those who start, on the targets that are free
by plan; those left out stay on the shared target, which is set aside from the beginning if anybody is (models §8).
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.errors import PolicyError
from penstock.kernels.arrays import Bools, Floats, Ints
from penstock.kernels.compile import inlined, kernel
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import Allocated, allocation
from penstock.policies.sharing.foresight import picked

_F = types.float64[::1]
_I = types.int64[::1]
_F2 = types.float64[:, ::1]
_I2 = types.int64[:, ::1]
_B = types.boolean[::1]


_SAME_SUM = 1e-12  # relative: sums closer than this differ by the order in which they were added
_LEFT_OUT = -1
_NONE = np.empty(0, np.int64)


@inlined
def _better(value: float, total: int, than: float, than_total: int) -> bool:
    """A higher sum, or the same with fewer targets."""
    if abs(value - than) <= _SAME_SUM * abs(than):
        return total < than_total
    return value > than


@kernel(types.void(_I, _I, _F, _B, _I, _F2, _I2))
def _fill_table(
    first: Ints, count: Ints, bandwidth: Floats, leaving: Bools, needed: Ints, value: Floats, total: Ints
) -> None:
    """`value[i, w]`: the most that applications from i on can have together on w targets, and with how few of them.

    Only for as many targets as can be left for them: `needed[i]` at least, for those from i on, and what those before
    them need is gone.
    """
    m, room = value.shape[0] - 1, value.shape[1] - 1
    for i in range(m - 1, -1, -1):
        for w in range(needed[i], room - (needed[0] - needed[i]) + 1):
            best, fewest = -np.inf, 0
            if leaving[i]:
                best, fewest = value[i + 1, w], total[i + 1, w]
            fastest = 0.0
            for option in range(first[i], first[i + 1]):
                left = w - count[option]
                if left < needed[i + 1]:
                    break
                # More targets for no more bandwidth are never taken.
                if bandwidth[option] > fastest:
                    fastest = bandwidth[option]
                    sum_of_all = fastest + value[i + 1, left]
                    targets = count[option] + total[i + 1, left]
                    if best == -np.inf or _better(sum_of_all, targets, best, fewest):
                        best, fewest = sum_of_all, targets
            value[i, w], total[i, w] = best, fewest


@kernel(types.void(_I, _I, _F, _B, _I, _F2, _I2, _I))
def _read_table(
    first: Ints,
    count: Ints,
    bandwidth: Floats,
    leaving: Bools,
    needed: Ints,
    value: Floats,
    total: Ints,
    option: Ints,
) -> None:
    """The lexicographically first way to what the table promises; who is left out counts as 0."""
    w = value.shape[1] - 1
    for i in range(option.size):
        option[i] = _LEFT_OUT
        if leaving[i] and not _better(value[i, w], total[i, w], value[i + 1, w], total[i + 1, w]):
            continue
        for chosen in range(first[i], first[i + 1]):
            left = w - count[chosen]
            if left >= needed[i + 1] and not _better(
                value[i, w], total[i, w], bandwidth[chosen] + value[i + 1, left], count[chosen] + total[i + 1, left]
            ):
                option[i] = chosen
                w = left
                break


def _knapsack(demand: Demand, rows: Ints, room: int, leaving: Bools) -> Ints | None:
    """An option for each of these applications, or -1 where it is left out; None if they do not all fit."""
    least = np.where(leaving, 0, demand.count[demand.first[rows]])
    needed = np.concatenate([np.cumsum(least[::-1])[::-1], [0]])
    if needed[0] > room:
        return None
    first, own = picked(demand.first, rows)
    value, total = np.zeros((rows.size + 1, room + 1)), np.zeros((rows.size + 1, room + 1), np.int64)
    options = first, demand.count[own], demand.bandwidth[own], leaving, needed
    _fill_table(*options, value, total)
    option = np.empty(rows.size, np.int64)
    _read_table(*options, value, total, option)
    return np.where(option == _LEFT_OUT, _LEFT_OUT, own[np.maximum(option, 0)])


def _solved(demand: Demand, rows: Ints, room: int, sharing: bool) -> Ints | None:
    """The best for those who start at one instant, some left out if they must be and may be."""
    alone = _knapsack(demand, rows, room, leaving=np.zeros(rows.size, np.bool_))
    if alone is not None or not sharing:
        return alone
    return _knapsack(demand, rows, room, leaving=demand.count[demand.first[rows]] == 1)


def _by_instant(numbers: Ints, instants: int) -> list[Ints]:
    """For each instant, the applications that have its number, in the order of the scenario."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.searchsorted(numbers[order], np.arange(1, instants + 1)))[:-1]


def _given_out(demand: Demand, exclusive: int, sharing: bool) -> Allocated | None:
    """Targets for all, each in turn the lowest that are free; those left out share the last. None: not all fit."""
    runs, free = demand.presence, np.ones(exclusive, np.bool_)
    option, held = demand.first[:-1].copy(), [_NONE] * runs.begin.size
    for starting, ended in zip(*(_by_instant(each, runs.instants) for each in (runs.begin, runs.end)), strict=True):
        free[np.concatenate([_NONE, *(held[i] for i in ended)])] = True
        room = np.flatnonzero(free)
        chosen = _solved(demand, starting, room.size, sharing)
        if chosen is None:
            return None
        served = chosen != _LEFT_OUT
        ends = np.cumsum(demand.count[chosen[served]])
        free[room[: ends[-1] if ends.size else 0]] = False
        option[starting[served]] = chosen[served]
        for i, places in zip(starting[served], np.split(room, ends)[:-1], strict=True):
            held[i] = places
    shared = np.array([demand.targets - 1])
    return Allocated(option, np.concatenate([places if places.size else shared for places in held]))


@allocation("mckp", source="Bez et al., P4 §1")
def mckp(demand: Demand, draw: np.random.Generator) -> Allocated:
    """The highest sum of bandwidths with targets of one's own; it also says which."""
    found = _given_out(demand, demand.targets, sharing=False)
    found = found or _given_out(demand, demand.targets - 1, sharing=True)
    if found is None:
        raise PolicyError(
            f"allocation policy 'mckp': the applications do not all fit on {demand.targets} targets of their own, and "
            "too many have no bandwidth for 1 target in their profile, so that they could not share one"
        )
    return found
