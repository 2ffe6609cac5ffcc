"""A scenario compiled into flat arrays: all that the engine, the metrics and the bounds read.

Every application becomes a chain of operations, each `work` seconds of compute followed by `volume` bytes of I/O,
and a `tail` of compute after the last one. Empty phases are gone, neighbouring computes are merged, loops are
unrolled (inside a window only as far as a dedicated run could get), noise is applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.arrays import Floats, Ints
from penstock.policies.sharing.foresight import picked

_PER_APPLICATION = ("nodes", "release", "progress", "start", "walltime", "tail", "endless")
_PER_OPERATION = ("work", "volume", "limit")


class Program(NamedTuple):
    """`m` applications and their `k` operations; operations of application i are `first[i] : first[i + 1]`."""

    names: tuple[str, ...]
    capacity: float  # B, bytes/s
    efficiency: Floats  # share of B with 1, 2, … applications moving, the last for all more; empty: all of it
    begin: float  # T_begin; 0 without a window
    end: float  # T_end; infinity without a window
    nodes: Floats  # m: p_i
    release: Floats  # m: tau_i
    progress: Floats  # m: ideal progress, in seconds, made before `start`
    start: Floats  # m: max(begin, release), when the first listed phase starts
    walltime: Floats  # m: seconds from its release after which it is cut off; infinity: never
    first: Ints  # m + 1: where an application's operations start
    work: Floats  # k: compute seconds right before the operation, may be 0
    volume: Floats  # k: bytes, > 0
    limit: Floats  # k: cap of this operation in bytes/s, already clipped to capacity
    tail: Floats  # m: compute seconds after the last operation, 0 if none
    endless: NDArray[np.bool_]  # m: the phases listed reach beyond what was unrolled (it cannot finish in the window)

    def pick(self, chosen: Sequence[int] | Ints) -> Program:
        """The same with these applications only, in this order."""
        rows = np.asarray(chosen, dtype=np.int64)
        first, operations = picked(self.first, rows)
        return self._replace(
            names=tuple(self.names[i] for i in rows),
            first=first,
            **{name: getattr(self, name)[rows] for name in _PER_APPLICATION},
            **{name: getattr(self, name)[operations] for name in _PER_OPERATION},
        )

    @property
    def windowed(self) -> bool:
        """Whether the run stops at `end` instead of going to completion."""
        return bool(np.isfinite(self.end))

    @property
    def until(self) -> Floats:
        """When each application stops at the latest: at its walltime, or at the end of the window."""
        return np.minimum(self.end, self.release + self.walltime)

    @property
    def origin(self) -> float:
        """Where the clock of a run starts: at the beginning of the window, or with the first application."""
        return self.begin if self.windowed else float(self.start.min())
