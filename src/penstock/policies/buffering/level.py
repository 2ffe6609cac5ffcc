"""Raising all rates together until something stops them: max-min fairness under several limits."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.buffering.view import Flows

_RISING = -1.0


@inlined
def raise_together(flows: Flows, rates: Floats, chosen: int) -> None:
    """Max-min fair rates for the rows whose `key` is `chosen`; the others keep theirs, and what they use is gone.

    A flow stops at its cap, at the flow that it must stay under, or when one of the limits is reached.
    """
    left = 0
    for row in range(rates.size):
        if flows.key[row] == chosen:
            rates[row] = _RISING
            left += 1
    while left > 0:
        spent_in, spent_out, rising_in, rising_out = 0.0, 0.0, 0, 0
        lowest = np.inf
        for row in range(rates.size):
            if rates[row] == _RISING:
                lowest = min(lowest, flows.cap[row])
                rising_in += flows.reading[row]
                rising_out += 1 - flows.reading[row]
            elif flows.reading[row] == 1:
                spent_in += rates[row]
            else:
                spent_out += rates[row]
        level_in = max(0.0, flows.read_limit - spent_in) / rising_in if rising_in > 0 else np.inf
        level_out = max(0.0, flows.write_limit - spent_out) / rising_out if rising_out > 0 else np.inf
        both = max(0.0, flows.joint_limit - spent_in - spent_out) / left
        level = min(lowest, both, level_in, level_out)
        for row in range(rates.size):
            if rates[row] == _RISING:
                bound = min(flows.cap[row], both)
                bound = min(bound, level_in if flows.reading[row] == 1 else level_out)
                if bound <= level:
                    rates[row] = level
                    left -= 1
        for row in range(rates.size):
            if rates[row] == _RISING and flows.under[row] >= 0 and rates[flows.under[row]] != _RISING:
                rates[row] = rates[flows.under[row]]
                left -= 1
