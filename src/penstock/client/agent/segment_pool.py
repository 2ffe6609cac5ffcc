"""The segment of a job as the agent uses it: found or made, looked at, given rates, kept alive, taken away.

A segment belongs to the job's user, who may do with it what he likes; the agent never maps it into its own memory, for
a file that is cut short under a mapping would end the agent and with it the pacing of all jobs of the node.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from math import inf, isnan
from pathlib import Path

from penstock.client.agent.node_job import Pool
from penstock.client.agent.phase_watch import UNASKED, UNASKED_OPERATIONS, WAITS, Reading
from penstock.client.segment import BadSegment, Counts, Kind, Segment, State, bell_of, hear_bell, make_bell

ALIVE = 3.0  # seconds for which an agent counts as alive after its last word
ENDLESS = 1e17  # bytes
RENEW = 1.0  # seconds between two of them


class SegmentPool:
    """One segment, and its bell. Whatever the job's user does to it costs that job its pacing, and nothing else."""

    def __init__(self, path: Path, user: tuple[int, int], restart: int, devices: Iterable[int] = ()) -> None:
        self.path, self.user, self._restart = path, user, restart
        self._devices = tuple(devices)
        self.damaged = ""  # why nothing can be said to the job, if that is so
        self.segment: Segment | None = None
        self.bell = -1
        self._last: Reading = Reading(0.0)
        self._open()

    def _open(self) -> None:
        """Take one that an agent before this one made, or make it."""
        try:
            try:
                self.segment = Segment(self.path, mapped=False)
                if os.fstat(self.segment.fd).st_uid != self.user[0] or self.segment.restart != self._restart:
                    raise BadSegment(f"{self.path} is of another user or life of the job")
            except (OSError, BadSegment):
                Segment.make(self.path, user=self.user, restart=self._restart).close()
                self.segment = Segment(self.path, mapped=False)
            self.bell = make_bell(self.path, self.user)
            self.segment.set_devices(self._devices)
            self.segment.set_rate(None, kind=Kind.OPERATIONS)  # an agent before this one may have shared them
            self.keep_alive()
        except (OSError, BadSegment) as error:
            reason = getattr(error, "strerror", None)
            self.damaged = f"{self.path}: {reason.lower()}" if reason else str(error)

    def keep_alive(self) -> None:
        """Say that somebody cares."""
        if self.segment is not None:
            with self.guarded():
                self.segment.keep_alive(self.segment.clock() + ALIVE)

    def set_devices(self, devices: Iterable[int]) -> None:
        """Pace files on these."""
        self._devices = tuple(devices)
        if self.segment is not None:
            with self.guarded():
                self.segment.set_devices(self._devices)

    def answer(self) -> None:
        """Somebody rang."""
        hear_bell(self.bell)
        if self.segment is not None:
            with self.guarded():
                self.segment.answer()

    def look(self) -> Reading:
        """What was moved, and who waits; the last reading again if there is none to be had."""
        if self.segment is not None:
            with self.guarded():
                found = _reading(self.segment.counts(), self._last)
                self._last = found if self.waits(Kind.BYTES, found.want) else replace(found, want=-inf)
        return self._last

    def waits(self, kind: Kind, want: float) -> bool:
        """Whether who waited last waits for this: the word that somebody does is one for both."""
        assert self.segment is not None
        if self.segment.clock() - want > WAITS:
            return False
        served, rate, _ = self.segment.served(kind)
        return not isnan(rate) and self.segment.promised(kind) > served

    def names(self) -> Pool | None:
        """What operations on names are paid from."""
        return None if self.segment is None else NamesPool(self)

    def set_rate(self, rate: float | None, expiry: float, fallback: float | None) -> None:
        """Let bytes through at this rate until `expiry`, then at the fallback; None: unpaced."""
        if self.segment is not None:
            with self.guarded():
                self.segment.set_rate(rate, expiry, fallback)
                self.segment.set_state(State.FREE if rate is None else State.PACED)

    def rest(self, fallback: float | None) -> None:
        """Let the next burst begin unasked, and nothing more."""
        if self.segment is not None:
            with self.guarded():
                self.segment.set_allowance(UNASKED, fallback)
                self.segment.set_state(State.IDLE)

    def leave(self) -> None:
        """The agent goes: the job falls back at once, and the next agent finds the segment."""
        if self.segment is not None:
            with self.guarded():
                self.segment.keep_alive(self.segment.clock())
            self.segment.close()
            self.segment = None
        self._close_bell()

    def remove(self) -> None:
        """The job has ended here."""
        self.path.unlink(missing_ok=True)
        bell_of(self.path).unlink(missing_ok=True)
        if self.segment is not None:
            self.segment.close()
            self.segment = None
        self._close_bell()

    def _close_bell(self) -> None:
        if self.bell >= 0:
            os.close(self.bell)
            self.bell = -1

    def guarded(self) -> suppress:
        """What the job's user made of the file is that job's loss."""
        return suppress(OSError, BadSegment, ValueError, OverflowError)


class Always:
    """The segment of a job that nothing can pace: a phase without an end, for it may move bytes at any time."""

    def __init__(self, pool: SegmentPool) -> None:
        self._pool = pool

    def look(self) -> Reading:
        """As if a program had announced more than it can ever move."""
        return replace(self._pool.look(), announced=ENDLESS)

    def set_rate(self, rate: float | None, expiry: float, fallback: float | None) -> None:
        """Nobody looks."""

    def rest(self, fallback: float | None) -> None:
        """Nobody looks."""

    def remove(self) -> None:
        """The job has ended here."""
        self._pool.remove()

    def names(self) -> Pool | None:
        """Nothing paces these either."""
        return None


class NamesPool:
    """The other bucket of a segment: operations on names (open, stat, unlink, create)."""

    def __init__(self, whole: SegmentPool) -> None:
        self._whole = whole
        self._last = Reading(0.0)

    def look(self) -> Reading:
        """What was done, and who waits."""
        segment = self._whole.segment
        if segment is not None:
            with self._whole.guarded():
                counts = segment.counts()
                done = max(self._last.moved, float(max(0, counts.operations)))
                last = segment.clock() if done > self._last.moved else self._last.last
                want = counts.want if counts.want and self._whole.waits(Kind.OPERATIONS, counts.want) else -inf
                self._last = Reading(done, last, want)
        return self._last

    def set_rate(self, rate: float | None, expiry: float, fallback: float | None) -> None:
        """Let operations through at this rate until `expiry`, then at the fallback; None: unpaced."""
        if self._whole.segment is not None:
            with self._whole.guarded():
                self._whole.segment.set_rate(rate, expiry, fallback, Kind.OPERATIONS)

    def rest(self, fallback: float | None) -> None:
        """Let the next burst begin unasked, and nothing more."""
        if self._whole.segment is not None:
            with self._whole.guarded():
                self._whole.segment.set_allowance(UNASKED_OPERATIONS, fallback, Kind.OPERATIONS)

    def remove(self) -> None:
        """The segment goes with the job."""

    def names(self) -> Pool | None:
        """It is that already."""
        return None


def _reading(counts: Counts, before: Reading) -> Reading:
    """What a segment shows. Counts of a user's file may be anything: bytes never fall, and times are in the past."""
    announced = counts.announced_write + counts.announced_read
    said = before.said if counts.begun > counts.ended else announced
    read = counts.read > 0 and counts.read - before.reads > counts.written - before.writes
    same = (counts.read, counts.written) == (before.reads, before.writes)
    return Reading(
        moved=max(before.moved, float(min(counts.moved, 1 << 62))),
        last=counts.last or -inf,
        want=counts.want or -inf,
        closed=counts.last_close or -inf,
        announced=max(0.0, float(announced - said)),
        read=before.read if same else read,
        reads=counts.read,
        writes=counts.written,
        said=said,
        operations=float(max(0, counts.operations)),
    )
