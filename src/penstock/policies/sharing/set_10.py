"""SET-10: one set per order of magnitude of the iteration length; sets share by priority, FCFS inside a set (P1 §4.2).

Set n holds the applications whose mean iteration ω has log10(ω) nearest to n and has priority 10^-n. Sets divide the
bandwidth in proportion to their priorities, none taking more than its members can use; what one cannot use goes to
the others. Applications without a completed iteration are one set with the priority of the best set active now.
"""

import math

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.sharing.order import fill_rows
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View

# The newcomers' number: after all others, whatever the unit of time.
_NEWCOMERS = 1e6
_NONE = 1e7


@inlined
def _name_sets(view: View) -> float:
    """Write each row's set into `view.key`; return the number of the highest-priority one (0: newcomers only)."""
    top = _NEWCOMERS
    for row in range(view.key.size):
        omega = view.omega[row]
        view.key[row] = _NEWCOMERS
        if omega > 0.0:
            # A logarithm per iteration, not per decision.
            seen = 2 * view.application[row]
            if view.memory[seen] != omega:
                view.memory[seen] = omega
                view.memory[seen + 1] = math.floor(math.log10(omega) + 0.5)
            view.key[row] = view.memory[seen + 1]
        top = min(top, view.key[row])
    return 0.0 if top == _NEWCOMERS else top


@inlined
def _next_set(view: View, after: float) -> float:
    """The smallest set number above `after`."""
    found = _NONE
    for key in view.key:
        if after < key < found:
            found = key
    return found


@inlined
def _usable(view: View, number: float) -> float:
    """What the members of a set can use together."""
    total = 0.0
    for row in range(view.key.size):
        if view.key[row] == number:
            total += view.limit[row]
    return total


@inlined
def _weight(number: float, top: float) -> float:
    # Relative to the best set: only ratios count, and 10^-n alone may underflow.
    return 1.0 if number in (_NEWCOMERS, top) else 10.0 ** (top - number)


@inlined
def _water_level(view: View, top: float) -> float:
    """The level at which Σ min(usable, weight · level) is the capacity."""
    level, before = 0.0, -1.0
    while level > before:
        before = level
        left, weight = view.capacity, 0.0
        number = _next_set(view, -_NONE)
        while number < _NONE:
            usable = _usable(view, number)
            if usable <= _weight(number, top) * level:
                left -= usable
            else:
                weight += _weight(number, top)
            number = _next_set(view, number)
        # Never lower: a set whose weight is lost beside the others' must not drown them.
        level = max(before, left / weight) if weight > 0.0 else before
    return level


@inlined
def fill_sets(view: View, top: float, rates: Floats) -> None:
    """Give every set its part, the highest being `top`; first come, first served inside a set."""
    level = _water_level(view, top)
    number = _next_set(view, -_NONE)
    while number < _NONE:
        size = 0
        for row in range(rates.size):
            if view.key[row] == number:
                view.rows[size] = row
                size += 1
        # Equal keys: `fill_rows` goes by posting time.
        fill_rows(view, size, _weight(number, top) * level, rates)
        number = _next_set(view, number)


@sharing("set-10", source="P1 §4.2", memory=2)
def set_10(view: View, rates: Floats) -> None:
    """Sets by magnitude of the iteration length share by priority 10^-n; first come, first served inside a set."""
    fill_sets(view, _name_sets(view), rates)
