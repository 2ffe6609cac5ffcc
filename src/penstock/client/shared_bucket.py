"""One bucket for all processes of a node: a few numbers in shared memory, guarded by a file lock.

The process that holds the link to the controller makes the segment and writes the rate into it; the ranks only pay.
Who pays adds to what is *promised* and goes on when as much has been *served*, so ranks are served in the order they
came, a change of the rate reprices all of them, and one that dies waiting holds nobody up: its share passes by unused.
The kernel takes the lock from a process that dies. When the maker dies, the rate runs out as it would anywhere.

As long as no controller has named a rate, the head of the segment says so, and whoever pays here pays from what all of
the node have in common, too.

Who is in a phase shows it by another lock, on a byte of that phase behind the numbers: so the maker can see whether
anybody is, and neither a count that a killed process leaves behind nor a meeting of all is needed.
"""

from __future__ import annotations

import math
import mmap
import os
import stat
import struct
import threading
import weakref
from collections.abc import Callable
from fcntl import F_OFD_GETLK, F_OFD_SETLK, F_RDLCK, F_UNLCK, F_WRLCK, LOCK_EX, LOCK_UN, fcntl, flock
from math import isnan
from pathlib import Path
from typing import Protocol

from penstock.client.bucket import Clock, Gate, boottime, depth_of, slice_of
from penstock.errors import PenstockError

FOLDER = Path("/dev/shm")
MAGIC = b"penstok1"
STRANGE = b"penstokS"  # the same, of a member that has not met the controller
LOOK_AGAIN = 0.1  # seconds: nobody can be woken in another process, so all look for new rates themselves
_HEAD = len(MAGIC)
_NUMBERS = struct.Struct("<8d")  # rate, expiry, fallback, depth, promised, served, moved, at; a rate of NaN: unpaced
_unpack, _pack = _NUMBERS.unpack_from, _NUMBERS.pack_into
SIZE = _HEAD + _NUMBERS.size
_NEVER = math.inf
_BYTE_LOCK = struct.Struct("hhqqi4x")  # struct flock: kind, whence, start, length, pid


class BadSegment(PenstockError):
    """A file that is no shared bucket, or not ours."""


def new_path(job: str) -> Path:
    """A place on this node for the segment of a job, which nobody can foresee and take first."""
    _sweep(mine := f"penstock.{os.geteuid()}.")
    return FOLDER / f"{mine}{job.replace('/', '_')}.{os.getpid()}.{os.urandom(4).hex()}"


def _sweep(mine: str) -> None:
    """Take away what those of our processes left behind that were killed."""
    for path in FOLDER.glob(f"{mine}*"):
        maker = path.name.split(".")[-2]
        if maker.isdigit() and not Path("/proc", maker).exists():
            path.unlink(missing_ok=True)


Numbers = tuple[float, float, float, float, float, float, float, float]


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
        self.gate: Callable[[], Gate] = Gate
        self.common: Common | None = None  # is paid from, too, where the head says so
        self._clock = clock
        self._lock = threading.Lock()
        self._closed = False
        self._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            _check(self.path, os.fstat(self._fd))
            self._memory = mmap.mmap(self._fd, SIZE)
            if self._memory[:_HEAD] not in (MAGIC, STRANGE):
                raise BadSegment(f"{self.path} is no bucket of this version of penstock")
        except BaseException:
            os.close(self._fd)
            raise
        self._seen = self.rate
        _segments.add(self)

    @classmethod
    def make(cls, path: str | Path, clock: Clock = boottime) -> SharedBucket:
        """A new segment, unpaced at first, in place of one left behind."""
        Path(path).unlink(missing_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            numbers = _NUMBERS.pack(math.nan, math.inf, math.nan, 0.0, 0.0, 0.0, 0.0, clock())
            os.write(fd, MAGIC + numbers)
        finally:
            os.close(fd)
        return cls(path, clock)

    def is_at(self, path: Path) -> bool:
        """Whether the segment is the one that is found there."""
        try:
            found, ours = os.stat(path), os.fstat(self._fd)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)

    def remove(self) -> None:
        """Take the segment away; processes that have it open go on with it."""
        self.path.unlink(missing_ok=True)

    @property
    def rate(self) -> float | None:
        """In force now, bytes/s; None: unpaced."""
        with self._lock, _Held(self._fd):
            return _maybe(self._settle(self._clock())[0])

    @property
    def granted(self) -> bool:
        """Whether the rate is a controller's word: only these have an end."""
        with self._lock, _Held(self._fd):
            return self._settle(self._clock())[1] < math.inf

    @property
    def slice(self) -> int:
        """Bytes to move at a time, by the rate seen last."""
        return slice_of(self._seen)

    @property
    def moved(self) -> float:
        """Bytes that all processes have paid for."""
        with self._lock, _Held(self._fd):
            return self._read()[6]

    def add_moved(self, amount: float) -> None:
        """So many more were moved than was paid for."""
        with self._lock, _Held(self._fd):
            rate, expiry, fallback, depth, promised, served, moved, at = self._read()
            self._write(rate, expiry, fallback, depth, promised, served, moved + amount, at)

    def set_rate(self, rate: float | None, expiry: float = math.inf, fallback: float | None = None) -> None:
        """Pace all processes at `rate` until `expiry`, then at `fallback`; None: unpaced."""
        with self._lock, _Held(self._fd):
            now = self._clock()
            _, _, _, _, promised, served, moved, _ = self._settle(now)
            depth = 0.0 if rate is None else depth_of(rate)
            self._write(_number(rate), expiry, _number(fallback), depth, promised, served, moved, now)

    def set_strange(self, strange: bool) -> None:
        """Whether the member of this segment has not met the controller."""
        self._memory[:_HEAD] = STRANGE if strange else MAGIC

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
        if self._pay_at_once(amount):
            self.admitted += amount
            return 0.0
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
        with self._lock, _Held(self._fd):
            rate, expiry, fallback, depth, promised, served, moved, at = self._read()
            self._write(rate, expiry, fallback, depth, promised, served + amount, moved - amount, at)
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
        rate, expiry = self._read()[:2]
        if self._memory[:_HEAD] == STRANGE and expiry == math.inf and not isnan(rate):
            return self.common.serve(claim, rate)
        self.common.leave()
        return 0.0

    def _serve(self, claim: Claim) -> float:
        with self._lock, _Held(self._fd):
            now = self._clock()
            rate, expiry, fallback, depth, promised, served, moved, _ = self._settle(now)
            if claim.mark is None:
                promised += claim.amount
                claim.mark = promised
            if isnan(rate):
                served = promised
            claim.paid = served >= claim.mark
            if claim.paid:
                moved += claim.amount
            self._write(rate, expiry, fallback, depth, promised, served, moved, now)
        self._seen = _maybe(rate)
        if claim.paid:
            return 0.0
        soon = (claim.mark - served) / rate if rate > 0.0 else math.inf
        return max(1e-6, min(soon, LOOK_AGAIN, expiry - now))

    def leave(self, claim: Claim) -> float:
        """The seconds since the claim was made."""
        spent = self._clock() - claim.since
        self.waited += spent
        return spent

    def _pay_at_once(self, amount: float) -> bool:
        """The common case, in few words because it is paid for with every chunk."""
        fd, memory = self._fd, self._memory
        with self._lock:
            flock(fd, LOCK_EX)
            try:
                rate, expiry, fallback, depth, promised, served, moved, at = _unpack(memory, _HEAD)
                now = self._clock()
                served += rate * (now - at)  # NaN when unpaced, which compares as false
                promised += amount
                most = promised - amount + depth
                if served > most:  # noqa: PLR1730 - a call of min would be dear here
                    served = most
                if not (served >= promised and at <= now < expiry and rate == self._seen):
                    return False
                if expiry == _NEVER and memory[:_HEAD] != MAGIC:
                    return False
                _pack(memory, _HEAD, rate, expiry, fallback, depth, promised, served, moved + amount, now)
                return True
            finally:
                flock(fd, LOCK_UN)

    def _settle(self, now: float) -> Numbers:
        """The numbers as they are at `now`, by the rates in force until then."""
        rate, expiry, fallback, depth, promised, served, moved, at = self._read()
        if now >= expiry:
            served = _served(rate, depth, promised, served, expiry - at)
            at, rate, expiry = max(at, expiry), fallback, math.inf
            depth = 0.0 if isnan(rate) else depth_of(rate)
        served = _served(rate, depth, promised, served, now - at)
        return rate, expiry, fallback, depth, promised, served, moved, now

    def _read(self) -> Numbers:
        return _unpack(self._memory, _HEAD)

    def _write(self, *numbers: float) -> None:
        _pack(self._memory, _HEAD, *numbers)

    def _byte_lock(self, command: int, kind: int, number: int) -> int:
        # The kind that owns a lock by its open file: a process's other locks on the file do not touch it.
        asked = _BYTE_LOCK.pack(kind, os.SEEK_SET, SIZE + number, 1, 0)
        found: int = _BYTE_LOCK.unpack(fcntl(self._fd, command, asked))[0]
        return found

    def _reopen(self) -> None:
        """In a forked child: an open file of its own, so that it and its parent shut each other out."""
        mine = os.open(f"/proc/self/fd/{self._fd}", os.O_RDWR | os.O_CLOEXEC)
        os.close(self._fd)
        self._fd, self._lock = mine, threading.Lock()


class Claim:
    """Somebody who waits until as much is served as was promised when it came."""

    __slots__ = ("amount", "inner", "mark", "paid", "since")

    def __init__(self, amount: float, since: float = 0.0) -> None:
        self.amount, self.since = amount, since
        self.mark: float | None = None
        self.paid = False
        self.inner: Claim | None = None  # on what the node has in common


class _Held:
    """The lock on the segment. It belongs to the open file, which threads share: they need a lock among them, too."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> None:
        flock(self._fd, LOCK_EX)

    def __exit__(self, *_: object) -> None:
        flock(self._fd, LOCK_UN)


def _served(rate: float, depth: float, promised: float, served: float, seconds: float) -> float:
    """What has been served `seconds` later; never ahead of the promises by more than a bucket holds."""
    if isnan(rate):
        return promised
    if seconds > 0.0:
        served += rate * seconds
    most = promised + depth
    return most if served > most else served


def _number(rate: float | None) -> float:
    return math.nan if rate is None else rate


def _maybe(rate: float) -> float | None:
    return None if isnan(rate) else rate


def _check(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode) or found.st_size != SIZE:
        raise BadSegment(f"{path} is no bucket of this version of penstock")
    if found.st_uid not in (os.geteuid(), 0):
        raise BadSegment(f"{path} belongs to user {found.st_uid}; only one's own bucket and root's are used")


_segments: weakref.WeakSet[SharedBucket] = weakref.WeakSet()


def _reopen_all() -> None:
    for segment in list(_segments):
        segment._reopen()


os.register_at_fork(after_in_child=_reopen_all)
