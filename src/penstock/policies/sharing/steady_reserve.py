"""Steady reserve: reserve credit for those who know no end, with a memory instead of a window.

What is most of the backlog may wait, as in reserve credit: it keeps the bandwidth from falling idle. Without an end
there is no telling how much can still be made good, so it is made good as it goes. An operation is worth as a reserve

    r = V/2B + k·L·H·V/ΣV

seconds: half of those in which it keeps the bandwidth busy, and by its share of the backlog what is lost in an
iteration, which everybody has the chance to make good in the next. L is the mean loss of all, and H the mean iteration
of those who were there lately, each counted by its bytes. Credited is 3V/2B, and by how much r is above s, the mean r
of the application's own operations while they waited, forgotten within H/2. Who has been the reserve for long is one no
more, and nobody is behind for good.
"""

import math

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined, total
from penstock.policies.sharing.order import fill
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.rules import NO_AGE, NO_LOSS, in_advance
from penstock.policies.sharing.view import View

_LATELY = 4.0  # of its own iterations: who was not seen for longer may be gone
_FORGET = 0.5  # of H

# The memory: for each application s, when it was seen last, how long its iterations are, and what it moved last.
_USUAL, _SEEN, _ITERATION, _VOLUME, _WIDTH = 0, 1, 2, 3, 4


@inlined
def _note(view: View) -> None:
    """Remember of those who wait how long their iterations are, and the volume of an operation not seen before."""
    for row in range(view.application.size):
        place = _WIDTH * view.application[row]
        view.memory[place + _ITERATION] = view.omega[row] if view.omega[row] > 0.0 else 0.0
        if view.memory[place + _SEEN] < view.posted[row] or view.memory[place + _VOLUME] == 0.0:
            view.memory[place + _VOLUME] = view.remaining[row]


@inlined
def _mean_iteration(view: View) -> float:
    """H. It may fall: who is gone, or iterates faster than it did, is not remembered for ever."""
    memory, seconds, volume = view.memory, 0.0, 0.0
    for place in range(0, memory.size, _WIDTH):
        iteration = memory[place + _ITERATION]
        if iteration > 0.0 and view.now - memory[place + _SEEN] < _LATELY * iteration:
            seconds += iteration * memory[place + _VOLUME]
            volume += memory[place + _VOLUME]
    return seconds / volume if volume > 0.0 else 0.0


@inlined
def _usual(view: View, row: int, worth: float, horizon: float) -> float:
    """s: what this application's operations were worth on average while they waited, the time since then included."""
    place, memory = _WIDTH * view.application[row], view.memory
    waited = view.now - max(memory[place + _SEEN], view.posted[row])
    if waited > 0.0 and horizon > 0.0:
        kept = math.exp(-waited / (_FORGET * horizon))
        memory[place + _USUAL] = kept * memory[place + _USUAL] + (1.0 - kept) * worth
    memory[place + _SEEN] = view.now
    return memory[place + _USUAL]  # type: ignore[no-any-return]


@sharing("steady-reserve", source="ours", losses=True, memory=_WIDTH, k=1.0)
def steady_reserve(view: View, rates: Floats) -> None:
    """Fill greedily, lowest yield first, with credit for who is more of a reserve than it usually is."""
    loss = view.mean_loss if view.mean_loss >= NO_LOSS else 0.0
    _note(view)
    waiting, horizon = total(view.remaining, rates.size), _mean_iteration(view)
    for row in range(rates.size):
        age = max(view.now - view.release[row], NO_AGE)
        alone = view.remaining[row] / view.capacity
        worth = 0.5 * alone + view.settings[0] * loss * in_advance(horizon, age) * view.remaining[row] / waiting
        credit = 1.5 * alone + worth - _usual(view, row, worth, horizon)
        view.key[row] = (view.progress[row] + in_advance(credit, age)) / age
    fill(view, rates)
