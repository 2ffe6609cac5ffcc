"""Earliest burst: who would be held up first if nothing were done for it comes first (ours).

A buffer that drains has until its application has filled it again, one that is fetched into has until the input that is
there has been read. If every byte has such a deadline, serving the earliest first meets them all if anything does (see
the sizing of static partitions); only that deadlines are looked at when something happens, not all the time.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.policies.buffering.in_turn import serve_in_turn
from penstock.policies.buffering.policy import strategy
from penstock.policies.buffering.view import Flows

_LAST = np.finfo(np.float64).max


@strategy("earliest-burst", source="ours")
def earliest_burst(flows: Flows, rates: Floats) -> None:
    """Whoever would be held up first if nothing were done for it comes first."""
    for row in range(rates.size):
        flows.key[row] = min(flows.stuck[row], _LAST)
        rates[row] = 0.0
    serve_in_turn(flows, rates)
