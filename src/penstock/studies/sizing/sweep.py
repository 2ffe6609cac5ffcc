"""The smallest buffer that everyone may use (dynamic), where reads and writes do not share one limit: one sweep.

Draining as early as possible leaves the least behind at every instant at once, and so does reading as late as possible.
Both together are the usage that no schedule can avoid, so its maximum is the size (P5 §6.3 without the linear program).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import kernel

_F = types.float64[::1]


class Swept(NamedTuple):
    """At each event: output that is not drained yet, and input that is there ahead of its time."""

    backlog: Floats
    prefetched: Floats


@kernel(types.void(_F, _F, types.float64, _F))
def drain(demand: Floats, seconds: Floats, limit: float, backlog: Floats) -> None:
    """What is left at each event when everything drains as early as it can."""
    backlog[0] = 0.0
    for interval in range(demand.size):
        backlog[interval + 1] = max(0.0, backlog[interval] + demand[interval] - limit * seconds[interval])


def swept(written: Floats, read: Floats, seconds: Floats, write_limit: float, read_limit: float) -> Swept:
    """The least usage at every event. Reading as late as possible is draining in reversed time."""
    backlog, ahead = np.empty((2, seconds.size + 1))
    drain(written, seconds, write_limit, backlog)
    drain(read[::-1].copy(), seconds[::-1].copy(), read_limit, ahead)
    return Swept(backlog, ahead[::-1])
