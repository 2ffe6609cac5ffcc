"""What every application would do if it had the machine to itself, and the load that this puts on the storage."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.engine.program import Floats, Ints, Program
from penstock.metrics.chains import chains

SAME_INSTANT = 1e-9  # relative; what lies this close to the end of the window happens at it


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
    lines = chains(program)
    listed = np.where(program.endless, np.inf, lines.total)
    made = np.minimum(listed, lines.end - lines.start)
    owner = lines.owner
    seconds = np.clip(made[owner] - lines.before, 0.0, lines.after - lines.before)
    transferring = _per_application(owner, seconds, len(made))
    last = program.end - SAME_INSTANT * abs(program.end) if program.windowed else np.inf
    starts_in_time = program.start[owner] + lines.before < last
    return Dedicated(
        completion=program.start + listed,
        yields=(lines.progress + made) / (lines.start + made - lines.release),
        transferred=_per_application(owner, seconds * lines.limit, len(made)),
        computing=np.maximum(0.0, made - transferring),
        transferring=transferring,
        started=np.bincount(owner[starts_in_time], minlength=len(made)),
    )


def pressure(program: Program) -> float | None:
    """I/O pressure W (P1): bytes of all dedicated runs over what the storage can move in the window."""
    if not program.windowed:
        return None
    return float(dedicated(program).transferred.sum() / (program.capacity * (program.end - program.begin)))


def io_weight(program: Program) -> float:
    """Sum over the applications of their share of time in I/O when alone (P2), up to the end of the window."""
    alone = dedicated(program)
    return float((alone.transferring / (alone.transferring + alone.computing)).sum())


def _per_application(owner: Ints, amount: Floats, m: int) -> Floats:
    return np.bincount(owner, amount, minlength=m).astype(np.float64)
