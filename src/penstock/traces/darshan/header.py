"""The first bytes of a log, looked at before the C library is: it ends the whole process over some damaged files.

    char version[8]; int64 magic; uchar compression; uint flags; {uint64 offset, length} names, modules[16 or 64];
    uint32 versions[16 or 64]

Logs of format 3.41 have room for 64 modules and 64-bit flags, older ones for 16 and 32-bit flags. Every part that the
header names must lie inside the file: that is how a log that was cut off, or is still being written, shows.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from penstock.traces.darshan.errors import BadLog

KNOWN = ("3.00", "3.10", "3.20", "3.21", "3.41")
MAGIC = 6567223
_VERSION = re.compile(rb"(\d+\.\d+)\0")


def byte_order(file: Path) -> str:
    """`<` or `>`, if this is a log that the library can be trusted with; otherwise the reason is raised."""
    size = _size(file)
    with file.open("rb") as stream:
        start = stream.read(2048)
    match = _VERSION.match(start[:8])
    if match is None:
        raise BadLog("is no Darshan log (it does not begin with a version)")
    version = match[1].decode()
    if version not in KNOWN:
        newer = _newer(version)
        raise BadLog(f"has format {version}; {'newer than' if newer else 'not among'} those known, up to {KNOWN[-1]}")
    return _checked(start, size, 64 if version == KNOWN[-1] else 16)


def _size(file: Path) -> int:
    try:
        status = file.stat()
    except FileNotFoundError:
        raise BadLog("is not there") from None
    except OSError as error:
        raise BadLog(f"cannot be read: {error.strerror}") from None
    if S_ISDIR(status.st_mode):
        raise BadLog("is a directory")
    if not S_ISREG(status.st_mode):
        raise BadLog("is not a regular file")
    if status.st_size == 0:
        raise BadLog("is empty (0 bytes)")
    return status.st_size


def _newer(version: str) -> bool:
    return tuple(map(int, version.split("."))) > tuple(map(int, KNOWN[-1].split(".")))


def _checked(start: bytes, size: int, modules: int) -> str:
    wide = modules == 64
    layout = f"8sqB{'7xQ' if wide else '3xL'}{2 * (1 + modules)}Q{modules}L"
    if len(start) < struct.calcsize("<" + layout):
        raise BadLog("is cut off in its header")
    for order in "<>":
        fields = struct.unpack_from(order + layout, start)
        if fields[1] == MAGIC:
            _check_parts(fields[4 : 4 + 2 * (1 + modules)], size, struct.calcsize(order + layout))
            return order
    raise BadLog("is damaged (the magic number of Darshan is missing)")


def _check_parts(places: tuple[int, ...], size: int, header: int) -> None:
    offsets, lengths = places[::2], places[1::2]
    ends = [offset + length for offset, length in zip(offsets, lengths, strict=True)]
    if max(ends) > size:
        raise BadLog(f"is cut off: it has {size:,} bytes of {max(ends):,}")
    starts = [offset for offset, length in zip(offsets, lengths, strict=True) if offset or length]
    if min(starts, default=size) <= header:
        raise BadLog("is damaged (its parts overlap)")
