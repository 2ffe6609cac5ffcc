"""Sizing a buffer for reads and writes together, or under one joint limit: the linear programs of P5 §6, kept small.

What an application holds at an event is output that is not drained yet and input that is there ahead of its time: the
columns. Where reads and writes have limits of their own, someone who drains whenever he can holds no more than the
sweep says in all; where that is nothing, there are no columns.

With a bandwidth of its own, the buffer is also a *port*: in an interval, what an application writes and what is sent of
it pass straight as far as they are equal, and the difference, by which what is held changes, goes in or out. So the sum
of all changes, up or down, is limited. Somebody may then be unable to drain when the file system has room, so that all
columns are there. Who does not write only drains, and who does not read only fetches: only where bytes of an
application move does the size of a change need a column of its own. One owner for all is still enough: let those who
write pass straight first, in proportion, and everybody's change has the same sign as that of the whole; for input the
same holds in reversed time.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats, Ints
from penstock.studies.sizing.solvers import interior, simplex
from penstock.studies.sizing.sweep import swept
from penstock.studies.sizing.traffic import Traffic

_NONE = -1
_LARGE = 4000  # columns
WRITES, READS = 0, 1


class Inequalities:
    """Inequalities `entries·x ≤ limit`, gathered term by term."""

    def __init__(self) -> None:
        self._terms: list[tuple[Ints, Ints, Floats]] = []
        self._limits: list[Floats] = []
        self.count = 0

    def begin(self, limit: Floats) -> Ints:
        """New rows with these limits; their numbers."""
        numbers = np.arange(self.count, self.count + limit.size)
        self.count += limit.size
        self._limits.append(limit)
        return numbers

    def put(self, row: Ints, column: Ints, entry: float | Floats) -> None:
        """Add a term to each of these rows; a column of -1 stands for nothing."""
        there = column != _NONE
        self._terms.append((row[there], column[there], np.broadcast_to(entry, row.shape)[there]))

    def matrix(self, columns: int) -> Any:
        """All rows as a sparse matrix."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - see solvers.py

        row, column, entry = (np.concatenate(part) for part in zip(*self._terms, strict=True))
        return csr_array((entry, (row, column)), shape=(self.count, columns))

    @property
    def limit(self) -> Floats:
        """The limits of all rows."""
        return np.concatenate(self._limits)


class LimitRows(NamedTuple):
    """Rows of one limit: which directions of the file system it holds for (none: the port), in which intervals."""

    ways: tuple[int, ...]
    interval: Ints
    row: Ints


class SolvedProgram(NamedTuple):
    """What a program found: the size, the shares if they are fixed, and what each owner holds at each event."""

    size: float
    shares: Floats
    output: Floats  # owners × events
    input: Floats  # owners × events
    prices: Floats  # of the rows: what one byte more of each limit would save, at the smallest size
    proved: float  # the size below which, by these prices, nothing will do


class LinearProgram:
    """The smallest size for which everyone meets C_min; `together`: everyone may use all of it, or has fixed shares."""

    def __init__(
        self, traffic: Traffic, together: bool, through_port: bool = False, everywhere: bool | None = None
    ) -> None:
        self.traffic, self.together = traffic, together
        # Where something may be held: at every event, or only where the file system alone leaves something behind.
        self.everywhere = traffic.joint_binds or (through_port if everywhere is None else everywhere)
        # Who may fetch only from its entry on counts for itself.
        self.aggregated = together and math.isinf(traffic.lead)
        self.owners = 1 if self.aggregated else len(traffic.names)
        self.amount = self._amounts()
        self.column, held = self._columns()
        self.share = np.full(self.owners, _NONE) if together else np.arange(held, held + self.owners)
        self.size = held + (0 if together else self.owners)
        self.rows = Inequalities()
        self.limited: list[LimitRows] = []
        self._flow_rows()
        if through_port:
            self._port_rows()
        self._size_rows()

    def _amounts(self) -> Floats:
        """Owners × directions × intervals: what is moved at full cap."""
        pieces = self.traffic.pieces()
        amount = np.zeros((self.owners, 2, self.traffic.count))
        owner = np.zeros_like(pieces.owner) if self.aggregated else pieces.owner
        np.add.at(amount, (owner, pieces.reading.astype(np.int64), pieces.interval), pieces.amount)
        return amount

    def _columns(self) -> tuple[Ints, int]:
        """Owners × directions × events: the column of what is held then; and how many there are."""
        traffic = self.traffic
        held = np.ones((2, traffic.events.size), dtype=bool)
        if not self.everywhere:
            demand = traffic.demand(False), traffic.demand(True)
            least = swept(*demand, traffic.seconds, traffic.limits.write, traffic.limits.read)
            held = np.array([least.backlog > 0.0, least.prefetched > 0.0])
        held[WRITES, 0] = held[READS, -1] = False
        # Nobody holds output but what it has written since nothing was held at all, nor input but what it reads until
        # then; whoever has no part in a busy period has no columns there.
        moved = np.concatenate([np.zeros((self.owners, 2, 1)), np.cumsum(self.amount, axis=2)], axis=2)
        event = np.arange(traffic.events.size)
        since = np.maximum.accumulate(np.where(held[WRITES], 0, event))
        until = np.minimum.accumulate(np.where(held[READS], event[-1], event)[::-1])[::-1]
        there = np.broadcast_to(held, (self.owners, *held.shape)).copy()
        there[:, WRITES] &= moved[:, WRITES] > moved[:, WRITES, since]
        there[:, READS] &= moved[:, READS, until] * (1.0 - 1e-15) > moved[:, READS]
        if not self.aggregated:
            there[:, READS] &= np.arange(traffic.events.size) > traffic.entry[:, None]
        column = np.full(there.shape, _NONE)
        column[there] = np.arange(np.count_nonzero(there))
        return column, int(np.count_nonzero(there))

    def _flow_rows(self) -> None:
        """Nothing flows back, and no limit of the file system is exceeded."""
        before, after = self.column[:, :, :-1], self.column[:, :, 1:]
        involved = (before != _NONE) | (after != _NONE)
        limits, seconds = self.traffic.limits, self.traffic.seconds
        for way, sign in ((WRITES, 1.0), (READS, -1.0)):
            # To the file system goes what was held before and what is added, less what is held after; reads: reversed.
            owner, interval = np.nonzero(involved[:, way])
            rows = self.rows.begin(self.amount[owner, way, interval])
            self.rows.put(rows, before[owner, way, interval], -sign)
            self.rows.put(rows, after[owner, way, interval], sign)
        demand = self.amount.sum(axis=0)
        self._limit_rows((WRITES,), limits.write * seconds - demand[WRITES])
        self._limit_rows((READS,), limits.read * seconds - demand[READS])
        if self.traffic.joint_binds:
            self._limit_rows((WRITES, READS), limits.joint * seconds - demand.sum(axis=0))

    def _limit_rows(self, ways: tuple[int, ...], left: Floats) -> None:
        before, after = self.column[:, :, :-1], self.column[:, :, 1:]
        involved = ((before != _NONE) | (after != _NONE))[:, ways].any(axis=(0, 1))
        needed = np.isfinite(left) & involved
        row = np.full(left.size, _NONE)
        row[needed] = self.rows.begin(left[needed])
        self.limited.append(LimitRows(ways, np.flatnonzero(needed), row[needed]))
        for way in ways:
            sign = 1.0 if way == WRITES else -1.0
            owner, interval = np.nonzero(np.broadcast_to(needed, before[:, way].shape))
            self.rows.put(row[interval], before[owner, way, interval], sign)
            self.rows.put(row[interval], after[owner, way, interval], -sign)

    def _port_rows(self) -> None:
        """What is held changes by no more than the port lets through, up and down together."""
        limit = self.traffic.limits.port * self.traffic.seconds
        row = self.rows.begin(limit)
        self.limited.append(LimitRows((), np.arange(limit.size), row))
        for way, sign in ((WRITES, 1.0), (READS, -1.0)):
            before, after = self.column[:, way, :-1], self.column[:, way, 1:]
            held, moves = (before != _NONE) | (after != _NONE), self.amount[:, way] > 0.0
            # Output that nobody writes only falls, input that nobody reads only rises.
            owner, interval = np.nonzero(held & ~moves)
            self.rows.put(row[interval], before[owner, interval], sign)
            self.rows.put(row[interval], after[owner, interval], -sign)
            owner, interval = np.nonzero(held & moves)
            change = np.arange(self.size, self.size + owner.size)
            self.size += owner.size
            self.rows.put(row[interval], change, 1.0)
            for up in (1.0, -1.0):
                rows = self.rows.begin(np.zeros(owner.size))
                self.rows.put(rows, after[owner, interval], up)
                self.rows.put(rows, before[owner, interval], -up)
                self.rows.put(rows, change, -1.0)

    def _size_rows(self) -> None:
        """What is held fits into the shares, and the shares, or what those hold that do not run, into the whole."""
        traffic, size = self.traffic, self.size
        interval = np.arange(traffic.count)
        running = np.zeros((self.owners, traffic.count), dtype=bool)
        if not self.together:
            running = (traffic.begin[:, None] <= interval) & (interval < traffic.end[:, None])
        for end in (0, 1):
            held = self.column[:, :, end : end + traffic.count]
            owner, there = np.nonzero(running & (held != _NONE).any(axis=1))
            rows = self.rows.begin(np.zeros(owner.size))
            self.rows.put(rows, held[owner, WRITES, there], 1.0)
            self.rows.put(rows, held[owner, READS, there], 1.0)
            self.rows.put(rows, self.share[owner], -1.0)
            rows = self.rows.begin(np.zeros(traffic.count))
            self.rows.put(rows, np.full(traffic.count, size), -1.0)
            for way in (WRITES, READS):
                owner, there = np.nonzero(~running & (held[:, way] != _NONE))
                self.rows.put(rows[there], held[owner, way, there], 1.0)
            owner, there = np.nonzero(running)
            self.rows.put(rows[there], self.share[owner], 1.0)

    def solve(self) -> SolvedProgram:
        """The smallest size, and a way to hold what has to be held."""
        unit = float(self.amount.max(initial=0.0)) or 1.0
        rows, limit = self.rows.matrix(self.size + 1), self.rows.limit
        cost = np.zeros(self.size + 1)
        cost[self.size] = 1.0
        found = (interior if self.is_large else simplex)(cost, rows, limit / unit)
        # Any prices ≥ 0 prove a size, whoever found them: nobody needs to hold more than a size that is enough.
        missing = np.minimum(0.0, cost + rows.T @ found.prices).sum() * float(found.x[self.size]) * unit
        return self.read(found.x * unit, found.prices, float(missing - limit @ found.prices))

    @property
    def is_large(self) -> bool:
        """Whether the simplex method would take too long."""
        return not self.together and self.size > _LARGE

    def read(self, x: Floats, prices: Floats, proved: float) -> SolvedProgram:
        """What a solution says."""
        values = np.append(x, 0.0)  # a column of -1 holds nothing
        held = values[self.column]
        return SolvedProgram(float(x[self.size]), values[self.share], held[:, WRITES], held[:, READS], prices, proved)
