"""Lookahead greedy yield: try everyone first, keep the choice with the best minimum yield at the next completion.

Z_i is the minimum yield over the active applications at t + h when i goes first and the others follow by greedy
yield; h is the earliest completion under that allocation, or the end of the window (P1 §4.1).
"""

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.sharing.order import coarse, sort_rows, yield_now
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@inlined
def _horizon(view: View, favourite: int) -> float:
    """Seconds to the next event if `favourite` goes first and the rest follows in the order of `view.rows`."""
    first = min(view.limit[favourite], view.capacity)
    left = view.capacity - first
    horizon = min(view.end - view.now, view.remaining[favourite] / first)
    for row in view.rows:
        if left <= 0.0:
            break
        if row != favourite:
            given = min(view.limit[row], left)
            left -= given
            horizon = min(horizon, view.remaining[row] / given)
    return horizon  # type: ignore[no-any-return]


@inlined
def _lowest_yield(view: View, favourite: int, horizon: float, to_beat: float) -> float:
    """The lowest yield after `horizon` seconds of that allocation; any value up to `to_beat` if it is not above it."""
    lowest = np.inf
    first = min(view.limit[favourite], view.capacity)
    left = view.capacity - first
    # In rising order of yield, so that a choice that cannot win is given up after a row or two.
    for row in view.rows:
        given = first
        if row != favourite:
            given = min(view.limit[row], left)
            left -= given
        done = view.progress[row] + given * horizon / view.bandwidth[row]
        lowest = min(lowest, coarse(done / (view.now - view.release[row] + horizon)))
        if lowest <= to_beat:
            break
    return lowest


@sharing("lookahead-greedy-yield", source="P1 §4.1")
def lookahead_greedy_yield(view: View, rates: Floats) -> None:
    """Of all choices of who goes first, the one with the highest minimum yield at the next event."""
    for row in range(rates.size):
        view.key[row] = yield_now(view, row)
    sort_rows(view)
    best, best_yield = view.rows[0], -np.inf
    for favourite in view.rows:
        lowest = _lowest_yield(view, favourite, _horizon(view, favourite), best_yield)
        if lowest > best_yield:
            best, best_yield = favourite, lowest
    rates[best] = min(view.limit[best], view.capacity)
    left = view.capacity - rates[best]
    for row in view.rows:
        if row != best:
            rates[row] = min(view.limit[row], left)
            left -= rates[row]
