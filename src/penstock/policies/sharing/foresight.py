"""What a policy that plans ahead is told before the run: the jobs as they were described, without the noise of reality.

A View has no future. The orders of P2 and P3 need some of it (how much work a job still has, how long its operations
take), so such a policy says so by a `prepare` step; it gets a Foresight and returns what it wants to remember. All
durations are nominal: the run itself may differ from them, which is how robustness to wrong estimates is studied.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats, Ints


def picked(first: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Where the operations of some applications start when only these are kept, and which ones they are."""
    counts = np.diff(first)[rows]
    starts = np.concatenate([[0], np.cumsum(counts)])
    return starts, np.arange(starts[-1]) + np.repeat(first[rows] - starts[:-1], counts)


class Foresight(NamedTuple):
    """`m` applications and the `k` operations that they can reach; application i has `first[i] : first[i + 1]` of them.

    Inside a window more operations may be listed than can be reached: `operations` and `rest` count them all.
    """

    names: tuple[str, ...]
    start: Floats  # m: when its first phase starts; infinity: not known yet
    first: Ints  # m + 1: where an application's operations start
    work: Floats  # k: compute seconds right before the operation
    seconds: Floats  # k: the operation alone
    rest: Floats  # m: seconds alone of all that follows these operations; infinity if endless
    operations: Floats  # m: how many it has in all; infinity if endless
    mean_work: Floats  # m: compute seconds per operation, on average (of an endless loop: of its body)
    mean_seconds: Floats  # m: I/O seconds per operation, likewise
    until: Floats | float = np.inf  # m: when its walltime cuts it off; infinity: never
    elsewhere: tuple[str, ...] = ()  # applications of the scenario that run on other I/O nodes
    everyone: Foresight | None = None  # of all applications, where these share one of several targets with each other

    def pick(self, chosen: Sequence[int] | Ints) -> Foresight:
        """The same with these applications only, in this order."""
        rows = np.asarray(chosen, dtype=np.int64)
        first, operations = picked(self.first, rows)
        others = np.ones(len(self.names), dtype=bool)
        others[rows] = False
        return Foresight(
            names=tuple(self.names[i] for i in rows),
            first=first,
            work=self.work[operations],
            seconds=self.seconds[operations],
            start=self.start[rows],
            rest=self.rest[rows],
            operations=self.operations[rows],
            mean_work=self.mean_work[rows],
            mean_seconds=self.mean_seconds[rows],
            until=self.untils()[rows],
            elsewhere=tuple(compress(self.names, others)),
        )

    def untils(self) -> Floats:
        """`until` for each application."""
        return np.broadcast_to(self.until, len(self.names))

    def left(self) -> Floats:
        """For each operation, the seconds alone from its posting to the end of the application."""
        counts, both = np.diff(self.first), self.work + self.seconds
        left: Floats = both - self.work + np.repeat(self.rest, counts)
        # So it is of an application's only operation: a live controller knows one of each, and a thousand of them.
        for i in np.flatnonzero(counts > 1):
            own = slice(self.first[i], self.first[i + 1])
            left[own] = np.cumsum(both[own][::-1])[::-1] - self.work[own] + self.rest[i]
        return left

    def alone(self) -> Floats:
        """For each application, the seconds that it takes alone."""
        counts, both = np.diff(self.first), self.work + self.seconds
        own = np.zeros(counts.size)
        own[counts == 1] = both[self.first[:-1][counts == 1]]
        for i in np.flatnonzero(counts > 1):
            own[i] = both[self.first[i] : self.first[i + 1]].sum()
        return own + self.rest

    def known_starts(self, policy: str) -> Floats:
        """`start`, for a policy that cannot do without."""
        if not np.isfinite(self.start).all():
            raise PolicyError(
                f"sharing policy {policy!r} fixes its order before the run, but when each application starts is "
                "decided during it; choose a list policy, or one that shares"
            )
        return self.start
