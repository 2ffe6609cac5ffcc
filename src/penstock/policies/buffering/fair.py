"""Fair: all flows share alike, as far as each can use it (strategy G, P5 §7.1)."""

from __future__ import annotations

from penstock.kernels.arrays import Floats
from penstock.policies.buffering.level import raise_together
from penstock.policies.buffering.policy import strategy
from penstock.policies.buffering.view import Flows


@strategy("fair", source="P5 §7.1")
def fair(flows: Flows, rates: Floats) -> None:
    """Everyone who reads, writes, drains or fetches ahead has the same right to the file system."""
    for row in range(rates.size):
        flows.key[row] = 0.0
    raise_together(flows, rates, 0)
