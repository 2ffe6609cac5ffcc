"""What every application would do if it had the machine to itself, and the load that this puts on the storage."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.engine.program import Floats, Ints, Program
from penstock.kernels import inlined, kernel

SAME_INSTANT = 1e-9  # relative; what lies this close to the end of the window happens at it

_FLOATS, _INTS = types.float64[::1], types.int64[::1]


class Dedicated(NamedTuple):
    """One entry per application, each run alone and stopped at the end of the window if there is one."""

    completion: Floats  # when its last phase would end, also if that lies after the window; infinity if endless
    yields: Floats  # at its completion, or at the end of the window if that comes first
    transferred: Floats  # bytes inside the window
    computing: Floats  # seconds of compute inside the window
    transferring: Floats  # seconds of I/O inside the window
    started: Ints  # operations started strictly before the end


def dedicated(program: Program) -> Dedicated:
    """Run every application of `program` alone."""
    window = program.end - program.start
    total, transferred, transferring, _ = alone(program, window)
    listed = np.where(program.endless, np.inf, total)
    made = np.minimum(listed, window)
    last = program.end - SAME_INSTANT * abs(program.end) if program.windowed else np.inf
    return Dedicated(
        completion=program.start + listed,
        yields=(program.progress + made) / (program.start - program.release + made),
        transferred=transferred,
        computing=np.maximum(0.0, made - transferring),
        transferring=transferring,
        started=alone(program, last - program.start)[3].astype(np.int64),
    )


def pressure(program: Program) -> float | None:
    """I/O pressure W (P1): bytes of all dedicated runs over what the storage can move in the window."""
    if not program.windowed:
        return None
    return float(dedicated(program).transferred.sum() / (program.capacity * (program.end - program.begin)))


def alone(program: Program, until: Floats) -> Floats:
    """Four rows: seconds listed; bytes, seconds of I/O and operations begun in the first `until` seconds alone."""
    rows = np.empty((4, len(until)))
    run_alone(program.first, program.work, program.volume, program.limit, until, *rows)
    rows[0] += program.tail
    return rows


@inlined
def add(total: float, lost: float, term: float) -> tuple[float, float]:
    """A sum of positive terms that keeps what rounding takes from it: what was added is `total + lost`.

    A million equal phases summed plainly drift by 1e-10, which would show in a bound.
    """
    new = total + term
    return new, lost + ((total - new) + term)


@kernel(types.void(_INTS, *[_FLOATS] * 8))
def run_alone(
    first: Ints,
    work: Floats,
    volume: Floats,
    limit: Floats,
    until: Floats,
    listed: Floats,
    moved: Floats,
    seconds: Floats,
    begun: Floats,
) -> None:
    """Fill `listed` with the seconds of all operations, the others with what happens before `until`."""
    for i in range(len(until)):
        done, done_lost = 0.0, 0.0
        bytes_, bytes_lost = 0.0, 0.0
        spent, spent_lost = 0.0, 0.0
        count = 0
        for j in range(first[i], first[i + 1]):
            done, done_lost = add(done, done_lost, work[j])
            left = max(0.0, until[i] - (done + done_lost))
            full = volume[j] / limit[j]
            count += left > 0.0
            bytes_, bytes_lost = add(bytes_, bytes_lost, min(volume[j], left * limit[j]))
            spent, spent_lost = add(spent, spent_lost, min(full, left))
            done, done_lost = add(done, done_lost, full)
        listed[i], moved[i], seconds[i], begun[i] = done + done_lost, bytes_ + bytes_lost, spent + spent_lost, count
