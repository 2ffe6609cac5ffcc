"""A folder in which a batch system's hooks leave word, from which it goes over the wire to the controller.

A hook runs where a failure costs nodes: a prolog that exits with 1 drains its node, and one that waits delays its job.
So it writes one small file, renames it and is done, whether or not anybody reads it:

    kind=job_end
    job=4711
    restart=0
    uid=1000
    node=n17

The file is called BOOT.UPTIME.PID, so that the order is known without a clock that may be set, and without starting a
program to ask for the time. A file is removed once the controller has answered. What it refuses for now stays, and all
that came after it; what is no word of a hook is removed and counted.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from penstock.errors import PenstockError
from penstock.wire.hostlist import BadHostlist, expand
from penstock.wire.messages import Hook

KINDS = ("job_start", "job_ending", "job_end")
FOLDER = "/run/penstock/spool"  # of a node; hooks of the batch system's controller have another
READER = "agent"  # the file with the number of the process that reads
MOST_AT_ONCE = 1000  # events that one look hands out
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds, doubled after each refusal
_LARGEST = 128 << 10  # bytes of a file
_LEFT_OVER = 3600.0  # seconds after which a file that was never renamed is nobody's
_FILE = re.compile(r"(?P<boot>[0-9a-f]{8})\.(?P<uptime>\d{1,12}\.\d{1,3})\.(?P<pid>\d{1,10})")
_WORD = re.compile(r"[\w.@:+-]{0,256}", re.ASCII)
_WHOLE = {"restart": 2**31, "uid": 2**32 - 1, "gid": 2**32 - 1, "nodes": 100_000, "ends": 2**40}
_TEXT = ("job", "user", "account", "node", "volume")
_OTHER = ("kind", "node_list")


class UntrustedSpool(PenstockError):
    """A folder that others may write in."""


class Garbage(ValueError):
    """A file that no hook of ours has written."""


class RefusedForNow(Exception):
    """Raised by whoever is told an event that cannot be taken yet: the controller is away, or busy."""


class RefusedForGood(Exception):
    """Raised by whoever is told an event that will never be taken."""


class Event(msgspec.Struct, frozen=True):
    """What happened to a job, as its hook knew it; `ends`: when its time is over, in seconds since 1970."""

    kind: str
    job: str
    restart: int = 0
    uid: int = -1
    gid: int = -1
    user: str = ""
    account: str = ""
    node: str = ""
    node_names: tuple[str, ...] = ()
    nodes: int = 1
    ends: int | None = None
    volume: str = ""  # of one phase, if the user said so, such as 10GB
    file: str = ""

    def hook(self, req: int = 0, now: Callable[[], float] = time.time) -> Hook:
        """As the controller is told it."""
        return Hook(req, self.kind, self.job, **self.known(now))

    def known(self, now: Callable[[], float] = time.time) -> dict[str, Any]:
        """All of it but the kind and the job. On which node a job starts is the agent's concern only."""
        return {
            "node": "" if self.kind == "job_start" else self.node,
            "uid": self.uid,
            "nodes": max(self.nodes, 1),
            "seconds_left": None if self.ends is None else max(0.0, self.ends - now()),
            "account": self.account,
            "restart": self.restart,
            "node_names": self.node_names,
        }


def parse(data: bytes, file: str = "") -> Event:
    """The event in a file; `Garbage` unless every line of it is one that a hook writes."""
    if len(data) > _LARGEST:
        raise Garbage(f"more than {_LARGEST} bytes")
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise Garbage("not ASCII") from None
    if not text.endswith("\n"):
        raise Garbage("cut off in the middle of a line")
    found: dict[str, Any] = {"file": file}
    for line in text[:-1].split("\n"):
        key, equals, value = line.partition("=")
        if not equals or key in found:
            raise Garbage(f"{line[:80]!r} is no line of a hook" if not equals else f"{key[:80]!r} twice")
        found[key] = _value(key, value)
    return _event(found)


def _value(key: str, value: str) -> Any:
    if key in _WHOLE:
        if value and not re.fullmatch(r"\d{1,15}", value, re.ASCII):
            raise Garbage(f"{key} is {value[:80]!r}; a whole number is expected")
        if value and int(value) > _WHOLE[key]:
            raise Garbage(f"{key} is {value}; at most {_WHOLE[key]} is accepted")
        return int(value) if value else None
    if key in _TEXT and not _WORD.fullmatch(value):
        raise Garbage(f"{key} is {value[:80]!r}; a word is expected")
    if key not in _TEXT and key not in _OTHER:
        raise Garbage(f"{key[:80]!r} is not known")
    return value


def _event(found: dict[str, Any]) -> Event:
    kind = found.get("kind")
    if kind not in KINDS:
        raise Garbage(f"kind is {str(kind)[:80]!r}; known: {', '.join(KINDS)}")
    if not found.get("job"):
        raise Garbage("no job")
    if kind == "job_end" and not found.get("node"):
        raise Garbage("a job_end without its node would free what other nodes use")
    try:
        names = expand(found.pop("node_list", ""))
    except BadHostlist as error:
        raise Garbage(f"node_list: {error}") from None
    known = {name: value for name, value in found.items() if value is not None}
    return Event(**{**known, "nodes": max(known.get("nodes", 1), len(names)), "node_names": names})


@dataclass(eq=False)
class Spool:
    """One folder. Only what its owner alone can write is believed, and only of these owners."""

    path: str = FOLDER
    owners: frozenset[int] = field(default_factory=lambda: frozenset({0, os.geteuid()}))
    clock: Callable[[], float] = time.monotonic
    answered_count: int = 0
    refused_count: int = 0
    dropped_count: int = 0
    last_dropped: str = ""  # why
    _tries: int = 0
    _next: float = 0.0

    def make(self) -> None:
        """Make the folder, if it is not there."""
        os.makedirs(self.path, mode=0o700, exist_ok=True)

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Tell hooks that somebody reads: they may then wait a moment for what comes of their word."""
        self.make()
        place, draft = os.path.join(self.path, READER), os.path.join(self.path, f".{READER}")
        with open(draft, "w", encoding="ascii") as file:
            file.write(f"{os.getpid()}\n")
        os.replace(draft, place)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.unlink(place)

    @property
    def wait(self) -> float:
        """Seconds for which nothing is to be tried, since the controller refused the last event."""
        return max(0.0, self._next - self.clock())

    def pending(self, most: int = MOST_AT_ONCE) -> list[Event]:
        """The first events that wait, in order; none while `wait` is not over. Garbage is removed."""
        if self.wait > 0.0:
            return []
        with self._opened() as folder:
            found = [] if folder is None else sorted(self._files(folder))[:most]
            events = [self._read(folder, name) for _, name in found] if folder is not None else []
        return [event for event in events if event is not None]

    def answered(self, event: Event) -> None:
        """The controller has it: it need not be kept."""
        self._tries, self._next = 0, 0.0
        self.answered_count += 1
        self._remove(event.file)

    def refused(self) -> None:
        """The controller did not take the event that is first; try again later."""
        self.refused_count += 1
        self._next = self.clock() + min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(self._tries, 10))
        self._tries += 1

    def drop(self, event: Event, reason: str) -> None:
        """The controller will never take this one."""
        self._dropped(event.file, reason)
        self._remove(event.file)

    def forward(self, tell: Callable[[Event], object]) -> int:
        """Tell all that waits, in order, until one is refused for now; how many were taken."""
        taken = 0
        for event in self.pending():
            try:
                tell(event)
            except RefusedForNow:
                self.refused()
                break
            except RefusedForGood as error:
                self.drop(event, str(error))
            else:
                self.answered(event)
                taken += 1
        return taken

    @contextmanager
    def _opened(self) -> Iterator[int | None]:
        """The folder, if it is there and can be believed."""
        try:
            folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            raise UntrustedSpool(f"{self.path} cannot be read as a spool ({error.strerror})") from None
        try:
            found = os.fstat(folder)
            if found.st_uid not in self.owners or found.st_mode & 0o022:
                owner = f"it belongs to user {found.st_uid}" if found.st_uid not in self.owners else "others may write"
                raise UntrustedSpool(
                    f"{self.path} is not believed: {owner}; a spool is 0700 and its reader's or root's"
                )
            yield folder
        finally:
            os.close(folder)

    def _files(self, folder: int) -> Iterator[tuple[tuple[Any, ...], str]]:
        """Names of finished files, each with its place in the order: what was written before this boot comes first."""
        boot = this_boot()
        for name, found in _stats(folder, os.listdir(folder)):
            if name.startswith("."):
                if time.time() - found.st_mtime > _LEFT_OVER:
                    _unlink(name, folder)
            elif shape := _FILE.fullmatch(name):
                uptime = float(shape["uptime"]) if shape["boot"] == boot else -1.0
                yield (uptime, found.st_mtime_ns, name), name

    def _read(self, folder: int, name: str) -> Event | None:
        try:
            return parse(self._content(folder, name), name)
        except FileNotFoundError:
            return None
        except (OSError, Garbage) as error:
            self._dropped(name, error.strerror or "" if isinstance(error, OSError) else str(error))
            _unlink(name, folder)
            return None

    def _content(self, folder: int, name: str) -> bytes:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(file, "rb") as opened:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_uid not in self.owners or found.st_mode & 0o022:
                raise Garbage("not a file that its owner alone can write")
            return opened.read(_LARGEST + 1)

    def _dropped(self, name: str, reason: str) -> None:
        self.dropped_count += 1
        self.last_dropped = f"{name}: {reason}"

    def _remove(self, name: str) -> None:
        with self._opened() as folder:
            if folder is not None and name:
                _unlink(name, folder)


def this_boot() -> str:
    """The first letters of what the kernel calls the time since it was started."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(8)
    except OSError:
        return ""


def _stats(folder: int, names: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            yield name, os.stat(name, dir_fd=folder, follow_symlinks=False)


def _unlink(name: str, folder: int) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=folder)
