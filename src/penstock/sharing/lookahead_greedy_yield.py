"""Lookahead greedy yield: try everyone first, keep the choice with the best minimum yield at the next completion.

Z_i is the minimum yield over the active applications at t + h when i goes first and the others follow by greedy
yield; h is the earliest completion under that allocation, or the end of the window (P1 §4.1).
"""

import numpy as np

from penstock.kernels import inlined
from penstock.sharing.order import coarse, comes_first, yield_now
from penstock.sharing.policy import sharing
from penstock.sharing.view import Floats, View


@inlined
def _sort_rows(view: View) -> None:
    # Insertion: decisions follow each other with few changes of a short list.
    rows, key = view.rows, view.key
    for row in range(rows.size):
        key[row] = coarse(yield_now(view, row))
        slot = row
        while slot > 0 and comes_first(key, view.posted, view.application, row, rows[slot - 1]):
            rows[slot] = rows[slot - 1]
            slot -= 1
        rows[slot] = row


@inlined
def _fill_with_first(view: View, favourite: int, rates: Floats) -> float:
    """Fill with `favourite` first, the rest in the order of `view.rows`; return the time to the next event."""
    rates[:] = 0.0
    rates[favourite] = min(view.limit[favourite], view.capacity)
    left = view.capacity - rates[favourite]
    horizon = min(view.end - view.now, view.remaining[favourite] / rates[favourite])
    for row in view.rows:
        if left <= 0.0:
            break
        if row != favourite:
            rates[row] = min(view.limit[row], left)
            left -= rates[row]
            horizon = min(horizon, view.remaining[row] / rates[row])
    return horizon  # type: ignore[no-any-return]


@sharing("lookahead-greedy-yield", source="P1 §4.1")
def lookahead_greedy_yield(view: View, rates: Floats) -> None:
    """Of all choices of who goes first, the one with the highest minimum yield at the next event."""
    _sort_rows(view)
    best, best_yield = view.rows[0], -1.0
    for favourite in view.rows:
        horizon = _fill_with_first(view, favourite, rates)
        lowest = np.inf
        # In rising order of yield, so that a choice that cannot win is given up after a row or two.
        for row in view.rows:
            age = view.now + horizon - view.release[row]
            then = view.progress[row] + rates[row] * horizon / view.limit[row]
            lowest = min(lowest, coarse(then / age))
            if lowest <= best_yield:
                break
        if lowest > best_yield:
            best, best_yield = favourite, lowest
    _fill_with_first(view, best, rates)
