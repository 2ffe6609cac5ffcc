"""Blocked first: those who are held up right now come first; what they leave is shared by the others alike (ours).

Draining can wait as long as a buffer has room, and fetching ahead as long as something is there; a full buffer that is
written to, or an empty one that is read from, costs compute time at once.
"""

from __future__ import annotations

from penstock.kernels.arrays import Floats
from penstock.policies.buffering.level import raise_together
from penstock.policies.buffering.policy import strategy
from penstock.policies.buffering.view import Flows


@strategy("blocked-first", source="ours")
def blocked_first(flows: Flows, rates: Floats) -> None:
    """Applications that wait for the file system right now come first, then all others alike."""
    for row in range(rates.size):
        flows.key[row] = 1.0 - flows.blocked[row]
        rates[row] = 0.0
    raise_together(flows, rates, 0)
    raise_together(flows, rates, 1)
