"""A machine for tests of mapping policies: it keeps who runs where, and shows it as the engine does."""

import numpy as np

from penstock.policies.mapping import View


class Machine:
    """Jobs that are all there unless `release` says otherwise; a test tells it who starts and ends."""

    def __init__(self, seconds, io, processors, room, nodes, release=None):
        count = len(seconds)
        self.room, self.nodes = room, nodes
        self.seconds, self.io = np.array(seconds, float), np.array(io, float)
        self.processors = np.array(processors, np.int64)
        self.release = np.zeros(count) if release is None else np.array(release, float)
        self.walltime = np.full(count, np.inf)
        self.node = np.full(count, -1)
        self.start, self.end = np.full((2, count), np.nan)
        self.memory = {}

    @property
    def free(self):
        running = (self.node >= 0) & np.isnan(self.end)
        used = np.bincount(self.node[running], self.processors[running], self.nodes)
        return self.room - used.astype(np.int64)

    def view(self, asked, now, **settings):
        known = int((self.release <= now).sum())  # jobs are listed by release
        columns = {
            name: getattr(self, name)[:known].copy()
            for name in ("release", "seconds", "io", "processors", "walltime", "node", "start", "end")
        }
        arrival = np.unique(self.release[:known], return_inverse=True)[1]
        more = known < self.release.size
        rest = {"job": np.arange(known), "arrival": arrival, "settings": settings, "memory": self.memory}
        return View(now=now, room=self.room, free=self.free, open=np.array(asked), more=more, **rest, **columns)

    def begin(self, starts, now):
        for job, node in starts:
            self.node[job], self.start[job] = node, now
        assert (self.free >= 0).all()

    def finish(self, jobs, now):
        self.end[jobs] = now
