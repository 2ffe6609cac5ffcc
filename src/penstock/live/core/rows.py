"""The controller's active applications side by side, in the columns of a View: idle ones cost a decision nothing.

Between two decisions everyone moves at its rate, by the same sums as in the simulator: what it moved is taken from what
remains, and what that is at full rate is progress. A row that ends is replaced by the last one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.arrays import Floats, Ints
from penstock.live.core.members import App, RouteRow
from penstock.live.core.resources import Key, Route

_FLOATS = (
    "nodes",
    "limit",
    "remaining",
    "posted",
    "release",
    "progress",
    "omega",
    "rate",
    "settled",  # until when it has been moved
    "wanted",  # what it is to have by the last decision that counted for it
    "waits",  # since when its rate has been 0; NaN if it is not
    "usable",  # the most that it was seen to use, with something on top; infinity: all that it gets
    "confidence",  # that what remains is right, by the least sure of its members
)
_AT_FIRST = 16


class ActiveRows:
    """`count` rows in arrays with room for more. Row i of `rows` says whose the i-th numbers are."""

    columns = ("application", "floored", *_FLOATS)
    exact: Floats  # what the policy wants it to have, a little more or less, or NaN before it was asked; not recorded
    nodes: Floats
    limit: Floats
    remaining: Floats
    posted: Floats
    release: Floats
    progress: Floats
    omega: Floats
    rate: Floats
    settled: Floats
    wanted: Floats
    waits: Floats
    usable: Floats
    confidence: Floats

    def __init__(self, resources: int) -> None:
        self.rows: list[RouteRow] = []
        self.by_key: dict[tuple[int, Key], RouteRow] = {}
        self.application: Ints = np.zeros(_AT_FIRST, np.int64)
        self.floored: NDArray[np.bool_] = np.zeros(_AT_FIRST, np.bool_)
        self.share: Floats = np.zeros((resources, _AT_FIRST))
        for name in (*_FLOATS, "exact"):
            setattr(self, name, np.zeros(_AT_FIRST))

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rows)

    def add(self, app: App, route: Route, now: float) -> RouteRow:
        """A new row at rate 0, with nothing to move yet."""
        index = len(self.rows)
        if index == self.application.size:
            self._grow()
        row = RouteRow(app, route, index)
        self.rows.append(row)
        self.by_key[row.key] = row
        self.application[index] = app.place
        self.floored[index] = False
        self.share[:, index] = 0.0
        for k, share in route.shares:
            self.share[k, index] = share
        self.limit[index] = self.remaining[index] = self.rate[index] = self.wanted[index] = 0.0
        self.exact[index] = np.nan
        self.usable[index] = np.inf
        self.confidence[index] = 1.0
        self.nodes[index] = app.nodes
        self.posted[index] = app.posted
        self.release[index] = app.release
        self.omega[index] = app.omega
        self.settled[index] = self.waits[index] = now
        return row

    def drop(self, row: RouteRow) -> None:
        """Remove a row: the last one takes its place."""
        last = self.rows.pop()
        del self.by_key[row.key]
        if last is not row:
            self.rows[row.index] = last
            for name in (*self.columns, "exact"):
                column = getattr(self, name)
                column[row.index] = column[last.index]
            self.share[:, row.index] = self.share[:, last.index]
            last.index = row.index

    def copy(self) -> ActiveRows:
        """The same rows, whose numbers go their own way."""
        made = ActiveRows(len(self.share))
        made.rows = [replace(row) for row in self.rows]
        made.by_key = {row.key: row for row in made.rows}
        made.share = self.share.copy()
        for name in (*self.columns, "exact"):
            setattr(made, name, getattr(self, name).copy())
        return made

    @property
    def able(self) -> Floats:
        """What each can use: what its members and resources allow, and no more than it is seen to need."""
        return np.minimum(self.limit[: self.count], self.usable[: self.count])

    @property
    def held_back(self) -> bool:
        """Whether anybody is seen to use less than it could."""
        return bool((self.usable[: self.count] < self.limit[: self.count]).any())

    def settle(self, row: RouteRow, now: float) -> None:
        """Move one row up to now."""
        i = row.index
        if self.settled[i] == now:  # as at every member of an application but the first that is told something
            return
        moved = min(self.rate[i] * (now - self.settled[i]), max(0.0, self.remaining[i]))
        self.remaining[i] -= moved
        self.progress[i] += moved / self.limit[i]
        self.settled[i] = now

    def settled_to(self, now: float) -> tuple[Floats, Floats]:
        """What would remain of each, and its progress, if all were moved up to now."""
        active = slice(0, self.count)
        left = self.remaining[active]
        moved = np.minimum(self.rate[active] * (now - self.settled[active]), np.maximum(left, 0.0))
        return left - moved, self.progress[active] + moved / self.limit[active]

    def settled_row(self, index: int, now: float) -> tuple[float, float]:
        """The same of one row."""
        left = float(self.remaining[index])
        moved = min(float(self.rate[index]) * (now - float(self.settled[index])), max(left, 0.0))
        return left - moved, float(self.progress[index]) + moved / float(self.limit[index])

    def settle_all(self, now: float) -> None:
        """Move every row up to now."""
        active = slice(0, self.count)
        self.remaining[active], self.progress[active] = self.settled_to(now)
        self.settled[active] = now

    def set_rate(self, row: RouteRow, rate: float, now: float) -> None:
        """The rate of one from now on."""
        self.settle(row, now)
        self.rate[row.index] = rate
        if rate > 0.0:
            self.waits[row.index] = np.nan
        elif np.isnan(self.waits[row.index]):
            self.waits[row.index] = now

    def _grow(self) -> None:
        for name in (*self.columns, "exact"):
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.zeros_like(column)]))
        self.share = np.concatenate([self.share, np.zeros_like(self.share)], axis=1)
