"""For mapping policies: packs that wait, and which of them starts where (P3 §6.2.4; with releases: ours).

Jobs that come join packs that have not started. If all jobs are there from the start, packs are dealt to the I/O nodes
at once, longest first. If others come later, no plan would hold: then an I/O node that is free starts the pack that is
the longest of those waiting.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Ints
from penstock.policies.mapping.longest_first import longest_first
from penstock.policies.mapping.packs import Packs
from penstock.policies.mapping.policy import Starts
from penstock.policies.mapping.view import View
from penstock.policies.sharing.order import ranked


class WaitingPacks:
    """The packs of a run. Times alone, and with them packs, are by rows of the View."""

    def __init__(self, room: int, sensitivity: float) -> None:
        self.packs = Packs(room, sensitivity)
        self.seen = 0
        self.dealt: Ints | None = None

    def take_in(self, view: View) -> None:
        """Put the jobs that came since the last time into packs."""
        if self.seen == view.job.size:
            return
        for arrival in range(view.arrival[self.seen], view.arrival[-1] + 1):
            self.packs.add(np.flatnonzero(view.arrival == arrival), view.seconds, view.io, view.processors)
        self.seen = view.job.size
        if view.arrival[-1] == 0 and not view.more:
            self.dealt = longest_first(self.packs.longest[: len(self.packs.jobs)], view.free.size)

    def start(self, node: int) -> Starts:
        """The jobs of the next pack for this I/O node; none if no pack waits for it."""
        for pack in ranked(-self.packs.longest[: len(self.packs.jobs)]):
            if not self.packs.started[pack] and (self.dealt is None or self.dealt[pack] == node):
                return [(row, node) for row in self.packs.start(pack)]
        return []


def start_packs(view: View, sensitivity: float) -> Starts:
    """The packs that start now."""
    waiting = view.memory.setdefault("packs", WaitingPacks(view.room, sensitivity))
    waiting.take_in(view)
    return [start for node in view.open.tolist() for start in waiting.start(node)]
