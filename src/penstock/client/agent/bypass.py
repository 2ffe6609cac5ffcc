"""What jobs on the agent's node move past segments: the kernel counts all (/proc/PID/io), the shim those that it saw.

Static programs, mapped files, requests to the kernel itself and io_uring do not go through the C library's calls, so
nothing paces them. Here they are found out, as far as the kernel tells: the bytes that the processes of a job fetched
from storage or had written to it, for those that have files on paced devices. What it cannot tell is on which device
the bytes were. When a process has waited for a child, the kernel counts the child's bytes with its own.
"""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from penstock.client.config import as_name

Key = tuple[str, int]  # job and restart, or the path of a bucket and 0
Number = tuple[int, str]  # of a process: its own may be another's later, but not with the same beginning
_PROC = Path("/proc")
_MOST_LOOKED_AT = 20_000  # processes of a node
_ELF_INTERP = 3
_STARTERS = frozenset(
    {"bash", "sh", "dash", "zsh", "tcsh", "csh", "ksh", "slurmstepd", "srun", "env", "sleep", "mpirun"}
)
WORTH_TELLING = float(64 << 20)  # bytes: programs are loaded, and logs written, past every pacer
_WORTH_LOOKING = float(1 << 20)  # bytes of one process, or of its mapped files: the C library maps small ones itself
_LOOKS = 2  # at the environment of a process that is of no job: it may not run its own program yet


@dataclass(frozen=True)
class Bytes:
    """Fetched from storage, and written to it."""

    read: float = 0.0
    written: float = 0.0

    def __add__(self, other: Bytes) -> Bytes:
        return Bytes(self.read + other.read, self.written + other.written)

    def without(self, paid: Bytes) -> float:
        """How many of these nobody paid for. What was read from memory and paid for pays for nothing written."""
        return max(0.0, self.read - paid.read) + max(0.0, self.written - paid.written)


@dataclass(frozen=True)
class Found:
    """Bytes of a job that nobody paid for, and how they may have gone past the pacer."""

    bytes: float
    words: str


@dataclass(frozen=True)
class _Process:
    job: Key | None
    parent: int
    moved: Bytes
    looks: int


class Bypass:
    """The processes of all jobs, from look to look; what those moved that have ended counts on."""

    def __init__(self, proc: Path = _PROC) -> None:
        self._proc = proc
        self._seen: dict[Number, _Process] = {}
        self._ended: dict[Key, Bytes] = {}
        self._ways: dict[Key, set[str]] = {}
        self._users: dict[Key, int] = {}  # for whom processes were looked at last

    def compare(self, users: Mapping[Key, int], devices: Sequence[int], paid: Mapping[Key, Bytes]) -> dict[Key, Found]:
        """What each job moved without paying, of those that moved enough so to be told, and in a way that is known."""
        before = self._seen
        self._seen = dict(self._processes(users))
        self._users = dict(users)
        self._keep_ended(before)
        moved = dict(self._ended)
        for each in self._seen.values():
            if each.job is not None:
                moved[each.job] = moved.get(each.job, Bytes()) + each.moved
        past = {key: moved[key].without(paid.get(key, Bytes())) for key in users if key in moved}
        past = {key: amount for key, amount in past.items() if amount >= WORTH_TELLING}
        for (pid, _), each in self._seen.items():
            if each.job in past and each.moved.without(Bytes()) >= _WORTH_LOOKING:
                self._ways.setdefault(each.job, set()).update(self._ways_of(pid, devices))
        return {key: Found(past[key], ", ".join(sorted(ways))) for key in past if (ways := self._ways.get(key))}

    def program(self, key: Key) -> str:
        """A digest of what a job runs most of, shells and starters left out; empty if that is not known yet."""
        programs = Counter(self._program(pid) for (pid, _), each in self._seen.items() if each.job == key)
        del programs[""]
        return programs.most_common(1)[0][0] if programs else ""

    def _program(self, pid: int) -> str:
        try:
            path = os.readlink(self._proc / str(pid) / "exe")
        except OSError:
            return ""
        return "" if os.path.basename(path) in _STARTERS else blake2b(os.fsencode(path), digest_size=8).hexdigest()

    def forget(self, key: Key) -> None:
        """A job is over."""
        self._ended.pop(key, None)
        self._ways.pop(key, None)

    def _processes(self, users: Mapping[Key, int]) -> Iterator[tuple[Number, _Process]]:
        """Those of the jobs' users, and which job each is of."""
        for pid in self._numbers(set(users.values())):
            parent, began = self._origin(pid)
            last = self._seen.get((pid, began), _Process(None, parent, Bytes(), 0))
            job, moved = last.job, last.moved
            if job is None and (last.looks < _LOOKS or self._users != users):
                job = self._job_of(pid, users)
            if job is not None:
                now = self._moved(pid)
                moved = Bytes(max(moved.read, now.read), max(moved.written, now.written))
            yield (pid, began), _Process(job, parent, moved, last.looks + 1)

    def _numbers(self, owners: set[int]) -> list[int]:
        found: list[int] = []
        with suppress(OSError), os.scandir(self._proc) as entries:
            for entry in entries:
                if entry.name.isdigit() and len(found) < _MOST_LOOKED_AT:
                    with suppress(OSError):
                        if entry.stat().st_uid in owners:
                            found.append(int(entry.name))
        return found

    def _keep_ended(self, before: Mapping[Number, _Process]) -> None:
        """Count the bytes of processes that have ended, but for those that a parent here has in its own count."""
        lived = {pid: each for (pid, _), each in before.items()}
        here = {pid: each.job for (pid, _), each in self._seen.items()}
        for number in before.keys() - self._seen.keys():
            job, parent = before[number].job, before[number].parent
            climbed = {number[0]}
            while here.get(parent) != job and parent in lived and lived[parent].job == job and parent not in climbed:
                climbed.add(parent)
                parent = lived[parent].parent
            if job in self._users and here.get(parent) != job:
                self._ended[job] = self._ended.get(job, Bytes()) + before[number].moved

    def _origin(self, pid: int) -> tuple[int, str]:
        """A process's parent, and when it began."""
        fields = self._text(pid, "stat").rpartition(b")")[2].split()
        return (int(fields[1]), fields[19].decode()) if len(fields) > 19 else (0, "")

    def _job_of(self, pid: int, users: Mapping[Key, int]) -> Key | None:
        """Which job a process is of, by its environment: what it pays from, our own word, and the batch system's."""
        env = dict(item.split(b"=", 1) for item in self._text(pid, "environ").split(b"\0") if b"=" in item)
        text = env.get(b"SLURM_RESTART_COUNT", b"0")
        restart = int(text) if text.isdigit() else 0
        names = (env.get(name, b"").decode(errors="replace") for name in (b"PENSTOCK_JOB", b"SLURM_JOB_ID"))
        bucket = os.fsdecode(env.get(b"PENSTOCK_BUCKET", b""))
        keys = [(bucket, 0), *((as_name(name), restart) for name in names if name)]
        return next((key for key in keys if key in users), None)

    def _moved(self, pid: int) -> Bytes:
        counts = dict(line.split(b": ") for line in self._text(pid, "io").splitlines() if b": " in line)
        return Bytes(float(counts.get(b"read_bytes", 0)), float(counts.get(b"write_bytes", 0)))

    def _ways_of(self, pid: int, devices: Sequence[int]) -> set[str]:
        """How a process may go past its pacer, if it has files where bytes are paced; no devices: everywhere."""
        ways, touches = set(), not devices
        with suppress(OSError), os.scandir(self._proc / str(pid) / "fd") as entries:
            for entry in entries:
                with suppress(OSError):
                    target = os.readlink(entry.path)
                    touches |= target.startswith("/") and os.stat(entry.path).st_dev in devices
                    if "io_uring" in target:
                        ways.add("io_uring")
        maps = [line.split(None, 5) for line in self._text(pid, "maps").decode(errors="replace").splitlines()]
        maps = [fields for fields in maps if len(fields) == 6]
        if any(fields[5].startswith("/[aio]") for fields in maps):
            ways.add("libaio")
        if _shared(maps, devices) >= _WORTH_LOOKING:
            ways.add("mmap")
            touches = True
        if touches and self._is_static(pid):
            ways.add("static")
        return ways if touches else set()

    def _is_static(self, pid: int) -> bool:
        """Whether a program has no loader, and so nothing that could preload a shim."""
        with suppress(OSError, struct.error), open(self._proc / str(pid) / "exe", "rb") as program:
            head = program.read(64)
            if head[:5] != b"\x7fELF\x02":
                return False
            start, size, count = struct.unpack_from("<Q14x2H", head, 32)
            program.seek(start)
            table = program.read(size * count)
            kinds = [struct.unpack_from("<I", table, place * size)[0] for place in range(count)]
            return _ELF_INTERP not in kinds
        return False

    def _text(self, pid: int, name: str) -> bytes:
        try:
            return (self._proc / str(pid) / name).read_bytes()
        except OSError:
            return b""


def _shared(maps: Iterable[Sequence[str]], devices: Sequence[int]) -> int:
    """Bytes of files that a process has mapped so that what it writes is the file's; memory in /dev is none."""
    found = 0
    for span, rights, _, device, inode, path in maps:
        if rights[3] == "s" and inode != "0" and not path.startswith(("/dev/", "/memfd:", "/SYSV", "/[")):
            first, _, end = span.partition("-")
            found += int(end, 16) - int(first, 16) if not devices or _device(device) in devices else 0
    return found


def _device(text: str) -> int:
    major, _, minor = text.partition(":")
    return os.makedev(int(major, 16), int(minor, 16))
