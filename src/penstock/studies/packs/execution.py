"""A study of packs runs: whenever jobs come or end, the mapping is asked which of those that wait start, and where."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from penstock.errors import PolicyError
from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.policies.mapping import MappingPolicy
from penstock.policies.sharing.order import rounded
from penstock.policies.sharing.policy import Sharing
from penstock.studies.packs.batch import Batch
from penstock.studies.packs.io_nodes import IoNodesAtWork, JobByJob, PackByPack
from penstock.studies.packs.queue import JobQueue

Progress = Callable[[int], None]  # how many jobs have ended


class PlacedJobs(NamedTuple):
    """For each job, its I/O node, its pack (-1: none), and when it ran; and the engine's time for it."""

    node: Ints
    pack: Ints
    start: Floats
    end: Floats
    seconds: float


def run_mapped(batch: Batch, mapping: MappingPolicy, policy: Sharing, report: Progress) -> PlacedJobs:
    """Let `mapping` start the jobs on the I/O nodes, whose bandwidth `policy` divides."""
    queue = JobQueue(batch, mapping)
    nodes = (PackByPack if mapping.packs else JobByJob)(batch, policy)
    _Run(queue, nodes, report).finish()
    columns = (column[queue.row] for column in (queue.node, queue.start, queue.end))
    node, start, end = columns
    pack = _packs(queue, start, node) if mapping.packs else np.full(node.size, -1)
    return PlacedJobs(node, pack, start, end, nodes.seconds)


class _Run:
    """One run under way: time goes from one instant at which a job ends or comes to the next."""

    def __init__(self, queue: JobQueue, nodes: IoNodesAtWork, report: Progress) -> None:
        self.queue, self.nodes, self.report = queue, nodes, report
        self.ends: dict[int, float] = {}  # when something ends next, by I/O node
        self.unknown: set[int] = set()  # I/O nodes that run jobs, of which none ends before the next release
        self.now, self.over = 0.0, 0

    def finish(self) -> None:
        """Go on until every job has ended."""
        while asked := self._next_instant():
            self._start(asked)
        if self.queue.waiting:
            raise PolicyError(
                f"mapping policy {self.queue.policy.name!r}, at t = {self.now:g} s, starts none of the "
                f"{self.queue.waiting:,} jobs that wait, and nothing else would ever happen"
            )

    def _next_instant(self) -> Sequence[int]:
        """Go to the next instant; which I/O nodes the mapping is asked about: one, or all if jobs come."""
        release = self.queue.next_release
        if self._soonest() * (1.0 + SAME) < release:
            return [self._end()]
        if release == math.inf:
            return []
        # Ends come before releases.
        while self._soonest() <= release * (1.0 + SAME):
            self._end()
        self.now = max(self.now, release)
        self.queue.let_in()
        return range(len(self.nodes.jobs))

    def _soonest(self) -> float:
        """When something ends next; infinity if nothing is known to."""
        return min(self.ends.values(), default=math.inf)

    def _end(self) -> int:
        """The next end; where it is. Of several at one instant the lowest I/O node has the first turn."""
        soonest = self._soonest() * (1.0 + SAME)
        node = min(node for node, time in self.ends.items() if time <= soonest)
        self.now = self.ends.pop(node)
        jobs, ends = self.nodes.take_ended(node, self.now)
        self.queue.ended(jobs, ends)
        if self.nodes.jobs[node]:
            self.unknown.add(node)
        self.over += len(jobs)
        self.report(self.over)
        return node

    def _start(self, asked: Sequence[int]) -> None:
        """Start what the mapping wants, and see when something ends next."""
        for node, jobs in self._wanted(asked).items():
            self.nodes.start(node, sorted(jobs), self.now)
            # An end at this very instant stands: it has happened, and its turn comes.
            if self.ends.get(node, math.inf) > self.now * (1.0 + SAME):
                self.ends.pop(node, None)
                self.unknown.add(node)
        for node in sorted(self.unknown):
            time = self.nodes.next_end(node, self.queue.next_release)
            if time < math.inf:
                self.ends[node] = time
                self.unknown.remove(node)

    def _wanted(self, asked: Sequence[int]) -> dict[int, list[int]]:
        """Which jobs start on which I/O node, if any wait; packs are asked about those that have nothing to do."""
        able = [node for node in asked if not (self.queue.policy.packs and self.nodes.jobs[node])]
        started: dict[int, list[int]] = {}
        for job, node in self.queue.starts(able, self.now) if able and self.queue.waiting else ():
            started.setdefault(node, []).append(job)
        return started


def _packs(queue: JobQueue, start: Floats, node: Ints) -> Ints:
    """The pack of each job: those that started together on an I/O node, numbered as they were opened.

    A pack is opened by the first of its jobs to come, of those that came together by the longest.
    """
    order = queue.job[np.lexsort((queue.job, rounded(-queue.seconds), queue.arrival))]
    numbers: dict[tuple[float, int], int] = {}
    pack = np.empty(start.size, np.int64)
    for job in order:
        pack[job] = numbers.setdefault((start[job], node[job]), len(numbers))
    return pack
