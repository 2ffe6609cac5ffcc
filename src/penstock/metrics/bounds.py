"""Upper bounds on the minimum yield that no sharing strategy can beat, however much it knows.

The volume bound asks only that all bytes needed for a yield fit into the window. The interval bound gives every
operation an earliest start (as if alone) and a deadline (the end minus the dedicated time still needed after it) and
asks whether the bytes fit between them: at rate B for any size, and under the caps of the operations where there are
few of them. Both err upwards only, by at most 1e-9 of the yield.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from penstock.engine.program import Floats, Program
from penstock.metrics.dedicated import alone, dedicated
from penstock.metrics.earliest_deadline import lateness

ROUNDING = 1e-13  # relative; lets sums of bytes that fill the window exactly fit
LATENESS = 1e-12  # share of the run's length that counts as no lateness
PRECISION = 1e-13  # of a bound, relative
CAPPED_PRECISION = 1e-9  # of a bound under caps, relative
FEW = 400  # operations up to which caps are honoured; the flow grows with their square


def volume_bound(program: Program) -> float | None:
    """Largest yield that every application reaches alone and whose bytes fit into the window; None without one."""
    if not program.windowed:
        return None
    listed = alone(program, program.tail)[0]
    room = program.capacity * (program.end - program.begin)

    def excess(y: float) -> float:
        need, _ = aim(program, listed, y)
        return float(alone(program, need)[1].sum() / room - 1.0 - ROUNDING)

    return largest(excess, float(dedicated(program).yields.min()))


def interval_bound(program: Program) -> float:
    """Largest yield at which each operation fits between its earliest start and deadline; also without a window."""
    whole = volume_bound(program)
    listed, _, seconds, _ = alone(program, np.full(len(program.names), np.inf))
    # Any run that leaves no bandwidth idle is over by then.
    over = program.end if program.windowed else float((program.start + listed).max() + seconds.sum())
    length = over - program.begin

    def excess(y: float) -> float:
        # Without a window deadlines go with 1/y; times y, the excess is close to a straight line either way.
        late = lateness(program, *aim(program, listed, y))
        return y * (max(late, -length) / length - LATENESS)

    top = float(dedicated(program).yields.min()) if whole is None else whole
    uncapped = largest(excess, top)
    if len(program.limit) > FEW or bool(np.all(program.limit >= program.capacity)):
        return uncapped
    # Most scenarios have no caps below B; they need not wait for these kernels to be compiled or loaded.
    from penstock.metrics.capped_fit import fits  # noqa: PLC0415

    return bisect(lambda y: fits(program, *aim(program, listed, y)), uncapped)


def aim(program: Program, listed: Floats, y: float) -> tuple[Floats, Floats]:
    """Seconds of a dedicated run that yield y asks of each application, and by when, from the begin on.

    By the end of the window, or earlier if all that is `listed` has to be done for y.
    """
    end, release = program.end - program.begin, program.release - program.begin
    wanted = y * (end - release) - program.progress
    finish = (wanted >= listed) & ~program.endless
    need = np.where(finish, listed, np.maximum(0.0, wanted))
    due = np.where(finish, release + (program.progress + listed) / y, end)
    return need, due


def largest(excess: Callable[[float], float], top: float) -> float:
    """Where the rising `excess` turns positive, from above, by the Illinois method; `top` if it does not.

    That is a secant between an end that fits and one that fails, where an end that stays twice counts half.
    """
    high, above = top, excess(top)
    if above <= 0.0:
        return top
    low, below = 0.0, -above  # a guess
    kept = 0
    while high - low > PRECISION * high:
        least = 0.5 * PRECISION * high
        secant = low + (high - low) * (below / (below - above))
        y = min(max(secant, low + least), high - least)
        value = excess(y)
        if value > 0.0:
            high, above = y, value
            below *= 0.5 if kept < 0 else 1.0
            kept = -1
        else:
            low, below = y, value
            above *= 0.5 if kept > 0 else 1.0
            kept = 1
    return high


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
