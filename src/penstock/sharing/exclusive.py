"""One operation at a time, at its full rate, never interrupted: the ground that the orders of P2 and P3 stand on.

What an order remembers is in `view.memory`. A list that goes by what was announced of each operation holds, for
application i, the place of its next operation's number at i, and the numbers after them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from penstock.kernels import inlined
from penstock.sharing.foresight import Foresight
from penstock.sharing.order import coarse
from penstock.sharing.view import Floats, Ints, View

_coarse = coarse.py_func  # type: ignore[attr-defined]


@inlined
def goes_on(view: View, rates: Floats) -> bool:
    """Let whoever is being served go on; whether there is one."""
    serving = False
    for row in range(rates.size):
        if view.rate[row] > 0.0:
            rates[row] = view.limit[row]
            serving = True
    return serving


@inlined
def start_first(view: View, rates: Floats) -> int:
    """Start the operation with the lowest `view.key`, ties in scenario order; return its row."""
    first = 0
    for row in range(rates.size):
        key = coarse(view.key[row])
        view.key[row] = key
        best = view.key[first]
        if key < best or (key == best and view.application[row] < view.application[first]):
            first = row
    rates[first] = view.limit[first]
    return first


@inlined
def start_application(view: View, application: float, rates: Floats) -> bool:
    """Start the operation of one application, if it has posted one; whether it has."""
    found = False
    for row in range(rates.size):
        if view.application[row] == application:
            rates[row] = view.limit[row]
            found = True
    return found


def time_left(foresight: Foresight, settings: Mapping[str, float]) -> Floats:
    """The memory of a list that goes by the dedicated time from an operation's posting to its application's end."""
    return _per_operation(foresight, foresight.left())


def io_time(foresight: Foresight, settings: Mapping[str, float]) -> Floats:
    """The memory of a list that goes by how long an operation takes alone."""
    return _per_operation(foresight, foresight.seconds)


def _per_operation(foresight: Foresight, numbers: Floats) -> Floats:
    places = foresight.first[:-1] + len(foresight.names)
    return np.concatenate([places, numbers])


@inlined
def announced(view: View, row: int) -> float:
    """The number of the operation that waits in `row`."""
    return view.memory[int(view.memory[view.application[row]])]  # type: ignore[no-any-return]


@inlined
def pass_on(view: View, row: int) -> None:
    """The operation in `row` starts: the next one of its application is the next to be looked at."""
    view.memory[view.application[row]] += 1.0


def ranked(*keys: Floats | Ints) -> Ints:
    """Applications by rising first key, then the next one; keys within rounding noise tie, ties in scenario order."""
    columns = [np.array([_coarse(key) for key in column]) for column in keys]
    return np.lexsort(columns[::-1])


def ranks(order: Ints) -> Floats:
    """For each application, its place in `order`."""
    places = np.empty(order.size)
    places[order] = np.arange(order.size)
    return places


def johnson(foresight: Foresight) -> Ints:
    """Johnson's order on the mean iteration (P2, definition 9).

    Those that compute no longer than they transfer come first, the shortest compute leading; then the others, the
    longest transfer leading.
    """
    work, seconds = foresight.mean_work, foresight.mean_seconds
    quick = np.array([_coarse(a) <= _coarse(b) for a, b in zip(work, seconds, strict=True)])
    return ranked(~quick, np.where(quick, work, -seconds))
