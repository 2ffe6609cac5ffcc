"""What allocation policies are told: the applications in sums, and how fast each is on how many targets (P4 §2).

An application has one *option* for every number of targets that it may use. On n targets it transfers for
T_cf = V/b(n) seconds when nobody is in its way, and occupies n targets for that share of its time:

    stress(n) = n·T_cf(n) / (T_cpu + T_cf(n)),   load = Σ stress / N

With jobs that come and go the sum is over those that run at a time, and the load is the highest of all times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.kernels.arrays import Floats, Ints
from penstock.policies.allocation.presence import Presence, presence
from penstock.policies.sharing.order import rounded


@dataclass(frozen=True)
class Demand:
    """`m` applications and their `k` options; application i has options `first[i] : first[i + 1]`, by rising count."""

    names: tuple[str, ...]
    machine: float  # Q, compute nodes of the platform
    nodes: Floats  # m: Q_i
    start: Floats  # m: s_i, when it starts; counts from the first start
    compute: Floats  # m: T_cpu, seconds of compute in all
    volume: Floats  # m: V, bytes in all
    first: Ints  # m + 1: where an application's options start
    count: Ints  # k: n, the number of targets
    bandwidth: Floats  # k: b(n), bytes/s
    limit: Floats  # N: the most a target can move, bytes/s; infinity if nothing is known

    @property
    def targets(self) -> int:
        """N, how many targets there are."""
        return self.limit.size

    @cached_property
    def owner(self) -> Ints:
        """k: whose option it is."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.first))

    @cached_property
    def transfer(self) -> Floats:
        """k: T_cf(n), seconds of I/O when nobody is in the way."""
        seconds: Floats = self.volume[self.owner] / self.bandwidth
        return seconds

    @cached_property
    def io_share(self) -> Floats:
        """k: how much of its time it transfers when nobody is in the way."""
        transfer = self.transfer
        share: Floats = transfer / (self.compute[self.owner] + transfer)
        return share

    @cached_property
    def stress(self) -> Floats:
        """k: how many targets it keeps busy, on average."""
        stress: Floats = self.count * self.io_share
        return stress

    @cached_property
    def cpu_load(self) -> Floats:
        """k: how many compute nodes it keeps computing, on average."""
        owner = self.owner
        load: Floats = self.nodes[owner] * self.compute[owner] / (self.compute[owner] + self.transfer)
        return load

    @cached_property
    def fastest(self) -> Ints:
        """m: the option n_perf, the fewest targets with the highest bandwidth."""
        return self.best(-self.bandwidth)

    @cached_property
    def lightest(self) -> Ints:
        """m: the option n_sys, the fewest targets with the lowest stress."""
        return self.best(self.stress)

    @cached_property
    def presence(self) -> Presence:
        """Who runs with whom, everybody for as long as it takes alone on its n_perf targets."""
        return presence(self.start, self.compute + self.transfer[self.fastest])

    def best(self, key: Floats) -> Ints:
        """m: the option with the lowest key; equal within rounding noise: the fewest targets."""
        key = rounded(key)
        ends = zip(self.first[:-1], self.first[1:], strict=True)
        return np.array([begin + int(np.argmin(key[begin:end])) for begin, end in ends])

    def transfer_on(self, option: Ints | int, target: Ints) -> Floats:
        """T_cf as it is on one target: longer than elsewhere if the target is too slow for the application."""
        slower = np.maximum(1.0, self.bandwidth[option] / self.count[option] / self.limit[target])
        seconds: Floats = self.transfer[option] * slower
        return seconds

    def load(self, option: Ints) -> float:
        """How busy the targets are on average, when they are busiest; above 1 they cannot keep up."""
        stress = self.stress[option]
        busiest = stress.sum() if self.presence.together else self.presence.sums(stress).max()
        return float(busiest / self.targets)
