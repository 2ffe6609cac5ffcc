"""For allocation policies: the next number of targets to go up to, for all at once and for jobs that come and go."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.sharing.order import coarse


@inlined
def next_step(stress: Floats, cpu_load: Floats, now: int, fastest: int, load: float) -> tuple[int, float, float]:
    """The first option after `now`, up to the fastest, that fits in at this load and loses nothing, and what it gains.

    -1 if there is none; and the least that an option on the way would add that does not fit in.
    """
    gain, passed = -1.0, np.inf
    step = now
    while step < fastest and gain < 0.0:
        step += 1
        added = stress[step] - stress[now]
        if load + added <= 1.0:
            gain = coarse(cpu_load[step] - cpu_load[now])
        else:
            passed = min(passed, added)
    return step, gain, passed
