"""How the time of one decision grows with the number of active applications, for each policy.

Views are random but plausible: everyone is somewhere in its transfer, with a yield between 0.3 and 1. With caps of the
whole bandwidth one application can take all of it; with an eighth, eight or more share it and orders matter further.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numba import types

from penstock.kernels import kernel
from penstock.sharing import NAMES, find
from penstock.sharing.policy import Decide, Sharing
from penstock.sharing.view import POLICY, RATES, VIEW, Floats, View, empty_view

CAPS = {"cap = B": 1.0, "cap = B/8": 0.125}
_NOW, _END = 1e6, 2e6
# Several states, or the processor learns the branches of the only one by heart.
_STATES = 8


@dataclass(frozen=True)
class Growth:
    """Seconds per decision: `seconds[cap][policy]` has one entry for each of `sizes`."""

    sizes: list[int]
    seconds: dict[str, dict[str, list[float]]]


def measure_growth(quick: bool) -> Growth:
    """All policies, 2, 4, 8 … 1024 active applications (64 if quick)."""
    sizes = [2**power for power in range(1, 7 if quick else 11)]
    budget, rounds = (1e-3, 1) if quick else (1e-2, 3)
    seconds = {
        cap: {name: [_decision(find(name), size, limit, budget, rounds) for size in sizes] for name in NAMES}
        for cap, limit in CAPS.items()
    }
    return Growth(sizes, seconds)


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """x such that time grows like n^x over the last three doublings."""
    return float(np.log(seconds[-1] / seconds[-4]) / np.log(sizes[-1] / sizes[-4]))


def _decision(policy: Sharing, size: int, limit: float, budget: float, rounds: int) -> float:
    """The mean over all states of the fastest decision in each."""
    rates = np.zeros(size)
    return float(np.mean([_fastest(policy, _view(policy, size, limit, seed), rates, budget / _STATES, rounds)
                          for seed in range(_STATES)]))
