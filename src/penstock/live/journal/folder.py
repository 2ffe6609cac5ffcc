"""The folder of a controller's journal: which file is what, who holds it, and the epoch.

epoch                           a number that rises at every start, before anybody is listened to
lock                            held by the one controller that writes here
00000007-000000051234.pj        records from number 51234 on, written in epoch 7; `.pj.gz` once nobody writes it
000000051233.snap               the state after record 51233
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from penstock.live.journal.errors import JournalError

_SEGMENT = re.compile(r"(\d+)-(\d+)\.pj(\.gz)?")
_SNAPSHOT = re.compile(r"(\d+)\.snap")


@dataclass(frozen=True, order=True)
class SegmentFile:
    """A file of records, in the order of writing."""

    first: int
    epoch: int
    path: Path


@dataclass(frozen=True, order=True)
class SnapshotFile:
    """A file with the state after record `seq`."""

    seq: int
    path: Path


def segment_path(folder: Path, epoch: int, first: int) -> Path:
    """Where the records from number `first` on go."""
    return folder / f"{epoch:08d}-{first:012d}.pj"


def snapshot_path(folder: Path, seq: int) -> Path:
    """Where the state after record `seq` goes."""
    return folder / f"{seq:012d}.snap"


def segments(folder: Path) -> list[SegmentFile]:
    """All files of records, oldest first. Of a segment that is there twice, the one not packed is taken."""
    found: dict[tuple[int, int], SegmentFile] = {}
    for path in sorted(_names(folder)):
        if match := _SEGMENT.fullmatch(path.name):
            epoch, first = int(match[1]), int(match[2])
            found.setdefault((first, epoch), SegmentFile(first, epoch, path))
    return sorted(found.values())


def snapshots(folder: Path) -> list[SnapshotFile]:
    """All snapshots, oldest first."""
    matches = ((_SNAPSHOT.fullmatch(path.name), path) for path in _names(folder))
    return sorted(SnapshotFile(int(match[1]), path) for match, path in matches if match)


def _names(folder: Path) -> list[Path]:
    with explained(folder, "read"):
        return list(folder.iterdir()) if folder.exists() else []


@contextmanager
def explained(place: Path, verb: str) -> Iterator[None]:
    """What fails in the folder becomes one sentence."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise JournalError(f"the journal {place} cannot be {verb} ({reason}); give a folder of its own") from error


class Lock:
    """Keeps a second controller off the folder, until it is closed or the process ends."""

    def __init__(self, folder: Path) -> None:
        with explained(folder, "written"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._file, 20, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise JournalError(
                f"the journal {folder} is in use by {who}; stop that controller first, or give this one another folder"
            ) from None
        with explained(folder, "written"):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Let others in."""
        os.close(self._file)


def in_use(folder: Path) -> bool:
    """Whether a controller writes here now, as far as one may look."""
    try:
        file = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def read_epoch(folder: Path) -> int:
    """The epoch of the last start; 0 before the first."""
    path = folder / "epoch"
    with explained(path, "read"):
        try:
            text = path.read_text("ascii", "replace").strip()
        except FileNotFoundError:
            text = "0"
    if not text.isdecimal():
        raise JournalError(f"{path}: has {text[:20]!r}; expected the whole number of the last epoch")
    return max([int(text), *(segment.epoch for segment in segments(folder))])


def raise_epoch(folder: Path, at_least: int = 0) -> int:
    """The epoch of this start, which is on the disk when this returns."""
    epoch = max(read_epoch(folder) + 1, at_least)
    with explained(folder, "written"):
        write_durably(folder / "epoch", f"{epoch}\n".encode())
    return epoch


def write_durably(path: Path, content: bytes) -> None:
    """A file that is there whole, or not at all, also after a loss of power."""
    draft = path.with_name(f".{path.name}.part")
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640)
        try:
            write_all(file, content)
            os.fsync(file)
        finally:
            os.close(file)
        os.replace(draft, path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_all(file: int, content: bytes) -> None:
    """Every byte, or an OSError."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def boot_id() -> str:
    """What tells one boot of this machine from another."""
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
