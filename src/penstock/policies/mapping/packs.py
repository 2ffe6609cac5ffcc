"""Packs for mapping policies: jobs that run together, by the processors they need and the I/O they bring (P3 §5.2).

A pack runs on one I/O node with P processors. Its average I/O occupation is L = (I/O seconds of its jobs) / T, where T
is the longest time alone among them. Jobs are taken longest first; each goes into the fullest pack that has processors
left for it and in which L stays at most S, the sensitivity. If there is none it opens a new one, whatever its own I/O.
With S = infinity only processors count: first-fit.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.policies.sharing.order import ranked


class Packs:
    """Packs in the order in which they were opened, and what is in each."""

    def __init__(self, room: int, sensitivity: float) -> None:
        self.room, self.sensitivity = room, sensitivity
        self.jobs: list[list[int]] = []
        self.started: list[bool] = []
        self.used, self.occupied, self.longest = np.zeros((3, 0))

    def add(self, jobs: Ints, seconds: Floats, io: Floats, processors: Ints) -> None:
        """Put jobs into packs, by falling time alone.

        For each job, `seconds` is its time alone and `io` how long its volume keeps a whole I/O node busy.
        """
        # Room for a pack per job; those that `jobs` does not have are not there yet.
        missing = len(self.jobs) + jobs.size - self.used.size
        self.used, self.occupied, self.longest = (
            np.concatenate([column, np.zeros(max(0, missing))]) for column in (self.used, self.occupied, self.longest)
        )
        for job in jobs[ranked(-seconds[jobs])]:
            chosen = self._choose(io[job], processors[job])
            self.jobs[chosen].append(int(job))
            self.used[chosen] += processors[job]
            self.occupied[chosen] += io[job]
            self.longest[chosen] = max(self.longest[chosen], seconds[job])

    def _choose(self, io: float, processors: int) -> int:
        """The pack for a job, a new one if need be."""
        opened = len(self.jobs)
        fits = self.used[:opened] + processors <= self.room
        fits &= self.occupied[:opened] + io <= self.sensitivity * self.longest[:opened] * (1.0 + SAME)
        if fits.any():
            # The first of the fullest ones: an older pack goes before a younger one.
            return int(np.where(fits, self.used[:opened], 0.0).argmax())
        self.jobs.append([])
        self.started.append(False)
        return opened

    def start(self, pack: int) -> list[int]:
        """Its jobs, in the order in which they joined; from now on nobody joins it."""
        self.started[pack] = True
        self.used[pack] = np.inf
        return self.jobs[pack]


def packed(seconds: Floats, io: Floats, processors: Ints, room: int, sensitivity: float) -> Ints:
    """The pack of each job if all are there; packs are numbered as they were opened, so by falling time alone.

    >>> seconds, io, processors = np.array([9.0, 8.0, 6.0]), np.array([6.0, 4.0, 3.0]), np.array([2, 1, 1])
    >>> packed(seconds, io, processors, room=4, sensitivity=1.0)
    array([0, 1, 0])
    >>> packed(seconds, io, processors, room=4, sensitivity=np.inf)
    array([0, 0, 0])
    """
    packs = Packs(room, sensitivity)
    packs.add(np.arange(seconds.size), seconds, io, processors)
    pack = np.empty(seconds.size, np.int64)
    for number, jobs in enumerate(packs.jobs):
        pack[jobs] = number
    return pack
