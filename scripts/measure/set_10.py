"""What two details of `set-10` change that P1 has otherwise: `python scripts/measure/set_10.py [INSTANCES]`.

P1's ω leaves out the offset that its synthetic applications begin with, and its newcomers are members of the best set.
Prints the difference that each makes, and both, to the min yield and the efficiency on P1's workload, instance by
instance. Without either, the policy below must do what `set-10` does, which is checked.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from penstock import Scenario, generate, simulate
from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.set_10 import _NEWCOMERS, fill_sets
from penstock.policies.sharing.view import View

PRESSURES = (0.5, 0.8, 1.0, 1.1)
COLUMNS = ("min_yield", "efficiency")
NUMBERS = 3  # in the memory of an application: when its operation was posted, how many it posted, its offset

_offsets: list[float] = []  # of the instance that is about to be run


def with_offsets(foresight: Foresight, _: Mapping[str, float]) -> Floats:
    """What the policy remembers at first."""
    memory = np.zeros(NUMBERS * len(foresight.names))
    memory[NUMBERS - 1 :: NUMBERS] = _offsets or 0.0
    return memory


@inlined
def _name_sets(view: View, merged: float) -> float:
    """As in `set-10`, with ω less the offset, and newcomers in the best set if they are merged."""
    top = _NEWCOMERS
    for row in range(view.key.size):
        own = NUMBERS * view.application[row]
        if view.memory[own] != view.posted[row] or view.memory[own + 1] == 0.0:
            view.memory[own] = view.posted[row]
            view.memory[own + 1] += 1.0
        view.key[row] = _NEWCOMERS
        if view.omega[row] > 0.0:
            omega = view.omega[row] - view.memory[own + 2] / (view.memory[own + 1] - 1.0)
            view.key[row] = math.floor(math.log10(omega) + 0.5)
        top = min(top, view.key[row])
    for row in range(view.key.size):
        if merged > 0.0 and view.key[row] == _NEWCOMERS:
            view.key[row] = top
    return 0.0 if top == _NEWCOMERS else top


@sharing("set-10-as-p1", prepare=with_offsets, merged=0.0)
def as_p1(view: View, rates: Floats) -> None:
    """`set-10` with the two details as settings."""
    fill_sets(view, _name_sets(view, view.settings[0]), rates)


MERGED = dataclasses.replace(as_p1, settings={"merged": 1.0})
WAYS: dict[str, tuple[Any, bool]] = {  # the policy, and whether ω is less the offset
    "set-10": ("set-10", False),
    "the same": (as_p1, False),
    "offset not counted": (as_p1, True),
    "newcomers in the best set": (MERGED, False),
    "both": (MERGED, True),
}


def measured(scenario: Scenario, policy: Any, less_offset: bool) -> list[float]:
    """Min yield and efficiency of one way."""
    phases: list[Any] = [application.phases for application in scenario.applications]
    _offsets[:] = [float(each.amount[0]) for each in phases] if less_offset else []
    run = simulate(scenario, sharing=policy)
    return [float(getattr(run, column)) for column in COLUMNS]


def main() -> None:
    """All differences at all pressures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    for pressure in PRESSURES:
        scenarios = (generate("synthetic", seed, pressure=pressure) for seed in range(1, count + 1))
        values = np.array([[measured(each, *way) for way in WAYS.values()] for each in scenarios])
        np.testing.assert_allclose(values[:, 1], values[:, 0], atol=1e-9)
        for place, name in list(enumerate(WAYS))[2:]:
            change = values[:, place] - values[:, 0]
            error = 1.96 * change.std(axis=0, ddof=1) / math.sqrt(count)
            text = ", ".join(f"{c} {m:+.4f} ± {e:.4f}" for c, m, e in zip(COLUMNS, change.mean(0), error, strict=True))
            print(f"W = {pressure:g}, {name}: {text}", flush=True)


if __name__ == "__main__":
    main()
