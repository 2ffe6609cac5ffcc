"""For buffering policies: all rates rise together until something stops them, max-min fair under several limits."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.buffering.in_turn import room_made
from penstock.policies.buffering.port import port_bound
from penstock.policies.buffering.view import Flows

_RISING = -1.0


@inlined
def _above_is_settled(flows: Flows, rates: Floats, row: int) -> bool:
    """Whether all that makes room for a flow into a full part has its rate; until then it has as much as the flow."""
    if flows.under[row] < 0 and flows.grows[row] == 0:
        return False
    settled = flows.under[row] < 0 or rates[flows.under[row]] != _RISING
    if flows.grows[row] == 1:
        for other in range(rates.size):
            settled = settled and not (flows.over[other] == 1 and rates[other] == _RISING)
    return settled  # type: ignore[no-any-return]


@inlined
def _keep_under(flows: Flows, rates: Floats, row: int) -> None:
    """Once all that makes room for a flow into a part that grows has its rate, that is the most it can use."""
    if flows.grows[row] == 1 and _above_is_settled(flows, rates, row):
        flows.cap[row] = min(flows.cap[row], room_made(flows, rates, row))


@inlined
def raise_together(flows: Flows, rates: Floats, chosen: int) -> None:
    """Max-min fair rates for the rows whose `key` is `chosen`; the others keep theirs, and what they use is gone.

    A flow stops at its cap, at the flows that it must stay under, or when one of the limits is reached.
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
                _keep_under(flows, rates, row)
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
        port = port_bound(flows, rates, _RISING)
        level = min(lowest, both, level_in, level_out, port)
        for row in range(rates.size):
            if rates[row] == _RISING:
                bound = min(flows.cap[row], both)
                bound = min(bound, level_in if flows.reading[row] == 1 else level_out)
                bound = min(bound, port if flows.crossing[row] > 0 else np.inf)
                if bound <= level:
                    rates[row] = level
                    left -= 1
        for row in range(rates.size):
            if rates[row] == _RISING and flows.grows[row] == 0 and _above_is_settled(flows, rates, row):
                rates[row] = rates[flows.under[row]]
                left -= 1
