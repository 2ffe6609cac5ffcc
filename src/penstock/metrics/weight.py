"""I/O weight (P2): how many applications' worth of time the workload wants from the storage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.engine.compile import limits
from penstock.model import COMPUTE, FOREVER, Application, Compute, Phase, Read, Repeat, Scenario, Trace


def io_weight(scenario: Scenario) -> float:
    """Sum over the applications of I/O time / (I/O + compute time), alone and without noise.

    Of an application that goes on forever only the loop counts: everything before it is nothing against it.
    """
    return sum(_share(application, scenario) for application in scenario.applications)


def _share(application: Application, scenario: Scenario) -> float:
    read, write = limits(application, scenario.platform)
    compute, transfer = _times(application.phases, read, write)
    return transfer / (compute + transfer)


def _times(phases: Sequence[Phase] | Trace, read: float, write: float) -> tuple[float, float]:
    """Seconds of compute and of I/O at full rate."""
    if isinstance(phases, Trace):
        seconds = phases.amount / np.array([1.0, read, write])[phases.kind]
        computing = phases.kind == COMPUTE
        return float(seconds[computing].sum()), float(seconds[~computing].sum())
    compute = transfer = 0.0
    for phase in phases:
        if isinstance(phase, Repeat):
            once = _times(phase.phases, read, write)
            if phase.repeat == FOREVER:
                return once
            compute, transfer = compute + phase.repeat * once[0], transfer + phase.repeat * once[1]
        elif isinstance(phase, Compute):
            compute += phase.compute
        else:
            transfer += phase.read / read if isinstance(phase, Read) else phase.write / write
    return compute, transfer
