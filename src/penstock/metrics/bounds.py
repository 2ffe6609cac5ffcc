"""Upper bounds on the minimum yield that no sharing strategy can beat, however much it knows.

The volume bound asks only that all bytes needed for a yield fit into the window. The interval bound gives every
operation an earliest start (as if alone) and a deadline (the end minus the dedicated time still needed after it) and
asks whether the bytes fit between them: at rate B for any size, and under the caps of the operations where there are
few of them. Both err upwards only, by at most 1e-9 of the yield.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.program import Program
from penstock.metrics.bound_kernels import deadline_limit, desk, volume_limit
from penstock.metrics.chains import Chains, chains
from penstock.metrics.dedicated import dedicated

LATENESS = 1e-12  # share of the run's length that counts as no lateness
PRECISION = 1e-9  # of the bisection under caps, relative
FEW = 400  # operations up to which caps are honoured; the flow grows with their square


def volume_bound(program: Program) -> float | None:
    """Largest yield that every application reaches alone and whose bytes fit into the window; None without one."""
    if not program.windowed:
        return None
    return float(volume_limit(chains(program), _top(program)))


def interval_bound(program: Program) -> float:
    """Largest yield at which each operation fits between its earliest start and deadline; also without a window."""
    lines = chains(program)
    whole = volume_bound(program)
    order = np.argsort(lines.start[lines.owner] + lines.before, kind="stable")
    top = _top(program) if whole is None else whole
    uncapped = float(deadline_limit(lines, desk(len(program.names)), order, top, LATENESS * _length(lines)))
    if len(order) > FEW or bool(np.all(lines.limit >= lines.capacity)):
        return uncapped
    return _capped(lines, uncapped)


def _top(program: Program) -> float:
    return float(dedicated(program).yields.min())


def _length(lines: Chains) -> float:
    """Length of the window, or a time by which any work-conserving run is over."""
    if np.isfinite(lines.end):
        return lines.end
    return float((lines.start + lines.total).max() + (lines.volume / lines.limit).sum())


def _capped(lines: Chains, top: float) -> float:
    """Bisect for the largest yield up to `top` at which the bytes fit under the caps; gives the end that fails."""
    if _fits(lines, top):
        return top
    low, high = 0.0, top
    while high - low > PRECISION * high:
        middle = 0.5 * (low + high)
        if _fits(lines, middle):
            low = middle
        else:
            high = middle
    return high


def _fits(lines: Chains, y: float) -> bool:
    # Most scenarios have no caps below B; they need not wait for these kernels to be compiled or loaded.
    from penstock.metrics.capped_fit import fits  # noqa: PLC0415

    return fits(lines, y)
