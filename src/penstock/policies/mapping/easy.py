"""Easy: first come, first served, with backfilling by walltime, as batch systems have it (Lifka 1995).

Jobs start in the order in which they came. The first that finds no room gets a reservation: the I/O node, and the time,
where it could start earliest if everybody runs for as long as it may. Who comes later may start on that node only if it
would be over by then, or leaves enough processors free for it; elsewhere it starts if it fits. Of several I/O nodes a
job takes the one that it fills best, lowest first, so that wide jobs find room.

A job may run for its walltime, which counts from its start. Who has none may run `factor` times as long as it would
take alone: without any limit no end could be foreseen and nobody could pass; its time alone would be broken by every
wait for I/O. I/O plays no part: a batch system does not see it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import SAME, Bools
from penstock.policies.mapping.policy import Starts, mapping
from penstock.policies.mapping.view import View


class Reservation(NamedTuple):
    """Where and when the first that waits will start at the latest, and how many processors it leaves there then."""

    node: int
    time: float
    spare: int


class Easy:
    """What may start on which I/O node, while jobs are being started."""

    def __init__(self, view: View, factor: float) -> None:
        self.view, self.free, self.starts = view, view.free.copy(), Starts()
        self.limit = np.where(np.isfinite(view.walltime), view.walltime, factor * view.seconds)
        self.reservation: Reservation | None = None

    def start_all(self) -> Starts:
        """Go through the queue once."""
        waiting = self.view.waiting
        while waiting.size:
            row, waiting = int(waiting[0]), waiting[1:]
            able = np.flatnonzero(self._able(row))
            if able.size:
                self._start(row, int(able[np.argmin(self.free[able])]))
            elif self.reservation is None:
                self.reservation = self._reserve(row)
            # Room only shrinks: who needs more processors than any node has left need not be looked at.
            if self.reservation is not None:
                waiting = waiting[self.view.processors[waiting] <= self.free.max()]
        return self.starts

    def _able(self, row: int) -> Bools:
        """On which I/O nodes a job may start now."""
        able: Bools = self.free >= self.view.processors[row]
        if self.reservation is not None and not self._harmless(row, self.reservation):
            able[self.reservation.node] = False
        return able

    def _harmless(self, row: int, reservation: Reservation) -> bool:
        return self._over_by(row, reservation.time) or int(self.view.processors[row]) <= reservation.spare

    def _over_by(self, row: int, time: float) -> bool:
        return bool(self.view.now + self.limit[row] <= time * (1.0 + SAME))

    def _start(self, row: int, node: int) -> None:
        self.starts.append((row, node))
        processors = int(self.view.processors[row])
        self.free[node] -= processors
        held = self.reservation
        if held is not None and held.node == node and not self._over_by(row, held.time):
            self.reservation = held._replace(spare=held.spare - processors)

    def _reserve(self, row: int) -> Reservation:
        """The earliest place for a job, of several the lowest I/O node."""
        places = [self._opening(row, node) for node in range(self.free.size)]
        soonest = min(place.time for place in places) * (1.0 + SAME)
        return next(place for place in places if place.time <= soonest)

    def _opening(self, row: int, node: int) -> Reservation:
        """When a job could start on a node if all that run there run for as long as they may; late ones end now."""
        view = self.view
        others = [each for each in view.running if view.node[each] == node]
        others += [each for each, where in self.starts if where == node]
        since = np.where(np.isnan(view.start[others]), view.now, view.start[others])
        ends = np.maximum(view.now, since + self.limit[others])
        order = np.argsort(ends, kind="stable")
        room = self.free[node] + np.append(0, np.cumsum(view.processors[others][order]))
        ends = np.append(view.now, ends[order])
        time = float(ends[np.argmax(room >= view.processors[row])])
        return Reservation(node, time, int(room[ends <= time * (1.0 + SAME)].max() - view.processors[row]))


@mapping("easy", source="Lifka 1995", factor=2.0)
def easy(view: View) -> Starts:
    """First come, first served; later jobs start earlier only where they do not delay the first that waits."""
    return Easy(view, view.settings["factor"]).start_all()
