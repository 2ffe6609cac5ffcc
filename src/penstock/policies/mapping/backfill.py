"""Backfilling: no packs; a job starts as soon as an I/O node has room for it (ours; P3 §7 names it as the next step).

Jobs wait in one queue, by falling T + Q·T/P + V: a job's time alone, its part of a node's processor time and its part
of a node's I/O time, which are the three things that keep a batch from ending. When jobs end, others start on that
node, from the front of the queue: one starts if its processors are free and the average I/O demand of the running jobs,
the sum of V/T, stays at most S with it. An empty node takes any job. Of several nodes it is the one with the least
demand.

Narrow jobs would keep every node too full for a wide one. So the first job that finds no room is promised the node
where it could start earliest, going by the announced ends; there, a job from further back may pass it only if it would
be over by then or fits beside it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.policies.mapping.policy import Starts, mapping
from penstock.policies.mapping.view import View
from penstock.policies.sharing.order import ranked, ranks

# Measured: with less the bandwidth of a node runs dry now and then, with more its jobs only wait.
DEFAULT_SENSITIVITY = 1.5


class Promise(NamedTuple):
    """When and where the first job that waits could start, and what else will be in use there then."""

    job: int
    node: int
    time: float
    used: int
    load: float


class Backfill:
    """Who waits, and who runs on which node now; jobs are rows of the View."""

    def __init__(self, view: View, sensitivity: float) -> None:
        self.seconds, self.processors, self.room = view.seconds, view.processors, view.room
        self.demand, place = _announced(view)
        self.most = sensitivity * (1.0 + SAME)
        waiting, running = view.waiting, view.running
        self.queue: Ints = waiting[np.argsort(place[waiting])]
        self.running: list[dict[int, float]] = [{} for _ in view.free]  # job: when it was announced to end
        # As they were started: by time, and at one time from the front of the queue.
        for job in running[np.lexsort((place[running], view.start[running]))].tolist():
            self.running[view.node[job]][job] = view.start[job] + self.seconds[job]
        self.used = self.room - view.free
        self.load = np.array([self.demand[list(jobs)].sum() for jobs in self.running])

    def start(self, asked: Ints, now: float) -> Starts:
        """Start what may start on these nodes now."""
        promise: Promise | None = None
        started = []
        waiting = self.queue
        while waiting.size:
            job, waiting = int(waiting[0]), waiting[1:]
            node = self._choose(job, asked, promise, now)
            if node is not None:
                promise = self._kept(promise, job, node, now)
                self._take(job, node, now)
                started.append((job, node))
            elif promise is None:
                promise = self._promise(job, now)
            else:
                continue
            if promise is not None:
                # Room only shrinks from here on, so who finds none now need not be asked again.
                waiting = waiting[self._hopeful(waiting, asked, promise, now)]
        return started

    def _fits(self, jobs: int | Ints, used: int | Ints, load: float | Floats) -> NDArray[np.bool_]:
        """Whether a node with so much in use has room: for one job on many nodes, or for many jobs on one."""
        room = used + self.processors[jobs] <= self.room
        room &= load + self.demand[jobs] <= self.most
        return np.asarray(room | (np.asarray(used) == 0))

    def _hopeful(self, jobs: Ints, nodes: Ints, promise: Promise, now: float) -> NDArray[np.bool_]:
        """Who might find room: of one node the answer, of several a quick look that saves closer ones."""
        room = self._fits(jobs, self.used[nodes].min(), self.load[nodes].min())
        if (nodes == promise.node).all():
            room &= self._harmless(jobs, promise, now)
        return room

    def _choose(self, job: int, nodes: Ints, promise: Promise | None, now: float) -> int | None:
        """The node for `job`, with the least demand, then the fewest processors in use; None if no one has room."""
        fitting = nodes[self._fits(job, self.used[nodes], self.load[nodes])]
        if promise is not None and not self._harmless(job, promise, now):
            fitting = fitting[fitting != promise.node]
        order = np.lexsort((self.used[fitting], self.load[fitting]))
        return int(fitting[order[0]]) if order.size else None

    def _take(self, job: int, node: int, now: float) -> None:
        self.running[node][job] = now + self.seconds[job]
        self.used[node] += self.processors[job]
        self.load[node] += self.demand[job]

    def _harmless(self, jobs: int | Ints, promise: Promise, now: float) -> NDArray[np.bool_]:
        """Who, started on the promised node, would leave the promise as it is: over by then, or beside it."""
        used = promise.used + self.processors[promise.job]
        beside = self._fits(jobs, used, promise.load + self.demand[promise.job])
        return np.asarray(self._over_by(promise.time, jobs, now) | beside)

    def _kept(self, promise: Promise | None, job: int, node: int, now: float) -> Promise | None:
        """The promise, once `job` has been started on `node`."""
        if promise is None or node != promise.node or self._over_by(promise.time, job, now):
            return promise
        return promise._replace(used=promise.used + self.processors[job], load=promise.load + self.demand[job])

    def _over_by(self, time: float, jobs: int | Ints, now: float) -> NDArray[np.bool_]:
        return np.asarray(now + self.seconds[jobs] <= time * (1.0 + SAME))

    def _promise(self, job: int, now: float) -> Promise:
        return min((self._opening(job, node, now) for node in range(len(self.running))), key=lambda each: each.time)

    def _opening(self, job: int, node: int, now: float) -> Promise:
        """When `job` could start on `node` if those running there end as announced, or now if they are late."""
        used, load, time = int(self.used[node]), float(self.load[node]), now
        for other, end in sorted(self.running[node].items(), key=lambda item: item[1]):
            if self._fits(job, used, load):
                break
            time = max(now, end)
            used -= int(self.processors[other])
            load -= float(self.demand[other])
        return Promise(job, node, time, used, load)


def _announced(view: View) -> tuple[Floats, Floats]:
    """Of each job the average I/O demand, V/T, and its place if all were to wait; the same until others come."""
    if view.memory.get("known") != view.job.size:
        weight = view.seconds * (1.0 + view.processors / view.room) + view.io
        view.memory.update(known=view.job.size, announced=(view.io / view.seconds, ranks(ranked(-weight))))
    demand, place = view.memory["announced"]
    return demand, place


@mapping("backfill", source="ours", sensitivity=DEFAULT_SENSITIVITY)
def backfill(view: View) -> Starts:
    """No packs: a job starts as soon as an I/O node has room for it and carries its I/O; nobody passes a promise."""
    return Backfill(view, view.settings["sensitivity"]).start(view.open, view.now)
