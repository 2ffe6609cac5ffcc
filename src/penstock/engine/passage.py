"""Where the bytes of a whole machine were as the loop ran: what crossed every resource, in equal steps of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats, FloatTable

_ALIKE = 1.0 - 1e-3  # of the use of the busiest: what nobody could tell from it
_MOST_SPANS = 2


class Bottleneck(NamedTuple):
    """What was most in use in a stretch of time: one resource, or several of a kind that were so alike."""

    start: float
    stop: float
    name: str  # "" if nothing was in use enough
    use: float
    kind: str


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

    def bottlenecks(self, seconds: float, least: float) -> list[Bottleneck]:
        """For every stretch of so many seconds what is most in use, if that is at least `least`."""
        edges, found = self.edges, []
        start = self.begin
        while start < self.end * (1.0 - 1e-12):
            stop = min(start + seconds, self.end)
            # A step belongs to the stretch in which its middle lies.
            middle = (edges[:-1] + edges[1:]) / 2.0
            within = (middle >= start) & (middle < stop)
            use = self.use[:, within].mean(axis=1) if within.any() and self.names else np.zeros(1)
            most = int(np.argmax(use))
            if self.names and use[most] >= least:
                # Of a file that is striped all targets are in use alike: the first of them is no more to blame.
                near = np.flatnonzero(use >= use[most] * _ALIKE).tolist()
                alike = [row for row in near if self.kinds[row] == self.kinds[most]]
                found.append(Bottleneck(start, stop, self._called(alike), float(use[most]), self.kinds[most]))
            else:
                found.append(Bottleneck(start, stop, "", float(use[most]), ""))
            start = stop
        return found

    def _called(self, rows: Sequence[int]) -> str:
        """Neighbours by the first and the last of them; after two such spans, how many more there are."""
        spans: list[list[int]] = []
        for row in rows:
            if spans and spans[-1][-1] == row - 1:
                spans[-1].append(row)
            else:
                spans.append([row])
        named = [
            self.names[span[0]] if len(span) == 1 else f"{self.names[span[0]]}–{self.names[span[-1]]}" for span in spans
        ]
        more = sum(map(len, spans[_MOST_SPANS:]))
        return ", ".join(named[:_MOST_SPANS]) + (f" and {more} more" if more else "")
