"""Which records count: a file's bytes pass through several layers, each of which counts them.

POSIX and STDIO (and DFS, on DAOS) are where bytes leave the application, and no byte passes two of them. MPI-IO sits on
POSIX, PnetCDF and HDF5 on MPI-IO or POSIX: these count only for files that the layers below do not have, or that POSIX
was cut off in. Adding all layers up gives more than twice the truth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.kernels.arrays import Bools
from penstock.traces.darshan.log import Log
from penstock.traces.darshan.records import FileCounters
from penstock.traces.pieces import ABSURD
from penstock.traces.result import number_of

BASE = ("POSIX", "STDIO", "DFS")
ABOVE = ("MPI-IO", "PNETCDF_VAR", "H5D")


class Layer(NamedTuple):
    """The records of a module that count."""

    name: str
    counters: FileCounters
    partial: bool
    whole: bool  # all files of the module are in it


class Counted(NamedTuple):
    """The layers of a log, and what was left out of them."""

    layers: tuple[Layer, ...]
    flags: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether no layer that counts was cut off."""
        return not any(layer.partial for layer in self.layers)


def counted(log: Log) -> Counted:
    """The records of a log that count, each file once."""
    sound = {name: _sound(table) for name, table in log.counters.items()}
    broken = sum(int((log.counters[name].file != 0).sum()) - len(table.file) for name, table in sound.items())
    cut = _cut_off(log, sound)
    chosen: dict[str, FileCounters] = {
        name: _without(sound[name], cut) if name == "POSIX" else sound[name] for name in BASE if name in sound
    }
    seen = np.concatenate([np.empty(0, np.uint64), *(table.file for table in chosen.values())])
    for name in (each for each in ABOVE if each in sound):
        chosen[name] = _without(sound[name], seen)
        seen = np.concatenate([seen, chosen[name].file])
    layers = tuple(
        Layer(name, table, log.modules[name].partial, len(table.file) == len(sound[name].file))
        for name, table in chosen.items()
        if table.read.sum() + table.written.sum() > 0
    )
    return Counted(layers, _flags(broken, layers, len(cut)))


def _sound(table: FileCounters) -> FileCounters:
    """Without records whose byte counters are negative or absurd, and old ones of data sets that name no file."""
    named = table.file != 0
    table = _rows(table, named)
    return _rows(table, (table.read >= 0) & (table.written >= 0) & (table.read < ABSURD) & (table.written < ABSURD))


def _cut_off(log: Log, sound: dict[str, FileCounters]) -> NDArray[np.uint64]:
    """Files of which POSIX, where its memory was full, has fewer bytes than MPI-IO."""
    none = np.empty(0, np.uint64)
    if "POSIX" not in sound or "MPI-IO" not in sound or not log.modules["POSIX"].partial:
        return none
    below, above = _by_file(sound["POSIX"]), _by_file(sound["MPI-IO"])
    return np.array([file for file, volume in above.items() if volume > below.get(file, 0.0)], np.uint64)


def _by_file(table: FileCounters) -> dict[int, float]:
    files, place = np.unique(table.file, return_inverse=True)
    return dict(zip(files.tolist(), np.bincount(place, table.read + table.written).tolist(), strict=True))


def _without(table: FileCounters, files: NDArray[np.uint64]) -> FileCounters:
    return _rows(table, ~np.isin(table.file, files))


def _rows(table: FileCounters, chosen: Bools) -> FileCounters:
    return table if chosen.all() else FileCounters._make(column[chosen] for column in table)


def _flags(broken: int, layers: tuple[Layer, ...], cut: int) -> tuple[str, ...]:
    words = [f"{number_of(broken, 'record')} with negative or absurd counters left out"] if broken else []
    words += [f"{layer.name} was cut off: more was moved than it recorded" for layer in layers if layer.partial]
    words += [f"{number_of(cut, 'file')} counted by MPI-IO, since POSIX was cut off"] if cut else []
    return tuple(words)
