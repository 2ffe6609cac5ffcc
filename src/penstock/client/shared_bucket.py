"""One bucket for all processes of a node: a segment that all pay into, with the interface of a Bucket.

The process that holds the link to the controller makes the segment and writes the rate into it; the ranks only pay,
and so do programs that know nothing of this, through the preloaded library. Who pays adds to what is *promised* and
goes on when as much has been *served*, so ranks are served in the order they came, a change of the rate reprices all
of them, and one that dies waiting holds nobody up: its share passes by unused. When the maker dies, the rate runs out.

As long as no controller has named a rate, the segment says so, and whoever pays here pays from what all of the node
have in common, too.

Who is in a phase shows it by a lock on a byte of that phase behind the numbers: so the maker can see whether anybody
is, and neither a count that a killed process leaves behind nor a meeting of all is needed.
"""

from __future__ import annotations

import math
import os
import struct
import time
import weakref
from collections.abc import Callable
from fcntl import F_OFD_GETLK, F_OFD_SETLK, F_RDLCK, F_UNLCK, F_WRLCK, fcntl
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Protocol

from penstock.client.bucket import Clock, Gate, boottime, slice_of
from penstock.client.paying import AT_ONCE, Payer, payer_of
from penstock.client.segment import FOLDER, PROMISED, READ, SIZE, WRITTEN, BadSegment, Segment

__all__ = ["FOLDER", "SIZE", "BadSegment", "Claim", "Common", "SharedBucket", "new_path"]

KEPT = 3600.0  # seconds: the command of a run that was killed goes on, and its next program looks for the segment
LOOK_AGAIN = 0.1  # seconds: nobody can be woken in another process, so all look for new rates themselves
_BYTE_LOCK = struct.Struct("hhqqi4x")  # struct flock: kind, whence, start, length, pid


def new_path(job: str) -> Path:
    """A place on this node for the segment of a job, which nobody can foresee and take first."""
    _sweep(mine := f"penstock.{os.geteuid()}.")
    return FOLDER / f"{mine}{job.replace('/', '_')}.{os.getpid()}.{os.urandom(4).hex()}"


def _sweep(mine: str) -> None:
    """Take away what those of our processes left behind that were killed, when their commands may be over, too."""
    for path in FOLDER.glob(f"{mine}*"):
        maker = path.name.split(".")[-2]
        if maker.isdigit() and not Path("/proc", maker).exists() and _silent(path) > KEPT:
            path.unlink(missing_ok=True)


def _silent(path: Path) -> float:
    """Seconds since somebody said that it lives, as far as a file tells."""
    try:
        with open(path, "rb") as file:
            made, head = os.fstat(file.fileno()).st_mtime, file.read(SIZE)
    except OSError:
        return 0.0
    until = struct.unpack_from("<q", head, 16)[0] / 1e9 if len(head) == SIZE else math.inf
    since_made = time.time() - made
    return since_made if until > boottime() + KEPT else min(since_made, boottime() - until)


class Common(Protocol):
    """What all processes of a node have in common that have not met the controller."""

    def serve(self, claim: Claim, rate: float) -> float:
        """Seconds to wait before asking again, 0 when all is paid."""

    def leave(self) -> None:
        """Pay from it no more."""


class SharedBucket:
    """The interface of a Bucket, on a segment; `admitted` and `waited` are this process's own."""

    def __init__(self, path: str | Path, clock: Clock = boottime) -> None:
        self.path = Path(path)
        self.admitted = self.waited = 0.0
        self.reads = False  # whether what is paid for counts as read
        self.gate: Callable[[], Gate] = Gate
        self.common: Common | None = None  # is paid from, too, where the segment says so
        self._clock = clock
        self._closed = False
        self.segment = Segment(path, clock)
        self._seen = self.rate
        _segments.add(self)

    @classmethod
    def make(cls, path: str | Path, clock: Clock = boottime) -> SharedBucket:
        """A new segment, unpaced at first, in place of one left behind."""
        Segment.make(path, clock).close()
        return cls(path, clock)

    @cached_property
    def _payer(self) -> Payer:
        return payer_of(self.segment)

    def is_at(self, path: Path) -> bool:
        """Whether the segment is the one that is found there."""
        try:
            found, ours = os.stat(path), os.fstat(self.segment.fd)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)

    def remove(self) -> None:
        """Take the segment away; processes that have it open go on with it."""
        self.segment.path = self.path
        self.segment.remove()

    @property
    def rate(self) -> float | None:
        """In force now, bytes/s; None: unpaced."""
        rate = self.segment.served()[1]
        return None if isnan(rate) else rate

    @property
    def granted(self) -> bool:
        """Whether the rate is a controller's word: only these have an end."""
        return self._clock() < self.segment.lane().expiry < math.inf

    @property
    def slice(self) -> int:
        """Bytes to move at a time, by the rate seen last."""
        return slice_of(self._seen)

    @property
    def moved(self) -> float:
        """Bytes that all processes have paid for."""
        return float(self.segment.counts().moved)

    def add_moved(self, amount: float) -> None:
        """So many more were moved than was paid for."""
        self._payer.add(READ if self.reads else WRITTEN, round(amount))

    def set_rate(self, rate: float | None, expiry: float = math.inf, fallback: float | None = None) -> None:
        """Pace all processes at `rate` until `expiry`, then at `fallback`; None: unpaced."""
        self.segment.set_rate(rate, expiry, fallback)

    def set_common(self, path: Path | None) -> None:
        """What all pay from, too, while the member of this segment has not met the controller; None: it has."""
        self.segment.set_common(path)

    def close(self) -> None:
        """Pace this process no more; the others go on as before."""
        self._closed = True

    def enter_phase(self, number: int) -> None:
        """Show the others that this process is in a phase."""
        self._byte_lock(F_OFD_SETLK, F_RDLCK, number)

    def leave_phase(self, number: int) -> None:
        """Be in it no more."""
        self._byte_lock(F_OFD_SETLK, F_UNLCK, number)

    def others_in_phase(self, number: int) -> bool:
        """Whether any other process is."""
        return self._byte_lock(F_OFD_GETLK, F_WRLCK, number) != F_UNLCK

    def acquire(self, amount: float) -> float:
        """Pay for so many bytes; the seconds this took."""
        claim, gate = Claim(amount, self._clock()), self.gate()
        pause = self.serve(claim)
        if not pause:
            return 0.0
        try:
            while pause:
                gate.sleep(pause)
                pause = self.serve(claim)
        finally:
            spent = self.leave(claim)
        return spent

    def refund(self, amount: float) -> None:
        """Give back what was paid for and not moved, as at the end of a file."""
        less = -round(amount)
        self._payer.add(PROMISED, less)
        self._payer.add(READ if self.reads else WRITTEN, less)
        self._payer.credit(less)
        self.admitted -= amount

    def enter(self, amount: float, wake: Callable[[], None]) -> Claim:
        """Somebody who waits in its own way: `serve` until it gives 0, then `leave`. Nobody is woken here."""
        return Claim(amount, self._clock())

    def serve(self, claim: Claim) -> float:
        """Seconds to wait before asking again, 0 when all is paid."""
        pause = 0.0 if self._closed or claim.paid else self._serve(claim)
        pause = pause or self._serve_in_common(claim)
        if not pause:
            self.admitted += claim.amount
        return pause

    def _serve_in_common(self, claim: Claim) -> float:
        """The same for what the node has in common, as long as nobody granted a rate and there is one."""
        if self.common is None or self._closed:
            return 0.0
        if self.segment.strange:
            lane = self.segment.lane()
            if lane.expiry == math.inf and not isnan(lane.rate):
                return self.common.serve(claim, lane.rate)
        self.common.leave()
        return 0.0

    def _serve(self, claim: Claim) -> float:
        now = self._clock()
        if claim.mark is None:
            claim.mark = self._payer.promise(round(claim.amount), round(now * 1e9))
            if claim.mark == AT_ONCE:
                return self._paid(claim, now)
        lane = self.segment.lane()
        served, rate, _ = lane.served(now, self.segment.alive_until)
        self._seen = None if isnan(rate) else rate
        if isnan(rate) or served >= claim.mark:
            return self._paid(claim, now)
        self.segment.say_want()
        soon = (claim.mark - served) / rate if rate > 0.0 else math.inf
        changes = lane.expiry - now if lane.expiry > now else math.inf
        return max(1e-6, min(soon, LOOK_AGAIN, changes))

    def _paid(self, claim: Claim, now: float) -> float:
        claim.paid = True
        amount = round(claim.amount)
        self._payer.add(READ if self.reads else WRITTEN, amount)
        self._payer.credit(amount)
        self.segment.say_moved(now)
        return 0.0

    def leave(self, claim: Claim) -> float:
        """The seconds since the claim was made."""
        spent = self._clock() - claim.since
        self.waited += spent
        return spent

    def _byte_lock(self, command: int, kind: int, number: int) -> int:
        # The kind that owns a lock by its open file: a process's other locks on the file do not touch it.
        asked = _BYTE_LOCK.pack(kind, os.SEEK_SET, SIZE + number, 1, 0)
        found: int = _BYTE_LOCK.unpack(fcntl(self.segment.fd, command, asked))[0]
        return found


class Claim:
    """Somebody who waits until as much is served as was promised when it came."""

    __slots__ = ("amount", "inner", "mark", "paid", "since")

    def __init__(self, amount: float, since: float = 0.0) -> None:
        self.amount, self.since = amount, since
        self.mark: int | None = None
        self.paid = False
        self.inner: Claim | None = None  # on what the node has in common


_segments: weakref.WeakSet[SharedBucket] = weakref.WeakSet()


def _reopen_all() -> None:
    for bucket in list(_segments):
        bucket.segment.reopen()


os.register_at_fork(after_in_child=_reopen_all)
