"""The I/O pressure of a generated APEX window, and the storage with which it has another."""

from __future__ import annotations

import math

import numpy as np

from penstock.model import Scenario


def bandwidth_for(unlimited: Scenario, pressure: float) -> tuple[float | None, float]:
    """The storage bandwidth at which a window has this I/O pressure, and the most that any bandwidth could give.

    In `unlimited` the storage is as fast as all applications together. Less bandwidth is never less pressure: who
    reaches fewer of its operations is kept longer by each. So halving finds it, and there is none only if all together
    spend too little time on I/O however slow it is.
    """
    # Numba again.
    from penstock.engine.compile import compile_scenario  # noqa: PLC0415
    from penstock.engine.dedicated import alone  # noqa: PLC0415

    program = compile_scenario(unlimited)
    seconds = program.end - program.start

    def exerted(bandwidth: float) -> float:
        moved = alone(program._replace(limit=np.minimum(program.limit, bandwidth)), seconds).transferred
        return float(moved.sum() / (bandwidth * (program.end - program.begin)))

    high = exerted(program.capacity) * program.capacity / pressure  # nobody moves more than when unlimited
    low = high * 1e-9
    most = exerted(low) if high else 0.0
    if most <= pressure:
        return None, most
    for _ in range(100):  # halvings of the logarithm, more than a float can tell apart
        middle = math.sqrt(low * high)
        if exerted(middle) > pressure:
            low = middle
        else:
            high = middle
    return high, most
