"""Rows of sacct as columns, and steps folded into their jobs.

Folding again changes nothing, so a file is folded block by block while it is read: gigabytes of it are mostly steps,
and only its jobs stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from penstock.kernels.arrays import Bools, Floats, Ints
from penstock.traces.columns import Coded, arrow


class Rows(NamedTuple):
    """Columns of all rows; texts as codes. `part` is the place in a heterogeneous job, −1 in others."""

    base: Coded
    raw: Coded
    user: Coded
    name: Coded
    state: Coded
    step: Bools
    part: Ints
    start: Floats
    end: Floats
    elapsed: Floats
    nodes: Ints
    read: Floats
    written: Floats
    summed: Bools  # its bytes are those of its steps already

    @property
    def jobs(self) -> Ints:
        """Where jobs are: no steps, and of heterogeneous jobs the first part."""
        return np.flatnonzero(~self.step & (self.part <= 0))

    def only(self, places: Ints | slice) -> Rows:
        """Some of the rows."""
        return Rows._make(
            (column[0], column[1][places]) if isinstance(column, tuple) else column[places] for column in self
        )


def joined(parts: Sequence[Rows]) -> Rows:
    """All rows of several."""
    return parts[0] if len(parts) == 1 else Rows._make(_column(column) for column in zip(*parts, strict=True))


def folded(rows: Rows) -> Rows:
    """The jobs, with bytes and nodes of their steps and parts, and after each what belongs to none."""
    jobs = rows.jobs
    if not len(jobs):
        return rows
    owner = _owners(rows, jobs)
    other = np.flatnonzero(owner >= 0)
    into, steps = owner[other], rows.step[other]
    if not len(other):
        return rows
    nodes, read, written, summed = rows.nodes.copy(), rows.read.copy(), rows.written.copy(), rows.summed.copy()
    np.add.at(nodes, jobs[into[~steps]], rows.nodes[other[~steps]])
    read[jobs] = _sum(rows.read, jobs, other, into, steps, rows.summed)
    written[jobs] = _sum(rows.written, jobs, other, into, steps, rows.summed)
    summed[jobs[into[steps]]] = True
    new = rows._replace(nodes=nodes, read=read, written=written, summed=summed)
    return new.only(np.flatnonzero(owner < 0))


def _column(column: Sequence[Any]) -> Any:
    """The parts of a column as one; of texts each part has its own list of distinct ones."""
    if not isinstance(column[0], tuple):
        return np.concatenate(column)
    parts = [_used(*part) for part in column]
    whole = arrow().concat_arrays([distinct for distinct, _ in parts]).dictionary_encode()
    place = np.from_dlpack(whole.indices).astype(np.int64)
    before = np.cumsum([0, *(len(distinct) for distinct, _ in parts)])[:-1].tolist()
    return whole.dictionary, np.concatenate(
        [place[first + code] for first, (_, code) in zip(before, parts, strict=True)]
    )


def _used(distinct: Any, code: Ints) -> Coded:
    """Without texts that no row has."""
    kept, new = np.unique(code, return_inverse=True)
    return distinct.take(arrow().array(kept)), new


def _owners(rows: Rows, jobs: Ints) -> Ints:
    """For every row that is no job of its own, which of the jobs it belongs to; −1 for jobs and for strays.

    sacct prints steps below their job, so the last job above with the same id is meant, which also tells the runs of a
    requeued job apart.
    """
    ids = rows.base[1]
    owner = np.full(len(ids), -1, np.int64)
    last = np.maximum.accumulate(np.where(_marks(len(ids), jobs), np.arange(len(ids)), -1))
    position = np.full(len(ids), -1, np.int64)
    position[jobs] = np.arange(len(jobs))
    others = np.flatnonzero(~_marks(len(ids), jobs))
    above = last[others]
    near = (above >= 0) & (ids[np.maximum(above, 0)] == ids[others])
    owner[others[near]] = position[above[near]]
    by_id = np.full(int(ids.max()) + 1, -1, np.int64)
    by_id[ids[jobs]] = np.arange(len(jobs))
    owner[others[~near]] = by_id[ids[others[~near]]]
    return owner


def _marks(size: int, places: Ints) -> Bools:
    marked = np.zeros(size, bool)
    marked[places] = True
    return marked


def _sum(column: Floats, jobs: Ints, other: Ints, into: Ints, steps: Bools, summed: Bools) -> Floats:
    """The sum over steps and parts. What a job's own row says counts where it has no steps; NaN if nobody says."""
    known = ~np.isnan(column[other])
    total = np.bincount(into[known], column[other][known], len(jobs))
    some = np.bincount(into[known], minlength=len(jobs)) > 0
    by_steps = (np.bincount(into[known & steps], minlength=len(jobs)) > 0) & ~summed[jobs]
    own = np.where(by_steps | np.isnan(column[jobs]), 0.0, column[jobs])
    return np.where(some | ~np.isnan(column[jobs]), total + own, np.nan)
