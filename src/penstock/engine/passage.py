"""Where the bytes of a whole machine were: what crossed every resource, in equal steps of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.kernels.arrays import Floats, FloatTable


@dataclass(frozen=True)
class Passage:
    """Means over steps of equal length; one row per resource, in the order in which bytes pass them."""

    begin: float
    end: float
    names: tuple[str, ...]  # of resources: `io_node:0`, `buffer`, `OST0003`, `file_system:write`
    kinds: tuple[str, ...]  # io_node, buffer, target or link
    use: FloatTable  # share of what each has to give, 0 to 1
    rate: FloatTable  # bytes/s that crossed it
    moved: Floats  # bytes/s that applications themselves wrote or read
    held: Floats  # bytes in the buffer
    room: float  # bytes that the buffer holds at most; 0 without one

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return self.moved.size

    @property
    def edges(self) -> Floats:
        """When the steps begin, and when the last one ends."""
        return np.linspace(self.begin, self.end, self.steps + 1)

    def of_kind(self, kind: str) -> Floats:
        """Bytes/s that crossed all resources of a kind, together."""
        rows = [row for row, own in enumerate(self.kinds) if own == kind]
        summed: Floats = self.rate[rows].sum(axis=0)
        return summed

    def bottlenecks(self, seconds: float, least: float) -> list[tuple[float, float, str, float]]:
        """For every stretch of so many seconds: its ends, the resource most in use, and its use; "" below `least`."""
        edges, found = self.edges, []
        start = self.begin
        while start < self.end * (1.0 - 1e-12):
            stop = min(start + seconds, self.end)
            # A step belongs to the stretch in which its middle lies.
            middle = (edges[:-1] + edges[1:]) / 2.0
            within = (middle >= start) & (middle < stop)
            use = self.use[:, within].mean(axis=1) if within.any() and self.names else np.zeros(1)
            most = int(np.argmax(use))
            found.append((start, stop, self.names[most] if self.names and use[most] >= least else "", float(use[most])))
            start = stop
        return found
