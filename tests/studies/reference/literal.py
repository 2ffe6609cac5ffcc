"""The chain bound as a literal linear program, one column per application, slot, delay and choice; and by brute force.

Slow and obvious: no sparse arrays, no reachability, no prices.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog


def smallest_load(slots: int, ways: list[Any]) -> float:
    """The smallest share of every slot into which all flows fit."""
    columns = [
        (i, slot, delay, wait)
        for i, way in enumerate(ways)
        for slot in range(slots)
        for delay in range(min(slot, way.most) + 1)
        for wait in (False, True)
        if not wait or (way.wait[slot - delay] and delay < way.most)
    ]
    fits = np.zeros((slots, len(columns) + 1))
    fits[:, -1] = -1.0
    keeps: dict[tuple[int, int, int], Any] = {}
    for number, (i, slot, delay, wait) in enumerate(columns):
        if not wait:
            fits[slot, number] = ways[i].use[slot - delay]
        keeps.setdefault((i, slot, delay), np.zeros(len(columns) + 1))[number] += 1.0
        if slot + 1 < slots:
            keeps.setdefault((i, slot + 1, delay + wait), np.zeros(len(columns) + 1))[number] -= 1.0
    begins = [1.0 if slot == 0 else 0.0 for _, slot, _ in keeps]
    cost = [0.0] * len(columns) + [1.0]
    found = linprog(cost, A_ub=fits, b_ub=np.zeros(slots), A_eq=np.array(list(keeps.values())), b_eq=begins)
    assert found.status == 0, found.message
    return float(found.fun)


def delays_by_brute_force(posted: list[list[int]], most: list[int], slots: int) -> set[tuple[int, ...]]:
    """All delays that can be had together after `slots` slots in each of which one of those posted is served."""
    states = {(0,) * len(posted)}
    for slot in range(slots):
        then = set()
        for state in states:
            asking = [i for i, delay in enumerate(state) if posted[i][slot - delay]]
            for chosen in asking or [-1]:
                later = tuple(d + (i in asking and i != chosen) for i, d in enumerate(state))
                if all(d <= limit for d, limit in zip(later, most, strict=True)):
                    then.add(later)
        states = then
    return states


def all_vectors(most: list[int]) -> Any:
    """Every combination of delays."""
    return product(*(range(limit + 1) for limit in most))
