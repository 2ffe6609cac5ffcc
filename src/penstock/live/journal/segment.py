"""A file of a controller's journal: a line that says so, a version, a header, then `u32 length, u32 crc32, bytes` each.

A write that a killed process did not finish leaves the beginning of a record at the end of the file: torn. Anything
else that does not fit is damage, and whoever reads the file decides what that means.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from penstock.live.journal.errors import JournalDamaged, JournalError
from penstock.live.journal.folder import explained

MAGIC = b"penstock journal\n"
SNAPSHOT_MAGIC = b"penstock snapshot\n"
VERSION = 1
MOST = 1 << 24  # bytes of a record; more is a length that was damaged
COLD = "`penstock serve --grace` starts without what the journal knows"

_PREFIX = struct.Struct(">II")
_NUMBER = struct.Struct(">I")


class Header(msgspec.Struct, frozen=True, omit_defaults=False):
    """What is the same for all records of a segment; what a replay needs to begin with."""

    epoch: int
    first: int  # number of the first record
    boot_id: str
    offset: float  # what the controller's clock shows above the machine's
    wall: float  # seconds since 1970 when its clock showed `time`: for people only
    time: float
    boot: float  # when its clock started in this epoch
    warm: bool
    settings: dict[str, Any] = {}
    policy: str = ""
    policy_code: str = ""
    core_code: str = ""
    cluster: str = ""


class SnapshotHeader(msgspec.Struct, frozen=True):
    """Which moment a snapshot is of."""

    seq: int
    time: float
    epoch: int


@dataclass(frozen=True)
class SegmentContents:
    """What a segment holds, as far as it is intact."""

    path: Path
    header: Header
    records: list[bytes]
    intact: int  # bytes
    size: int
    damaged: bool  # something is wrong at `intact` that an unfinished write does not explain

    @property
    def torn(self) -> bool:
        """Whether it ends in the beginning of a record."""
        return self.intact < self.size and not self.damaged


def pack(payload: bytes) -> bytes:
    """A record as it lies in a segment."""
    return _PREFIX.pack(len(payload), zlib.crc32(payload)) + payload


def opening(header: Header) -> bytes:
    """How a segment begins."""
    return MAGIC + _NUMBER.pack(VERSION) + pack(msgspec.msgpack.encode(header))


def load(path: Path) -> SegmentContents | None:
    """A segment; None if its opening was never finished."""
    data = _bytes_of(path)
    start = _check_opening(path, data, MAGIC)
    if start is None:
        return None
    records, intact, damaged = _scan(data, start)
    if not records:
        if damaged:
            raise JournalDamaged(f"{path}: its header is damaged; {COLD}")
        return None
    try:
        header = msgspec.msgpack.decode(records[0], type=Header)
    except msgspec.DecodeError as error:
        raise JournalDamaged(f"{path}: its header is damaged ({error}); {COLD}") from None
    return SegmentContents(path, header, records[1:], intact, len(data), damaged)


def snapshot_bytes(header: SnapshotHeader, state: bytes) -> bytes:
    """A snapshot as a file."""
    return SNAPSHOT_MAGIC + _NUMBER.pack(VERSION) + pack(msgspec.msgpack.encode(header)) + pack(state)


def load_snapshot(path: Path) -> tuple[SnapshotHeader, bytes] | None:
    """The moment and the state of a snapshot; None if it is damaged."""
    data = _bytes_of(path)
    start = _check_opening(path, data, SNAPSHOT_MAGIC)
    if start is None:
        return None
    records, intact, _ = _scan(data, start, most=len(data))
    if len(records) != 2 or intact != len(data):
        return None
    try:
        return msgspec.msgpack.decode(records[0], type=SnapshotHeader), records[1]
    except msgspec.DecodeError:
        return None


def _bytes_of(path: Path) -> bytes:
    with explained(path, "read"):
        data = path.read_bytes()
    if path.suffix != ".gz":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise JournalDamaged(f"{path}: cannot be unpacked ({error}); {COLD}") from None


def _check_opening(path: Path, data: bytes, magic: bytes) -> int | None:
    """Where the header begins; None if the file ends before."""
    if not data.startswith(magic):
        if magic.startswith(data[: len(magic)]) or not data.strip(b"\0"):
            return None
        raise JournalDamaged(f"{path}: does not begin as a file of a journal; {COLD}")
    start = len(magic) + _NUMBER.size
    if len(data) < start:
        return None
    (version,) = _NUMBER.unpack_from(data, len(magic))
    if version > VERSION:
        raise JournalError(
            f"{path}: was written by a newer penstock (journal version {version}; this one reads up to {VERSION}); "
            "install that one, or give another folder"
        )
    return start


def _scan(data: bytes, start: int, most: int = MOST) -> tuple[list[bytes], int, bool]:
    """The intact records, where they end, and whether what follows is damage."""
    records: list[bytes] = []
    size = len(data)
    while size - start >= _PREFIX.size:
        length, crc = _PREFIX.unpack_from(data, start)
        end = start + _PREFIX.size + length
        if not 0 < length <= most:
            return records, start, True
        if end > size:
            return records, start, _record_after(data, start + 1)
        payload = data[start + _PREFIX.size : end]
        if zlib.crc32(payload) != crc:
            return records, start, True
        records.append(payload)
        start = end
    return records, start, False


def _record_after(data: bytes, start: int) -> bool:
    """Whether an intact record lies anywhere from `start` on: then the one before it was not torn but damaged."""
    size = len(data)
    for place in range(start, size - _PREFIX.size):
        length, crc = _PREFIX.unpack_from(data, place)
        end = place + _PREFIX.size + length
        if 8 < length <= size - place and end <= size and zlib.crc32(data[place + _PREFIX.size : end]) == crc:
            return True
    return False
