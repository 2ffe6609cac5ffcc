"""Records of a log's modules as columns.

The library hands out one record at a time and brings old versions of a module up to date; it writes records of counters
straight into our array. DXT, heat maps and Lustre's layouts are read as the raw stream instead, which is ten times as
quick. Segments of DXT have 32 bytes, or 40 since a thread id was added, and only the module's version tells which.
"""

from __future__ import annotations

import ctypes
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
_MAP_WORDS = 6  # before the bins of a heat map: id, rank, width, number, and two addresses that mean nothing


class Module(NamedTuple):
    """A module that a log has."""

    number: int
    version: int
    partial: bool  # records were left out when its memory was full


class Counters(NamedTuple):
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


class Segments(NamedTuple):
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


def counters(handle: Any, name: str, module: Module) -> Counters:
    """All records of a counting module."""
    prefix, words = _PREFIX[name]
    whole, real = counter_names(f"{prefix}_counter_names"), counter_names(f"{prefix}_f_counter_names")
    size = 2 + words + len(whole) + len(real) + _TRAILING.get(name, 0)
    rows = np.concatenate([*_blocks(handle, module.number, size), np.empty((0, size), np.int64)])
    first = 2 + words
    counted = rows[:, first : first + len(whole)]
    timed = rows[:, first + len(whole) : first + len(whole) + len(real)].view(np.float64)
    columns = {
        column: _column(pattern.format(prefix.upper()), whole, counted, real, timed)
        for column, pattern in _COLUMNS.items()
    }
    # Data sets and variables name the file that they are in.
    return Counters(file=rows[:, 2 if words else 0].astype(np.uint64), rank=rows[:, 1].copy(), **columns)


def segments(handle: Any, name: str, module: Module, order: str) -> tuple[Segments, frozenset[str]]:
    """All operations that DXT recorded, and the hosts that they came from."""
    stream = _stream(handle, module.number)
    size = 40 if module.version > (1 if name == "DXT_POSIX" else 2) else 32
    names = ["offset", "length", "start", "end"]
    entry = np.dtype({"names": names, "formats": [order + kind for kind in ("i8", "i8", "f8", "f8")], "itemsize": size})
    head = np.dtype([("id", order + "u8"), ("ints", order + "i8", 2), ("host", "S64"), ("counts", order + "i8", 2)])
    parts, hosts, place = [], set(), 0
    while place + head.itemsize <= len(stream):
        (record,) = np.frombuffer(stream, head, 1, place)
        writes, reads = (int(count) for count in record["counts"])
        place += head.itemsize
        if min(writes, reads) < 0 or place + (writes + reads) * size > len(stream):
            raise BadLog("is damaged (its DXT records run over their end)")
        operations = np.frombuffer(stream, entry, writes + reads, place)
        place += (writes + reads) * size
        hosts.add(record["host"].split(b"\0")[0].decode(errors="replace"))
        parts.append((np.full(writes + reads, record["id"], np.uint64), operations, np.arange(writes + reads) < writes))
    return _joined(parts, entry), frozenset(hosts - {""})


def heat_map(handle: Any, module: Module, order: str) -> Bins | None:
    """The heat map, if all records of it have bins of one width."""
    words = _words(handle, module, order)
    sums: tuple[dict[str, Floats], dict[str, Floats]] = {}, {}
    widths, place = set(), 0
    while place + _MAP_WORDS <= len(words):
        layer = _MAPPED.get(int(words[place : place + 1].view(order + "u8")[0]))
        widths.add(float(words[place + 2 : place + 3].view(order + "f8")[0]))
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
    words: list[int] = _words(handle, module, order).tolist()
    found: dict[int, int] = {}
    place = 0
    while place + 4 <= len(words):
        file = words[place] % 2**64
        if module.version == 1:  # id, rank, two counts of targets, offset, size, count; then the targets
            counts = words[place + 6 : place + 7]
            place += 7 + max(counts[0] if counts else 0, 0)
        else:  # id, rank, components, stripes; then per component seven counters and a name; then the targets
            components, stripes = words[place + 2 : place + 4]
            if components < 0 or stripes < 0:
                raise BadLog("is damaged (its records of Lustre make no sense)")
            sizes = words[place + 4 : place + 4 + 9 * components : 9]
            counts = [count for size, count in zip(sizes, words[place + 5 :: 9], strict=False) if size >= 0]
            place += 4 + 9 * components + stripes
        found[file] = max(found.get(file, 0), *counts, 0)
    return {file: count for file, count in found.items() if count > 0}


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


def _blocks(handle: Any, number: int, size: int) -> Iterator[Ints]:
    """Arrays of records, filled by the library."""
    take, status = library().darshan_log_get_record, 1
    while status == 1:
        block = np.empty(_BLOCK * size + _ROOM // 8, np.int64)
        pointer, filled = ctypes.c_void_p(), 0
        reference = ctypes.byref(pointer)
        while status == 1 and filled < _BLOCK:
            pointer.value = block.ctypes.data + filled * size * 8
            status = take(handle, number, reference)
            filled += status == 1
        yield block[: filled * size].reshape(filled, size)
    if status < 0:
        raise BadLog("is damaged (records of a module cannot be read)")


def _words(handle: Any, module: Module, order: str) -> Ints:
    stream = _stream(handle, module.number)
    return np.frombuffer(stream, order + "i8", len(stream) // 8)


def _stream(handle: Any, number: int) -> bytes:
    """A module's bytes, decompressed."""
    parts, got = [], _CHUNK
    buffer = ctypes.create_string_buffer(_CHUNK)
    while got == _CHUNK:
        got = library().darshan_log_get_mod(handle, number, buffer, _CHUNK)
        if got < 0:
            raise BadLog("is damaged (records of a module cannot be read)")
        parts.append(ctypes.string_at(buffer, got))
    return b"".join(parts)


def _joined(parts: list[tuple[Ids, NDArray[Any], Bools]], entry: Any) -> Segments:
    operations = np.concatenate([np.empty(0, entry), *(part[1] for part in parts)])
    return Segments(
        file=np.concatenate([np.empty(0, np.uint64), *(part[0] for part in parts)]),
        start=operations["start"].astype(float),
        end=operations["end"].astype(float),
        length=operations["length"].astype(float),
        writes=np.concatenate([np.empty(0, bool), *(part[2] for part in parts)]),
    )


def _add(sums: dict[str, Floats], layer: str, bins: Ints) -> None:
    """Add the bins of a rank; one more or one less than others have is a known fault of some runtimes."""
    have = sums.setdefault(layer, np.zeros(len(bins)))
    if len(have) < len(bins):
        have = sums[layer] = np.concatenate([have, np.zeros(len(bins) - len(have))])
    have[: len(bins)] += bins
