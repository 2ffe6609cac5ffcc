"""Mckp: the highest sum of bandwidths when every application has targets of its own (Bez et al., as told in P4 §1).

A multiple-choice knapsack: one number n_i per application, Σ n_i ≤ N, Σ b_i(n_i) as high as possible; in doubt the
fewest targets in all, then the lexicographically first. Applications that cannot all have a target of their own leave
one aside: those left out share it, and count nothing; who cannot use a single target is never left out. It says which
targets, too.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.errors import PolicyError
from penstock.kernels.arrays import Bools, Floats, Ints
from penstock.kernels.compile import inlined, kernel
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import Allocated, allocation

_F = types.float64[::1]
_I = types.int64[::1]
_F2 = types.float64[:, ::1]
_I2 = types.int64[:, ::1]
_B = types.boolean[::1]


_SAME_SUM = 1e-12  # relative: sums closer than this differ by the order in which they were added
_LEFT_OUT = -1


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


def _knapsack(demand: Demand, room: int, leaving: Bools) -> Ints | None:
    """An option for each, or -1 where it is left out; None if they do not all fit."""
    m = len(demand.names)
    least = np.where(leaving, 0, demand.count[demand.first[:-1]])
    needed = np.concatenate([np.cumsum(least[::-1])[::-1], [0]])
    if needed[0] > room:
        return None
    value, total = np.zeros((m + 1, room + 1)), np.zeros((m + 1, room + 1), np.int64)
    options = demand.first, demand.count, demand.bandwidth, leaving, needed
    _fill_table(*options, value, total)
    option = np.empty(m, np.int64)
    _read_table(*options, value, total, option)
    return option


@allocation("mckp", source="Bez et al., P4 §1")
def mckp(demand: Demand, draw: np.random.Generator) -> Allocated:
    """The highest sum of bandwidths with targets of one's own; it also says which."""
    smallest = demand.first[:-1]
    may_leave = demand.count[smallest] == 1
    option = _knapsack(demand, demand.targets, leaving=np.zeros_like(may_leave))
    if option is not None:
        return Allocated(option, np.arange(demand.count[option].sum()))
    option = _knapsack(demand, demand.targets - 1, leaving=may_leave)
    if option is None:
        raise PolicyError(
            f"allocation policy 'mckp': the applications do not all fit on {demand.targets} targets of their own, and "
            "too many have no bandwidth for 1 target in their profile, so that they could not share one"
        )
    out = option == _LEFT_OUT
    option = np.where(out, smallest, option)
    alone = ~np.repeat(out, demand.count[option])
    places = np.full(alone.size, demand.targets - 1)
    places[alone] = np.arange(np.count_nonzero(alone))
    return Allocated(option, places)
