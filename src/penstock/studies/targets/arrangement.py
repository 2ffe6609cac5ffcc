"""Who has how many targets in a study, and which: what policies arrive at, plans say, and a local search changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.compile import kernel
from penstock.policies.allocation.demand import Demand

_F = types.float64[::1]
_I = types.int64[::1]


class Arrangement(NamedTuple):
    """For each application its option, and, application after application, its targets in rising order."""

    option: Ints
    places: Ints

    def of_each(self, demand: Demand) -> list[Ints]:
        """The targets of each application."""
        return np.split(self.places, np.cumsum(demand.count[self.option])[:-1])


def shares_of_time(demand: Demand, arrangement: Arrangement) -> Floats:
    """For each place, the part of its time that the application keeps this target busy if nobody is in its way.

    On a slow target its transfer takes longer; the operation is over when the slowest is.
    """
    option = arrangement.option
    count = demand.count[option]
    owner = np.repeat(np.arange(option.size), count)
    transfer = demand.transfer_on(option[owner], arrangement.places)
    alone = np.maximum.reduceat(transfer, np.cumsum(count) - count)
    shares: Floats = transfer / (demand.compute + alone)[owner]
    return shares


def target_stress(demand: Demand, arrangement: Arrangement, during: int | None = None) -> Floats:
    """The stress that each target carries when it carries most; `during`: while this application runs."""
    runs = demand.presence
    owner = np.repeat(np.arange(arrangement.option.size), demand.count[arrangement.option])
    first, last = (0, runs.instants) if during is None else (runs.begin[during], runs.end[during])
    begin, end = np.maximum(runs.begin[owner], first), np.minimum(runs.end[owner], last)
    return most_carried(demand.targets, arrangement.places, shares_of_time(demand, arrangement), begin, end)


def most_carried(targets: int, places: Ints, shares: Floats, begin: Ints, end: Ints) -> Floats:
    """For each target the highest sum of the shares there, each of which counts at the instants `begin : end`."""
    order = np.argsort(places, kind="stable")
    row = np.searchsorted(places[order], np.arange(targets + 1))
    first = int(begin.min()) if begin.size else 0
    sums, most = np.zeros(int(end.max(initial=first)) - first), np.zeros(targets)
    _most(row, shares[order], begin[order] - first, end[order] - first, sums, most)
    return most


@kernel(types.void(_I, _F, _I, _I, _F, _F))
def _most(row: Ints, shares: Floats, begin: Ints, end: Ints, sums: Floats, most: Floats) -> None:
    for target in range(most.size):
        for k in range(row[target], row[target + 1]):
            for instant in range(begin[k], end[k]):
                sums[instant] += shares[k]
                most[target] = max(most[target], sums[instant])
        for k in range(row[target], row[target + 1]):
            for instant in range(begin[k], end[k]):
                sums[instant] = 0.0
