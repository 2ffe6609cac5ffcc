"""Filling greedily in an order: what most policies do once they know who matters most.

Priorities that differ by rounding noise only must tie (undisturbed applications all have yield 1), so keys are
compared on 30 significant bits; ties go to the earlier posting, then to the order in the scenario.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import inlined, kernel
from penstock.kernels.numba_types import SHOWN_FLOATS, SHOWN_INTS
from penstock.policies.sharing.view import View

_HUGE = 1e300
# Veltkamp's splitter: c - (c - x) with c = x * (2**23 + 1) is x rounded to 53 - 23 = 30 bits.
_SPLIT = 8388609.0

# Up to here insertion beats a heap.
_SHORT = 24

_F = types.float64[::1]
_I = types.int64[::1]


@inlined
def coarse(key: float) -> float:
    """`key` on 30 significant bits: closer than about 1e-9 is equal; infinities stay what they are."""
    scaled = key * _SPLIT
    return scaled - (scaled - key) if abs(key) < _HUGE else key


@inlined
def yield_now(view: View, row: int) -> float:
    """Progress so far over time since release; 0 at the release itself."""
    age = view.now - view.release[row]
    return view.progress[row] / age if age > 0.0 else 0.0


@inlined
def comes_first(key: Floats, posted: Floats, application: Ints, a: int, b: int) -> bool:
    """Whether row `a` goes before row `b`: lower key, then earlier posting, then scenario order."""
    if key[a] != key[b]:
        return key[a] < key[b]  # type: ignore[no-any-return]
    posted_a, posted_b = coarse(posted[a]), coarse(posted[b])
    if posted_a != posted_b:
        return posted_a < posted_b
    return application[a] < application[b]  # type: ignore[no-any-return]


@kernel(types.void(_F, SHOWN_FLOATS, SHOWN_INTS, _I, types.int64, types.int64))
def _sift_down(key: Floats, posted: Floats, application: Ints, rows: Ints, hole: int, size: int) -> None:
    row = rows[hole]
    child = 2 * hole + 1
    while child < size:
        if child + 1 < size and comes_first(key, posted, application, rows[child + 1], rows[child]):
            child += 1
        if not comes_first(key, posted, application, rows[child], row):
            break
        rows[hole] = rows[child]
        hole = child
        child = 2 * hole + 1
    rows[hole] = row


@kernel(types.int64(_F, SHOWN_FLOATS, SHOWN_INTS, _I, types.int64))
def _first(key: Floats, posted: Floats, application: Ints, rows: Ints, size: int) -> int:
    """Which of the first `size` places of `rows` comes first."""
    best = 0
    for place in range(1, size):
        if comes_first(key, posted, application, rows[place], rows[best]):
            best = place
    return best


@kernel(types.void(_F, SHOWN_FLOATS, SHOWN_INTS, _I, types.int64, SHOWN_FLOATS, types.float64, _F))
def _pour(
    key: Floats,
    posted: Floats,
    application: Ints,
    rows: Ints,
    size: int,
    limit: Floats,
    left: float,
    rates: Floats,
) -> None:
    """Give rows what they can use in order, by a heap: only those who get something need an order."""
    for hole in range(size // 2 - 1, -1, -1):
        _sift_down(key, posted, application, rows, hole, size)
    while size > 0 and left > 0.0:
        row = rows[0]
        rates[row] = min(limit[row], left)
        left -= rates[row]
        size -= 1
        rows[0] = rows[size]
        _sift_down(key, posted, application, rows, 0, size)


@kernel(types.void(_F, SHOWN_FLOATS, SHOWN_INTS, _I))
def _heap_sort(key: Floats, posted: Floats, application: Ints, rows: Ints) -> None:
    for hole in range(rows.size // 2 - 1, -1, -1):
        _sift_down(key, posted, application, rows, hole, rows.size)
    for last in range(rows.size - 1, 0, -1):
        rows[0], rows[last] = rows[last], rows[0]
        _sift_down(key, posted, application, rows, 0, last)
    # The first went to the end, the second before it, and so on.
    for place in range(rows.size // 2):
        other = rows.size - 1 - place
        rows[place], rows[other] = rows[other], rows[place]


@inlined
def sort_rows(view: View) -> None:
    """Put all rows into `view.rows`, lowest `view.key` first."""
    rows, key = view.rows, view.key
    for row in range(rows.size):
        key[row] = coarse(key[row])
        rows[row] = row
    if rows.size > _SHORT:
        _heap_sort(key, view.posted, view.application, rows)
        return
    for row in range(1, rows.size):
        slot = row
        while slot > 0 and comes_first(key, view.posted, view.application, row, rows[slot - 1]):
            rows[slot] = rows[slot - 1]
            slot -= 1
        rows[slot] = row


@inlined
def fill_rows(view: View, size: int, capacity: float, rates: Floats) -> None:
    """Give the first `size` of `view.rows` what they can use, lowest `view.key` first, until `capacity` is gone."""
    rows = view.rows
    # One look finds the first, and often the first takes it all.
    place = _first(view.key, view.posted, view.application, rows, size)
    row = rows[place]
    rows[place] = rows[size - 1]
    rates[row] = min(view.limit[row], capacity)
    if rates[row] < capacity:
        _pour(view.key, view.posted, view.application, rows, size - 1, view.limit, capacity - rates[row], rates)


@inlined
def fill(view: View, rates: Floats) -> None:
    """Give every application in turn what it can use, lowest `view.key` first, until the capacity is gone.

    It starts from the whole capacity and writes over what `rates` held.
    """
    for row in range(rates.size):
        view.key[row] = coarse(view.key[row])
        view.rows[row] = row
    fill_rows(view, rates.size, view.capacity, rates)


def rounded(keys: Floats | Ints) -> Floats:
    """The keys as policies compare them: what differs by rounding noise only is the same."""
    values = np.asarray(keys, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = values * _SPLIT
        return np.where(np.abs(values) < _HUGE, scaled - (scaled - values), values)


def ranked(*keys: Floats | Ints) -> Ints:
    """Applications by rising first key, then the next one; keys within rounding noise tie, ties in scenario order."""
    return np.lexsort([rounded(column) for column in reversed(keys)])


def ranks(order: Ints) -> Floats:
    """For each application, its place in `order`."""
    places = np.empty(order.size)
    places[order] = np.arange(order.size)
    return places
