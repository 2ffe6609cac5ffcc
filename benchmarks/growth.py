"""How the time of one decision grows with the number of active applications, for each policy.

Views are random but plausible: everyone is somewhere in its transfer, with a yield between 0.3 and 1. With caps of the
whole bandwidth one application can take all of it; with an eighth, eight or more share it and orders matter further.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined, kernel
from penstock.policies.sharing import NAMES, find
from penstock.policies.sharing.policy import Decide, Sharing
from penstock.policies.sharing.view import POLICY, RATES, VIEW, View, empty_view, shut

CAPS = {"all of B": 1.0, "an eighth of B": 0.125}
_NOW, _END = 1e6, 2e6
# Several states, or the processor learns the branches of the only one by heart.
_STATES = 8


@dataclass(frozen=True)
class Growth:
    """Seconds per decision: `seconds[cap][policy]` has one entry for each of `sizes`."""

    sizes: list[int]
    seconds: dict[str, dict[str, list[float]]]


@inlined
def _state(view: View, start: int, stop: int) -> View:
    return View(
        view.now,
        view.begin,
        view.end,
        view.capacity,
        view.application[start:stop],
        view.nodes[start:stop],
        view.limit[start:stop],
        view.remaining[start:stop],
        view.posted[start:stop],
        view.release[start:stop],
        view.progress[start:stop],
        view.omega[start:stop],
        view.rate[start:stop],
        view.confidence[start:stop],
        view.bandwidth[start:stop],
        view.settings,
        view.memory,
        view.key[start:stop],
        view.rows[start:stop],
        view.mean_loss,
    )


def measure_growth(quick: bool) -> Growth:
    """Every way to decide by what is seen, 2, 4, 8 … 1024 active applications (64 if quick)."""
    sizes = [2**power for power in range(1, 7 if quick else 11)]
    budget, rounds = (1e-3, 1) if quick else (1e-2, 3)
    seconds = {
        cap: {name: [_decision(find(name), size, limit, budget, rounds) for size in sizes] for name in _measured()}
        for cap, limit in CAPS.items()
    }
    return Growth(sizes, seconds)


def _measured() -> list[str]:
    """Of the orders one stands for all: they look at every application once; and best-effort is fair-share."""
    others = [name for name in NAMES if name.startswith("list-") or find(name).prepare or name == "best-effort"]
    return [name for name in NAMES if name not in others or name == "list-fifo"]


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """x such that time grows like n^x over the last three doublings."""
    return float(np.log(seconds[-1] / seconds[-4]) / np.log(sizes[-1] / sizes[-4]))


def _decision(policy: Sharing, size: int, limit: float, budget: float, rounds: int) -> float:
    """Seconds of one decision, the best of several rounds that take at least `budget` each."""
    states = _states(policy, size, limit)
    _turns_take(policy, states, 1)  # the first call of all takes its time
    turns, spent = 1, _turns_take(policy, states, 1)
    while spent < budget:
        turns *= 2
        spent = _turns_take(policy, states, turns)
    best = min([spent] + [_turns_take(policy, states, turns) for _ in range(rounds - 1)])
    return best / (turns * _STATES)


def _turns_take(policy: Sharing, states: View, turns: int) -> float:
    started = time.thread_time()
    _decide_all(policy.decide, states, np.zeros(states.limit.size // _STATES), turns)
    return time.thread_time() - started


def _states(policy: Sharing, size: int, limit: float) -> View:
    """All states one after the other, as rows of one View; no application is in two of them."""
    rows = size * _STATES
    draw = np.random.default_rng(size)
    view = empty_view(rows, policy.settings_array(), policy.initial_memory(rows, foresight=None))
    view.application[:] = draw.permutation(rows)
    view.nodes[:] = 1.0
    view.limit[:] = limit
    view.remaining[:] = draw.uniform(1.0, 1e3, rows)
    view.posted[:] = _NOW - draw.uniform(0.0, 1e4, rows)
    view.progress[:] = draw.uniform(0.3, 1.0, rows) * _NOW
    view.omega[:] = 10.0 ** draw.uniform(3.0, 5.0, rows)
    return shut(view._replace(now=_NOW, end=_END, capacity=1.0, mean_loss=0.3))


@kernel(types.void(POLICY, VIEW, RATES, types.int64))
def _decide_all(decide: Decide, states: View, rates: Floats, turns: int) -> None:
    """Let the policy decide in one state after the other, called as the engine calls it."""
    size = rates.size
    for _ in range(turns):
        for at in range(0, states.limit.size, size):
            rates[:] = 0.0
            decide(_state(states, at, at + size), rates)
