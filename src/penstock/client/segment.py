"""The segment of a job on a node: the owner of the connection says how fast it may go, its processes what they moved.

`shim/segment.h` is the same in C, and says how it works: lanes, marks, and who writes what. Here are the owner's side
(`set_rate`, `set_allowance`, `keep_alive`, …), what can be read, and the names and places of segments.

A segment belongs to the job's user and nobody else may open it. It is found by its path, in PENSTOCK_BUCKET.
"""

from __future__ import annotations

import math
import mmap
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import overload

from penstock.client.bells import bell_of, hear_bell, make_bell, ring
from penstock.client.bucket import Clock, boottime
from penstock.client.lanes import (
    NEVER,
    Counts,
    Kind,
    Lane,
    depth_for,
    exclusive_or,
    lane_of,
    nanoseconds,
    number,
    seconds_of,
    slot_of,
    unpaced,
)
from penstock.errors import PenstockError

__all__ = [
    "FOLDER",
    "MOST_DEVICES",
    "PROMISED",
    "READ",
    "SIZE",
    "WRITTEN",
    "BadSegment",
    "Counts",
    "Kind",
    "Lane",
    "Segment",
    "State",
    "announce",
    "bell_of",
    "count_written",
    "hear_bell",
    "make_bell",
    "segment_path",
]

FOLDER = Path("/dev/shm")
MAGIC = int.from_bytes(b"penseg01", "little")
SIZE = 1024
MOST_DEVICES = 16
LONGEST_COMMON = 192  # bytes of a path, with the zero behind it
WAITING = 0.25  # seconds: who waits says so more often than that
_LOOKS = 1000  # at a lane that is being written
STRANGE, NO_WRITES, NO_READS = 1, 2, 4  # flags: no controller has named a rate; what is not paced and not counted

# Words of eight bytes, counted from the start.
_MAGIC, _SIZE, _ALIVE, _STATE, _FLAGS, _DEVICES, _RESTART, _OWNER, _SEQ = range(9)
_SLOTS, _DEVICE, _PROMISED, _COUNTS = 16, 48, (64, 72), 80
PROMISED, WRITTEN, READ, _LAST, _WANT, _LAST_CLOSE, _BELL = 64, *range(_COUNTS, _COUNTS + 6)
_BEGUN, _ANNOUNCED = _COUNTS + 12, _COUNTS + 14
_COMMON = 96 * 8  # in bytes


class BadSegment(PenstockError):
    """A file that is no segment of this version, or not ours."""


class State(IntEnum):
    """What the owner is doing for this segment; payers do not look at it."""

    NEW = 0
    IDLE = 1  # nothing announced
    WAIT = 2  # announced, not answered yet
    PACED = 3  # at the rate granted
    FALLBACK = 4
    FREE = 5  # unpaced by the controller's word
    OFF = 6  # switched off


def segment_path(job: str, restart: int = 0, uid: int | None = None, folder: Path = FOLDER) -> Path:
    """Where the segment of a job on this node is, for each time that the batch system started it.

    >>> segment_path("1234", 1, 1000).name
    'penstock-job.1000.1.1234'
    """
    return folder / f"penstock-job.{os.geteuid() if uid is None else uid}.{restart}.{job.replace('/', '_')}"


class FileWords:
    """Words of a file that is not mapped: each look and each word is a call to the kernel, and none can be fatal."""

    def __init__(self, fd: int, kind: str) -> None:
        self._fd, self._kind = fd, kind

    @overload
    def __getitem__(self, place: int) -> int: ...

    @overload
    def __getitem__(self, place: slice) -> memoryview: ...

    def __getitem__(self, place: int | slice) -> int | memoryview:
        first, end = (place, place + 1) if isinstance(place, int) else (place.start, place.stop)
        data = os.pread(self._fd, 8 * (end - first), 8 * first)
        if len(data) < 8 * (end - first):
            raise BadSegment("a segment was cut short")
        words = memoryview(data).cast(self._kind)  # type: ignore[call-overload]
        return words[0] if isinstance(place, int) else words  # type: ignore[no-any-return]

    def __setitem__(self, place: int | slice, value: int | memoryview) -> None:
        first = place if isinstance(place, int) else place.start
        data = struct.pack(f"<{self._kind}", value) if isinstance(value, int) else bytes(value)
        os.pwrite(self._fd, data, 8 * first)

    def release(self) -> None:
        """Nothing is held."""


Words = FileWords | memoryview


class Segment:
    """A segment that is open: read by anybody, written by its owner; payers are in `shared_bucket` and the shim.

    An owner that is not the job's user does not map it: cut short by its user, a mapped file ends whoever looks at it.
    """

    def __init__(self, path: str | Path, clock: Clock = boottime, mapped: bool = True) -> None:
        self.path = Path(path)
        self.clock = clock
        self._owned: dict[Kind, tuple[int, Lane]] = {}  # what we wrote last, and its number
        self.fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            _check(self.path, os.fstat(self.fd))
            self.words: Words
            self._signed: Words
            if mapped:
                self.memory = mmap.mmap(self.fd, SIZE)
                self.words, self._signed = memoryview(self.memory).cast("Q"), memoryview(self.memory).cast("q")
            else:
                self.words, self._signed = FileWords(self.fd, "Q"), FileWords(self.fd, "q")
            if (self.words[_MAGIC], self.words[_SIZE]) != (MAGIC, SIZE):
                raise BadSegment(f"{self.path} is no bucket of this version of penstock")
        except BaseException:
            os.close(self.fd)
            raise

    @classmethod
    def make(
        cls, path: str | Path, clock: Clock = boottime, *, user: tuple[int, int] | None = None, restart: int = 0
    ) -> Segment:
        """A new one in place of any that is there, unpaced at first, complete before anybody finds it.

        `user` is whom it is to belong to, by uid and gid, where that is not us.
        """
        path = Path(path)
        new = path.with_name(f".{path.name[:200]}.{os.urandom(4).hex()}")
        fd = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            words = memoryview(bytearray(SIZE)).cast("Q")
            words[_MAGIC], words[_SIZE], words[_ALIVE] = MAGIC, SIZE, NEVER
            words[_RESTART], words[_OWNER] = restart, os.getpid()
            for kind in Kind:
                words[_SLOTS + 16 * kind : _SLOTS + 16 * kind + 8] = slot_of(0, unpaced(clock()))
            os.write(fd, words)  # not through a mapping: on a full disk that would end us
            if user is not None:
                os.fchown(fd, *user)
            os.rename(new, path)
        except BaseException:
            os.unlink(new)
            raise
        finally:
            os.close(fd)
        return cls(path, clock)

    def remove(self) -> None:
        """Take it and its bell away; processes that have it open go on with it."""
        self.path.unlink(missing_ok=True)
        bell_of(self.path).unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of it in this process."""
        for view in (self.words, self._signed):
            view.release()
        with suppress(BufferError, AttributeError):  # the library still looks at it, or it was never mapped
            self.memory.close()
        os.close(self.fd)

    # For the owner.

    def set_rate(
        self, rate: float | None, expiry: float = math.inf, fallback: float | None = None, kind: Kind = Kind.BYTES
    ) -> None:
        """Pace all processes at `rate` until `expiry`, then at `fallback`; None: unpaced."""
        now = self.clock()
        depth = 0.0 if rate is None else depth_for(kind, rate)
        self._write(kind, Lane(self._settled(kind, now), number(rate), now, expiry, number(fallback), depth))

    def set_allowance(self, amount: float, fallback: float | None = None, kind: Kind = Kind.BYTES) -> None:
        """Let so much pass at any speed; who wants more waits, says so, and rings. For jobs that announced nothing."""
        base = self._signed[_PROMISED[kind]] + amount
        self._write(kind, Lane(base, 0.0, self.clock(), math.inf, number(fallback), amount))

    def keep_alive(self, until: float) -> None:
        """Say that the owner lives; past that time the job goes by its fallback, or unpaced if there is none."""
        now = self.clock()
        if now >= self.alive_until:  # what the fallback served meanwhile stays served
            for kind in Kind:
                self._write(kind, self.lane(kind)._replace(base=self._settled(kind, now), at=now))
        self._signed[_ALIVE] = nanoseconds(until)

    def set_devices(self, devices: Iterable[int]) -> None:
        """Pace files on these (`st_dev`) only; none: all files. More than fit are as none."""
        listed = list(dict.fromkeys(devices))
        self.words[_DEVICES] = 0
        if len(listed) <= MOST_DEVICES:
            for place, device in enumerate(listed):
                self.words[_DEVICE + place] = device
            self.words[_DEVICES] = len(listed)

    def set_common(self, path: Path | None) -> None:
        """While no controller has named a rate, processes pay from this segment, too; None: one has."""
        text = b"" if path is None else os.fsencode(path)
        if len(text) < LONGEST_COMMON:
            self._flag(STRANGE, False)
            self.memory[_COMMON : _COMMON + LONGEST_COMMON] = text.ljust(LONGEST_COMMON, b"\0")
        self._flag(STRANGE, path is not None)

    def set_ways(self, writes: bool, reads: bool) -> None:
        """Whether what is written and what is read is paced and counted."""
        self._flag(NO_WRITES, not writes)
        self._flag(NO_READS, not reads)

    def _flag(self, flag: int, on: bool) -> None:
        self.words[_FLAGS] = self.words[_FLAGS] & ~flag | (flag if on else 0)

    def set_state(self, state: State) -> None:
        """What the owner is doing."""
        self.words[_STATE] = state

    def answer(self) -> bool:
        """Whether somebody rang; the bell can ring again from now on. Look at `counts` after this, not before."""
        rang, self.words[_BELL] = bool(self.words[_BELL]), 0
        return rang

    # For all.

    @property
    def state(self) -> State:
        """What the owner is doing."""
        return State(self.words[_STATE])

    @property
    def restart(self) -> int:
        """How often the batch system had started the job before."""
        return self.words[_RESTART]

    @property
    def strange(self) -> bool:
        """Whether no controller has named a rate."""
        return bool(self.words[_FLAGS] & STRANGE)

    @property
    def devices(self) -> tuple[int, ...]:
        """On which files are paced; none: on all."""
        return tuple(self.words[_DEVICE : _DEVICE + self.words[_DEVICES]])

    @property
    def alive_until(self) -> float:
        """When the owner counts as dead."""
        return seconds_of(self._signed[_ALIVE])

    def lane(self, kind: Kind = Kind.BYTES) -> Lane:
        """The lane in force. An owner knows what it wrote, whatever the job's user made of it."""
        if kind in self._owned:
            return self._owned[kind][1]
        return self._found(kind)

    def _found(self, kind: Kind) -> Lane:
        for _ in range(_LOOKS):
            seq = self.words[_SEQ + kind]
            start = _SLOTS + 16 * kind + 8 * (seq & 1)
            words = self.words[start : start + 8].tolist()
            if words[0] == seq and exclusive_or(words) == 0:
                return lane_of(words)
        raise BadSegment(f"{self.path} is damaged")

    def served(self, kind: Kind = Kind.BYTES) -> tuple[float, float, float]:
        """What is served by now, the rate in force, and how much may be saved up."""
        return self.lane(kind).served(self.clock(), self.alive_until, kind)

    def promised(self, kind: Kind = Kind.BYTES) -> int:
        """What is spoken for."""
        return self._signed[_PROMISED[kind]]

    def counts(self) -> Counts:
        """What the processes say now."""
        written, read, last, want, last_close, bell, waited, _, *more = self._signed[_COUNTS : _COUNTS + 16].tolist()
        return Counts(written, read, last / 1e9, want / 1e9, last_close / 1e9, bool(bell), waited / 1e9, *more)

    def waiting(self) -> bool:
        """Whether somebody waits. One that was killed meanwhile counts for a moment longer."""
        return self.clock() - self._signed[_WANT] / 1e9 < WAITING

    # For those who pay; `paying` sees to it that they do not get in each other's way.

    def set_promised(self, mark: int) -> None:
        """So much is spoken for."""
        self._signed[PROMISED] = mark

    def add(self, word: int, amount: int) -> None:
        """Add to a word."""
        self._signed[word] += amount

    def announce(self, amount: int, direction: str) -> None:
        """Say how much will be moved, as penstock_begin does; `end_announced` when it was. For one process of a job."""
        self.add(_ANNOUNCED + (direction == "read"), amount)
        self.add(_BEGUN, 1)
        self._ring()

    def end_announced(self) -> None:
        """What was announced is over."""
        self.add(_BEGUN + 1, 1)
        self._ring()

    def say_want(self) -> None:
        """Somebody waits now, and rings."""
        self._signed[_WANT] = round(self.clock() * 1e9)
        self._ring()

    def _ring(self) -> None:
        if not self.words[_BELL]:
            self.words[_BELL] = 1
            ring(self.path)

    def say_moved(self, now: float) -> None:
        """Bytes were paid for."""
        self._signed[_LAST] = round(now * 1e9)

    def reopen(self) -> None:
        """In a forked child: an open file of its own, so that it and its parent shut each other out."""
        mine = os.open(f"/proc/self/fd/{self.fd}", os.O_RDWR | os.O_CLOEXEC)
        os.close(self.fd)
        self.fd = mine

    def _settled(self, kind: Kind, now: float) -> float:
        """What is served by now, of which no more can be saved up than the bucket held so far."""
        served, rate, depth = self.lane(kind).served(now, self.alive_until, kind)
        promised = self._signed[_PROMISED[kind]]
        return float(promised) if math.isnan(rate) else min(served, promised + depth)

    def _write(self, kind: Kind, lane: Lane) -> None:
        seq = (self._owned[kind][0] if kind in self._owned else self.words[_SEQ + kind]) + 1
        start = _SLOTS + 16 * kind + 8 * (seq & 1)
        self._owned[kind] = seq, lane
        self.words[start : start + 8] = slot_of(seq, lane)
        self.words[_SEQ + kind] = seq


def _check(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode) or found.st_size != SIZE:
        raise BadSegment(f"{path} is no bucket of this version of penstock")
    if found.st_uid not in (os.geteuid(), 0) and os.geteuid() != 0:
        raise BadSegment(f"{path} belongs to user {found.st_uid}; only one's own bucket and root's are used")


def count_written(segment: Segment, amount: int) -> None:
    """What a program of one process says when it has written so much."""
    segment._signed[_COUNTS] += amount
    segment._signed[_LAST] = nanoseconds(segment.clock())


def announce(segment: Segment, volume: int) -> None:
    """What penstock_begin says in a program of one process."""
    segment._signed[_COUNTS + 12] += 1
    segment._signed[_COUNTS + 14] += volume
