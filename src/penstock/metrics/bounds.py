"""Upper bounds on a metric, the minimum yield, that no sharing strategy can beat, however much it knows.

The volume bound asks only that all bytes needed for a yield fit into the window. The interval bound gives every
operation an earliest start (as if alone) and a deadline (the end minus the dedicated time still needed after it) and
asks whether the bytes fit between them: at rate B for any size, and under the caps of the operations where there are
few of them. Both are found from above, so that they err upwards only, by at most 1e-9 of the yield.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from penstock.engine.dedicated import alone, dedicated
from penstock.engine.program import Program
from penstock.kernels.arrays import Floats
from penstock.metrics.earliest_deadline import lateness

ROUNDING = 1e-13  # relative; lets sums of bytes that fill the window exactly fit
LATENESS = 1e-12  # share of the run's length that counts as no lateness
PRECISION = 1e-13  # of a bound, relative
PATIENCE = 6  # secants in a row that may leave more than half of the interval
CAPPED_PRECISION = 1e-9  # of a bound under caps, relative
FEW = 400  # operations up to which caps are honoured; the flow grows with their square


def volume_bound(program: Program) -> float | None:
    """Largest yield that every application reaches alone and whose bytes fit into the window; None without one."""
    if not program.windowed:
        return None
    best = dedicated(program)
    room = program.capacity * (program.end - program.begin) * (1.0 + ROUNDING)

    def excess(y: float) -> float:
        need, _ = aim(program, best.listed, y)
        return float(alone(program, need).transferred.sum() / room - 1.0)

    return largest(excess, float(best.yields.min()))


def interval_bound(program: Program) -> float:
    """Largest yield at which each operation fits between its earliest start and deadline; also without a window."""
    best = dedicated(program)
    length = (program.end if program.windowed else float(best.completion.max())) - program.begin

    def excess(y: float) -> float:
        late = max(lateness(program, *aim(program, best.listed, y)) / length, -1.0)
        # Without a window deadlines go with 1/y; times y, the excess is close to a straight line either way.
        return y * (late - LATENESS)

    whole = volume_bound(program)
    uncapped = largest(excess, float(best.yields.min()) if whole is None else whole)
    if len(program.limit) > FEW or bool(np.all(program.limit >= program.capacity)):
        return uncapped
    # Most scenarios have no caps below B; they need not wait for these kernels to be compiled or loaded.
    from penstock.metrics.capped_fit import fits  # noqa: PLC0415

    return bisect(lambda y: fits(program, *aim(program, best.listed, y)), uncapped)


def aim(program: Program, listed: Floats, y: float) -> tuple[Floats, Floats]:
    """Seconds of its dedicated run that each application must do for yield y, and by when (counted from the begin).

    That is by its walltime or the end of the window, or earlier if it must do all of the seconds `listed`: then its
    yield counts when it is done.
    """
    end, release = program.until - program.begin, program.release - program.begin
    wanted = np.maximum(0.0, y * (end - release) - program.progress)
    due = np.where(wanted >= listed, release + (program.progress + listed) / y, end)
    return np.minimum(wanted, listed), due


def largest(excess: Callable[[float], float], top: float) -> float:
    """Where `excess`, which rises with the yield from about -1, becomes positive; `top` if it does not.

    The method of Anderson and Björck: a secant between a yield that fits and one that fails, where an end that stays
    counts less each time, and a bisection where secants come no nearer: beside a kink, each may take next to nothing
    off the interval. What it gives is the yield that fails.
    """
    low, below = 0.0, -1.0
    high, above = top, excess(top)
    stays = 0  # how often in a row the same end stayed: the high one if positive, the low one if negative
    width, tried = high, 0  # of the interval when it was last halved, and the secants since then
    while above > 0.0 and high - low > PRECISION * high:
        share = below / (below - above) if tried < PATIENCE else 0.5
        step = 0.5 * PRECISION * high
        y = min(max(low + share * (high - low), low + step), high - step)
        value = excess(y)
        if value > 0.0:
            below *= weight(value, above) if stays < 0 else 1.0
            high, above, stays = y, value, min(stays, 0) - 1
        else:
            above *= weight(value, below) if stays > 0 else 1.0
            low, below, stays = y, value, max(stays, 0) + 1
        width, tried = (high - low, 0) if high - low <= 0.5 * width else (width, tried + 1)
    return high


def weight(value: float, last: float) -> float:
    """How much the end that stays still counts when the other end went from `last` to `value`."""
    return 1.0 - value / last if abs(value) < abs(last) else 0.5


def bisect(fits: Callable[[float], bool], top: float) -> float:
    """As `largest`, for a question of yes and no, to the precision of the flow."""
    if fits(top):
        return top
    low, high = 0.0, top
    while high - low > CAPPED_PRECISION * high:
        middle = 0.5 * (low + high)
        if fits(middle):
            low = middle
        else:
            high = middle
    return high
