"""Who is there with whom, as allocation policies plan: each from its start, for as long as it takes alone (models §8).

A sum over those who run grows only when somebody starts, so its highest value is found at an instant of starts, and an
interval is known by the instants of starts that lie in it. Instants within 1e-9 are one; who ends at one has left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.compile import kernel

_F = types.float64[::1]
_I = types.int64[::1]


class Presence(NamedTuple):
    """The instants at which applications start are numbered; application i runs at `begin[i] : end[i]` of them."""

    begin: Ints
    end: Ints
    instants: int

    @property
    def together(self) -> bool:
        """Whether all start at once: the closed world of P4."""
        return self.instants == 1

    def sums(self, values: Floats) -> Floats:
        """For each instant, the values of those who run then added up, in the order of the scenario."""
        sums = np.zeros(self.instants)
        _add_up(self.begin, self.end, values, sums)
        return sums


def presence(start: Floats, seconds: Floats) -> Presence:
    """Who runs when, by starts and lengths; `start` counts from the first of them."""
    times = np.sort(start)
    times = times[np.concatenate([[True], np.diff(times) > SAME * times[1:]])]
    begin = np.searchsorted(times, start * (1.0 + SAME), side="right") - 1
    end = np.searchsorted(times, (start + seconds) * (1.0 - SAME), side="left")
    return Presence(begin, np.maximum(begin + 1, end), times.size)


@kernel(types.void(_I, _I, _F, _F))
def _add_up(begin: Ints, end: Ints, values: Floats, sums: Floats) -> None:
    for i in range(values.size):
        for instant in range(begin[i], end[i]):
            sums[instant] += values[i]
