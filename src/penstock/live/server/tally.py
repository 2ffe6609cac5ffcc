"""The controller's totals for monitoring: bytes that members report, bytes that they were granted, node-seconds lost.

What was achieved is counted from the records, exactly as reported. What was granted and lost are rates times time:
rates are looked at once a second, so a phase of a minute is a percent or two off, and a week is not.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from penstock.live.core import records
from penstock.live.core.state import GRACE, RUN, ControllerState
from penstock.wire.messages import Message

EVERY = 1.0  # seconds
Shares = tuple[tuple[int, float], ...]
_MOVED = (records.Progressed, records.Adrift, records.Ended)  # say how far an operation is
_CHANGED = (records.Gone, records.Resynced, records.Located)  # may change its way


class Tally:
    """Counts since the start, by resource where that makes sense."""

    def __init__(self, state: ControllerState) -> None:
        self._state = state
        resources = len(state.capacity)
        self.achieved, self.granted = [0.0] * resources, [0.0] * resources  # bytes
        self.lost = self.with_io = 0.0  # node-seconds
        self._open: dict[tuple[int, int], tuple[Shares, float]] = {}  # by member: its way, and what it had moved
        self._at: float | None = None
        self._rates, self._losing, self._nodes = np.zeros(resources), 0.0, 0.0

    def take(self, written: Iterable[Message]) -> None:
        """Records of a turn, after they changed the state."""
        for record in written:
            if isinstance(record, records.Granted):  # most of them, and nothing to count
                continue
            if isinstance(record, records.Posted):
                shares = self._state.routes.find(record.direction, record.targets).shares
                self._open[record.app, record.member] = shares, 0.0
            elif isinstance(record, _MOVED):
                self._moved((record.app, record.member), record.done)
                if isinstance(record, records.Ended):
                    self._open.pop((record.app, record.member), None)
            elif isinstance(record, _CHANGED):
                self._renew((record.app, record.member))

    def _moved(self, key: tuple[int, int], done: float) -> None:
        if key not in self._open:
            self._renew(key)  # known from the journal: what it moved before is not ours to count
        if key in self._open:
            shares, before = self._open[key]
            for k, share in shares:
                self.achieved[k] += share * max(0.0, done - before)
            self._open[key] = shares, max(before, done)

    def _renew(self, key: tuple[int, int]) -> None:
        """Look a member up: its way may be another, or it may be gone."""
        member = self._state.find(*key)
        if member is None or member.op is None:
            self._open.pop(key, None)
        else:
            self._open[key] = member.op.route.shares, member.op.reported

    def look(self, now: float, at_once: bool = False) -> None:
        """Add what was granted and lost since the last look, if that is a second ago."""
        if self._at is not None and now - self._at < EVERY and not at_once:
            return
        if self._at is not None:
            seconds = now - self._at
            for k, rate in enumerate(self._rates):
                self.granted[k] += float(rate) * seconds
            self.lost += self._losing * seconds
            self.with_io += self._nodes * seconds
        self._at = now
        self._see()

    def _see(self) -> None:
        """What holds until the next look. A job on several ways counts with its nodes once."""
        rows = self._state.rows
        active = slice(0, rows.count)
        self._rates = rows.share[:, active] @ rows.rate[active]
        self._losing = self._nodes = 0.0
        if not rows.count:
            return
        _, which, ways = np.unique(rows.application[active], return_inverse=True, return_counts=True)
        nodes = rows.nodes[active] / ways[which]
        self._nodes = float(nodes.sum())
        if self._state.mode in (RUN, GRACE):
            able = rows.able  # a job that is slow by itself loses nothing by its rate
            part = np.divide(rows.rate[active], able, out=np.ones(rows.count), where=able > 0.0)
            self._losing = float((nodes * (1.0 - np.minimum(part, 1.0))).sum())
