"""What a list of phases adds up to before the engine runs it, loops counted and not unrolled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from penstock.model import COMPUTE, FOREVER, Compute, Phase, Read, Repeat, Trace


class Tally(NamedTuple):
    """Seconds of compute and of I/O at full rate, and how many operations move bytes."""

    compute: float
    transfer: float
    operations: int

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        return Tally(self.compute + other.compute, self.transfer + other.transfer, self.operations + other.operations)

    def times(self, count: int) -> Tally:
        """The same thing done `count` times."""
        return Tally(count * self.compute, count * self.transfer, count * self.operations)


def tally(phases: Sequence[Phase] | Trace, read: float, write: float) -> Tally:
    """All phases alone, without noise, at the caps `read` and `write`.

    Of phases that go on forever only one round of the loop: everything before it is nothing against it.
    """
    if isinstance(phases, Trace):
        return _of_trace(phases, read, write)
    summed = Tally(0.0, 0.0, 0)
    for phase in phases:
        if isinstance(phase, Repeat):
            once = tally(phase.phases, read, write)
            if phase.repeat == FOREVER:
                return once
            summed += once.times(phase.repeat)
        elif isinstance(phase, Compute):
            summed += Tally(phase.compute, 0.0, 0)
        else:
            summed += Tally(0.0, phase.amount / (read if isinstance(phase, Read) else write), int(phase.amount > 0.0))
    return summed


def _of_trace(trace: Trace, read: float, write: float) -> Tally:
    seconds = trace.amount / np.array([1.0, read, write])[trace.kind]
    computing = trace.kind == COMPUTE
    moving = ~computing & (trace.amount > 0.0)
    return Tally(float(seconds[computing].sum()), float(seconds[~computing].sum()), int(moving.sum()))
