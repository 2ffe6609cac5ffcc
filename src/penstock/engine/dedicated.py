"""What every application would do in a run with the machine to itself, and the load that this puts on the storage."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.engine.program import Program
from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.compile import inlined, kernel


class Dedicated(NamedTuple):
    """One entry per application, each run alone and stopped at its walltime or the end of the window, if it has one."""

    completion: Floats  # when its last phase would end, also if that lies after the window; infinity if endless
    yields: Floats  # at its completion, or when it is stopped if that comes first
    transferred: Floats  # bytes inside the window
    started: Ints  # operations started strictly before the end
    listed: Floats  # seconds that all its phases take; infinity if endless


class Alone(NamedTuple):
    """One entry per application: what it does in the first seconds of a dedicated run, and how long all would take."""

    transferred: Floats  # bytes
    started: Ints  # operations
    operations: Floats  # seconds of all operations, up to the end of the last


def dedicated(program: Program) -> Dedicated:
    """Run every application of `program` alone."""
    window = program.until - program.start
    run = alone(program, window)
    listed = np.where(program.endless, np.inf, run.operations + program.tail)
    made = np.minimum(listed, window)
    same_instant = SAME * (program.end - program.begin) if program.windowed else 0.0
    return Dedicated(
        completion=program.start + listed,
        yields=(program.progress + made) / (program.start - program.release + made),
        transferred=run.transferred,
        started=alone(program, window - same_instant).started,
        listed=listed,
    )


def pressure(program: Program, runs: Dedicated) -> float | None:
    """I/O pressure W (P1): bytes of all dedicated runs over what the storage can move in the window."""
    if not program.windowed:
        return None
    return float(runs.transferred.sum() / (program.capacity * (program.end - program.begin)))


def alone(program: Program, until: Floats) -> Alone:
    """Run application i alone for `until[i]` seconds."""
    m = len(until)
    run = Alone(np.empty(m), np.empty(m, np.int64), np.empty(m))
    run_alone(program.first, program.work, program.volume, program.limit, until, *run)
    return run


@inlined
def add(total: float, lost: float, term: float) -> tuple[float, float]:
    """Add to a sum of positive terms, and note what rounding takes from it: the sum is `total + lost`.

    A million equal phases summed plainly drift by 1e-10, which would show in a bound.
    """
    new = total + term
    return new, lost + ((total - new) + term)


_FLOATS, _INTS = types.float64[::1], types.int64[::1]


@kernel(types.void(_INTS, *[_FLOATS] * 5, _INTS, _FLOATS))
def run_alone(
    first: Ints,
    work: Floats,
    volume: Floats,
    limit: Floats,
    until: Floats,
    transferred: Floats,
    started: Ints,
    operations: Floats,
) -> None:
    """Fill the last three."""
    for i in range(len(until)):
        count = 0
        moved, moved_lost = 0.0, 0.0
        done, done_lost = 0.0, 0.0
        for j in range(first[i], first[i + 1]):
            seconds = volume[j] / limit[j]
            done, done_lost = add(done, done_lost, work[j])
            left = max(0.0, until[i] - (done + done_lost))
            count += left > 0.0
            moved, moved_lost = add(moved, moved_lost, min(volume[j], left * limit[j]))
            done, done_lost = add(done, done_lost, seconds)
        started[i] = count
        transferred[i] = moved + moved_lost
        operations[i] = done + done_lost
