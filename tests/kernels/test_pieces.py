"""Helpers that are compiled as pieces of kernels."""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined, inner, kernel


@inlined
def capped(values: Floats, place: int) -> float:
    """A piece of a piece."""
    return min(float(values[place]), 2.0)


@inner
def in_all(values: Floats, count: int) -> float:
    """A piece that calls another one."""
    found = 0.0
    for place in range(count):
        found += capped(values, place)
    return found


@kernel(types.float64(types.float64[::1]))
def twice(values: Floats) -> float:
    """Both, in one kernel."""
    return in_all(values, values.size) + capped(values, 1)


def test_kernels_call_pieces_and_so_does_python() -> None:
    values = np.arange(5.0)
    assert twice(values) == 8.0
    # Compiled with these types by now, yet there is no machine code of its own: Python runs the Python function.
    assert in_all(values, 3) == 3.0
    assert capped(place=4, values=values) == 2.0
