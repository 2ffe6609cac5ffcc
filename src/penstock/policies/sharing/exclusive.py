"""One operation at a time, at its full rate, never interrupted: the ground that the orders of P2 and P3 stand on.

Some lists go by one number per operation, such as how long it takes. Their memory holds all these numbers, one
application after the other; before them, for each application, the place of the number of its next operation.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import inlined
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.order import coarse, ranked, rounded
from penstock.policies.sharing.view import View


@inlined
def goes_on(view: View, rates: Floats) -> bool:
    """Let whoever is being served go on; whether there is one.

    If there are several, because another policy decided before, only the first of the scenario does.
    """
    serving = -1
    for row in range(rates.size):
        if view.rate[row] > 0.0 and (serving < 0 or view.application[row] < view.application[serving]):
            serving = row
    if serving >= 0:
        rates[serving] = view.limit[serving]
    return serving >= 0


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


def johnson(foresight: Foresight) -> Ints:
    """Johnson's order on the mean iteration (P2, definition 9).

    Those that compute no longer than they transfer come first, the shortest compute leading; then the others, the
    longest transfer leading.
    """
    work, seconds = foresight.mean_work, foresight.mean_seconds
    slow = rounded(work) > rounded(seconds)
    return ranked(slow.astype(np.int64), np.where(slow, -seconds, work))
