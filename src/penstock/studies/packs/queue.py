"""The queue in a study of packs: who has come, who waits, who runs where. It is what a mapping policy is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.policies.mapping import MappingPolicy, View
from penstock.policies.mapping.policy import Starts
from penstock.studies.packs.batch import Batch

_COLUMNS = View._fields[View._fields.index("job") :]


class JobQueue:
    """Jobs as rows, in the order in which they come, those of one instant as in the scenario."""

    def __init__(self, batch: Batch, policy: MappingPolicy) -> None:
        self.policy, self.names, self.room = policy, batch.names, batch.machine.nodes
        arrival = _arrivals(batch.release)
        self.job = np.argsort(arrival, kind="stable")
        self.row = np.argsort(self.job)  # of each job
        self.arrival, self.processors = arrival[self.job], batch.processors[self.job]
        announced = (batch.release, batch.seconds, batch.io, batch.walltime)
        self.release, self.seconds, self.io, self.walltime = (each[self.job] for each in announced)
        self.node = np.full(self.job.size, -1)
        self.start, self.end = np.full((2, self.job.size), np.nan)
        self.free = np.full(batch.machine.count, self.room)
        self.memory: dict[str, Any] = {}
        self.known = 0
        firsts = np.flatnonzero(np.diff(self.arrival, prepend=-1))
        # Nobody starts too early: of one instant it is the last moment that counts.
        self._times = np.append(np.maximum.reduceat(self.release, firsts), np.inf)
        self._known_from = np.append(firsts, self.job.size)
        self._arrived = 0

    @property
    def next_release(self) -> float:
        """When the next jobs come; infinity if all are there."""
        return float(self._times[self._arrived])

    @property
    def waiting(self) -> int:
        """How many of those that have come wait."""
        return int((self.node[: self.known] < 0).sum())

    def let_in(self) -> None:
        """The next jobs are there."""
        self._arrived += 1
        self.known = int(self._known_from[self._arrived])

    def starts(self, nodes: Sequence[int] | Ints, now: float) -> Starts:
        """Ask who starts now on these I/O nodes, as pairs of job and I/O node, and note it down."""
        asked = np.asarray(nodes, dtype=np.int64)
        starts = self.policy.decide(self._view(asked, now), self.names)
        for row, node in starts:
            self.node[row], self.start[row] = node, now
            self.free[node] -= self.processors[row]
        return [(int(self.job[row]), node) for row, node in starts]

    def ended(self, jobs: Iterable[int], ends: Iterable[float]) -> None:
        """These jobs are over."""
        for job, end in zip(jobs, ends, strict=True):
            row = self.row[job]
            self.end[row] = end
            self.free[self.node[row]] += self.processors[row]

    def _view(self, asked: Ints, now: float) -> View:
        return View(
            now=now,
            room=self.room,
            free=_shown(self.free),
            open=_shown(asked),
            more=self.known < self.job.size,
            settings=self.policy.settings,
            memory=self.memory,
            **{name: _shown(getattr(self, name)[: self.known]) for name in _COLUMNS},
        )


def _shown(array: Any) -> Any:
    """The same numbers, not to be written."""
    seen = array.view()
    seen.flags.writeable = False
    return seen


def _arrivals(release: Floats) -> Ints:
    """The number of the instant at which each job comes; instants within 1e-9 of the first of them are one."""
    number, begin, count = np.empty(release.size, np.int64), -np.inf, -1
    for job in np.argsort(release, kind="stable"):
        if release[job] > begin * (1.0 + SAME):
            begin, count = release[job], count + 1
        number[job] = count
    return number
