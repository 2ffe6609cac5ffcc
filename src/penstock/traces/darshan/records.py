"""Records of a log's modules as columns.

A module's raw stream is ten times as quick to read as its records, which the library hands out one at a time. So DXT,
heat maps, Lustre's layouts and counters of the versions in use are read as a stream; for other counters the library is
asked, which brings old versions up to date and writes them straight into our array. Segments of DXT have 32 bytes, or
40 since a thread id was added, and only the module's version tells which.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.arrays import Bools, Floats, Ints
from penstock.traces.darshan.errors import BadLog
from penstock.traces.darshan.library import counter_names, library

Ids = NDArray[np.uint64]

_BLOCK = 256  # records that one call after the other writes into one array
_ROOM = 81_920  # the library takes a buffer of ours to have this many bytes
_CHUNK = 1 << 20
_NATIVE = "<" if sys.byteorder == "little" else ">"
_TRACED_HEAD = "Q2q64s2q"  # id, two numbers of no use, host, how many writes and reads follow
_MAP_WORDS = 6  # before the bins of a heat map: id, rank, width, number, and two addresses that mean nothing


class Module(NamedTuple):
    """A module that a log has."""

    number: int
    version: int
    partial: bool  # records were left out when its memory was full


class FileCounters(NamedTuple):
    """What a module counted, a row per file and rank (−1: all of them together). Times are since the log's start."""

    file: Ids
    rank: Ints
    read: Floats  # bytes
    written: Floats
    opens: Floats
    read_from: Floats
    read_to: Floats
    write_from: Floats
    write_to: Floats
    read_seconds: Floats
    write_seconds: Floats
    meta_seconds: Floats
    slowest_seconds: Floats  # of the slowest rank, in records of all ranks


class TracedSegments(NamedTuple):
    """What DXT saw: single operations. `writes` tells the direction."""

    file: Ids
    start: Floats
    end: Floats
    length: Floats
    writes: Bools


class Bins(NamedTuple):
    """A heat map, summed over ranks: bytes per bin of `width` seconds, by layer."""

    width: float
    read: dict[str, Floats]
    written: dict[str, Floats]


# Module → the library's name for it, and how many words follow the id and rank before its counters.
_PREFIX = {
    "POSIX": ("posix", 0),
    "STDIO": ("stdio", 0),
    "MPI-IO": ("mpiio", 0),
    "PNETCDF_VAR": ("pnetcdf_var", 1),
    "H5D": ("h5d", 1),
    "DFS": ("dfs", 0),
}
COUNTING = tuple(_PREFIX)
# Versions whose records can be read from the stream, and the counters of the library that they do not have.
_STREAMED: dict[tuple[str, int], frozenset[str]] = {
    ("POSIX", 4): frozenset(),
    ("POSIX", 3): frozenset(
        f"POSIX_{each}" for each in ("FILENOS", "DUPS", "RENAME_SOURCES", "RENAME_TARGETS", "RENAMED_FROM")
    ),
    ("STDIO", 2): frozenset(),
    ("STDIO", 1): frozenset({"STDIO_FDOPENS"}),
    ("MPI-IO", 3): frozenset(),
    ("MPI-IO", 2): frozenset({"MPIIO_F_CLOSE_START_TIMESTAMP", "MPIIO_F_OPEN_END_TIMESTAMP"}),
}
_TRAILING = {"DFS": 4}  # words after the counters
_COLUMNS = {
    "read": "{}_BYTES_READ",
    "written": "{}_BYTES_WRITTEN",
    "opens": "{}_OPENS",
    "read_from": "{}_F_READ_START_TIMESTAMP",
    "read_to": "{}_F_READ_END_TIMESTAMP",
    "write_from": "{}_F_WRITE_START_TIMESTAMP",
    "write_to": "{}_F_WRITE_END_TIMESTAMP",
    "read_seconds": "{}_F_READ_TIME",
    "write_seconds": "{}_F_WRITE_TIME",
    "meta_seconds": "{}_F_META_TIME",
    "slowest_seconds": "{}_F_SLOWEST_RANK_TIME",
}
# The runtime names heat maps by a hash of "heatmap:" and the layer.
_MAPPED = {16592106915301738621: "POSIX", 3989511027826779520: "STDIO", 3668870418325792824: "MPI-IO"}
_MAPPED[1597927878319380788] = "DFS"


def counters(handle: Any, name: str, module: Module, order: str) -> FileCounters:
    """All records of a counting module."""
    prefix, words = _PREFIX[name]
    lacking = _STREAMED.get((name, module.version)) if order == _NATIVE else None
    whole, real = (
        tuple(each for each in counter_names(f"{prefix}_{kind}") if each not in (lacking or ()))
        for kind in ("counter_names", "f_counter_names")
    )
    size = 2 + words + len(whole) + len(real) + _TRAILING.get(name, 0)
    rows = _records(handle, module, size, streamed=lacking is not None)
    first = 2 + words
    counted = rows[:, first : first + len(whole)]
    timed = rows[:, first + len(whole) : first + len(whole) + len(real)].view(np.float64)
    columns = {
        column: _column(pattern.format(prefix.upper()), whole, counted, real, timed)
        for column, pattern in _COLUMNS.items()
    }
    # Data sets and variables name the file that they are in.
    return FileCounters(file=rows[:, 2 if words else 0].astype(np.uint64), rank=rows[:, 1].copy(), **columns)


def segments(handle: Any, name: str, module: Module, order: str) -> tuple[TracedSegments, frozenset[str]]:
    """All operations that DXT recorded, and the hosts that they came from."""
    stream = _stream(handle, module.number)
    size = 40 if module.version > (1 if name == "DXT_POSIX" else 2) else 32
    head = struct.Struct(order + _TRACED_HEAD)
    content, rows, hosts, place = stream.data, [], set(), 0
    while place + head.size <= len(stream):
        file, _, _, host, writes, reads = head.unpack_from(content, place)
        place += head.size
        end = place + (writes + reads) * size
        if min(writes, reads) < 0 or end > len(stream):
            raise BadLog("is damaged (its DXT records run over their end)")
        rows.append((file, writes, writes + reads, stream[place:end]))
        hosts.add(host.split(b"\0")[0].decode(errors="replace"))
        place = end
    return _operations(rows, size, order), frozenset(hosts - {""})


def heat_map(handle: Any, module: Module, order: str) -> Bins | None:
    """The heat map, if all records of it have bins of one width."""
    words = _words(handle, module, order)
    sums: tuple[dict[str, Floats], dict[str, Floats]] = {}, {}
    widths, place = set(), 0
    while place + _MAP_WORDS <= len(words):
        layer = _MAPPED.get(int(words[place : place + 1].view(np.uint64)[0]))
        widths.add(float(words[place + 2 : place + 3].view(np.float64)[0]))
        count, begin = int(words[place + 3]), place + _MAP_WORDS
        place = begin + 2 * count
        if count <= 0 or place > len(words):
            return None
        if layer is not None:
            _add(sums[1], layer, words[begin : begin + count])
            _add(sums[0], layer, words[begin + count : place])
    width = widths.pop() if len(widths) == 1 else 0.0
    return Bins(width, *sums) if width > 0 else None


def stripe_counts(handle: Any, module: Module, order: str) -> dict[int, int]:
    """How many targets each file on Lustre is striped over, by file; of several components the widest."""
    words = _words(handle, module, order)
    pairs = _plain_layouts(words) if module.version == 1 else _layered(words.tolist())
    found: dict[int, int] = {}
    for file, count in pairs:
        if count > found.get(file, 0):
            found[file] = count
    return found


def _plain_layouts(words: Ints) -> Iterator[tuple[int, int]]:
    """Files and counts of records of id, rank, two counts of targets, offset, size and count; then the targets."""
    size = 7 + max(int(words[6]), 0) if len(words) > 6 else 1
    if len(words) % size == 0 and (words[6::size] == words[6:7]).all():  # all files have as many: most logs
        return zip(words[::size].view(np.uint64).tolist(), words[6::size].tolist(), strict=True)
    return _one_by_one(words.tolist())


def _one_by_one(words: list[int]) -> Iterator[tuple[int, int]]:
    place = 0
    while place + 7 <= len(words):
        yield words[place] % 2**64, words[place + 6]
        place += 7 + max(words[place + 6], 0)


def _layered(words: list[int]) -> Iterator[tuple[int, int]]:
    """Of records of id, rank, components, stripes; then per component seven counters and a name; then the targets."""
    place = 0
    while place + 4 <= len(words):
        components, stripes = words[place + 2 : place + 4]
        if components < 0 or stripes < 0:
            raise BadLog("is damaged (its records of Lustre make no sense)")
        sizes = words[place + 4 : place + 4 + 9 * components : 9]
        counts = words[place + 5 : place + 5 + 9 * components : 9]
        yield (
            words[place] % 2**64,
            max((count for size, count in zip(sizes, counts, strict=False) if size >= 0), default=0),
        )
        place += 4 + 9 * components + stripes


def _column(name: str, whole: tuple[str, ...], counted: Ints, real: tuple[str, ...], timed: Floats) -> Floats:
    if name in whole:
        return counted[:, whole.index(name)].astype(float)
    if name in real:
        return timed[:, real.index(name)].copy()
    if name.startswith("MPIIO") and name.endswith("OPENS"):  # counted apart there
        apart = [i for i, each in enumerate(whole) if each.endswith("_OPENS")]
        opens: Floats = counted[:, apart].sum(axis=1).astype(float)
        return opens
    return np.zeros(len(counted))


def _records(handle: Any, module: Module, size: int, *, streamed: bool) -> Ints:
    """Records of so many words, a row each."""
    if not streamed:
        return np.concatenate([*_blocks(handle, module.number, size), np.empty((0, size), np.int64)])
    stream = _stream(handle, module.number)
    if len(stream) % (8 * size):
        raise BadLog("is damaged (a module ends within a record)")
    return stream.view(np.int64).reshape(-1, size)


def _blocks(handle: Any, number: int, size: int) -> Iterator[Ints]:
    """Arrays of records, filled by the library."""
    take, status = library().darshan_log_get_record, 1
    while status == 1:
        block = np.empty(_BLOCK * size + _ROOM // 8, np.int64)
        pointer, filled, begin = ctypes.c_void_p(), 0, block.ctypes.data
        reference = ctypes.byref(pointer)
        while status == 1 and filled < _BLOCK:
            pointer.value = begin + filled * size * 8
            status = take(handle, number, reference)
            filled += status == 1
        yield block[: filled * size].reshape(filled, size)
    if status < 0:
        raise BadLog("is damaged (records of a module cannot be read)")


def _words(handle: Any, module: Module, order: str) -> Ints:
    stream = _stream(handle, module.number)
    return np.frombuffer(stream, order + "i8", len(stream) // 8).astype(np.int64, copy=False)


def _stream(handle: Any, number: int) -> NDArray[np.uint8]:
    """A module's bytes, decompressed."""
    parts, got = [], _CHUNK
    while got == _CHUNK:
        buffer = np.empty(_CHUNK, np.uint8)
        got = library().darshan_log_get_mod(handle, number, buffer.ctypes.data, _CHUNK)
        if got < 0:
            raise BadLog("is damaged (records of a module cannot be read)")
        parts.append(buffer[:got])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _operations(rows: list[tuple[int, int, int, NDArray[np.uint8]]], size: int, order: str) -> TracedSegments:
    """Of records (file, writes, all, their bytes) every operation; in a record, writes come first."""
    names, kinds = ["offset", "length", "start", "end"], [order + kind for kind in ("i8", "i8", "f8", "f8")]
    entry = np.dtype({"names": names, "formats": kinds, "itemsize": size})
    found = np.concatenate([np.empty(0, np.uint8), *(row[3] for row in rows)]).view(entry)
    count = np.array([row[2] for row in rows], np.int64)
    within = np.arange(len(found)) - np.repeat(np.cumsum(count) - count, count)
    return TracedSegments(
        file=np.repeat(np.array([row[0] for row in rows], np.uint64), count),
        start=found["start"].astype(float),
        end=found["end"].astype(float),
        length=found["length"].astype(float),
        writes=within < np.repeat(np.array([row[1] for row in rows], np.int64), count),
    )


def _add(sums: dict[str, Floats], layer: str, bins: Ints) -> None:
    """Add the bins of a rank; one more or one less than others have is a known fault of some runtimes."""
    have = sums.setdefault(layer, np.zeros(len(bins)))
    if len(have) < len(bins):
        have = sums[layer] = np.concatenate([have, np.zeros(len(bins) - len(have))])
    have[: len(bins)] += bins
