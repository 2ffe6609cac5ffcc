"""Sizing a buffer: schedules as files, one row for each application, direction and interval in which bytes move.

The columns are application, direction (read or write), start, end, bytes and rate. Input that is fetched before the
first event has no start, output that leaves after the last one no end; neither has a rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.kernels.arrays import Floats
from penstock.studies.sizing.schedule import BufferSchedule
from penstock.studies.tables import read_rows, save_columns

NEEDED = ("application", "direction", "start", "end", "bytes")
_WAYS = ("write", "read")
_HINT = "a schedule is what `penstock size-buffer --schedule` writes"


def save_schedule(path: str | Path, schedule: BufferSchedule) -> None:
    """Write a schedule as CSV or Parquet, by the ending of the name."""
    columns: dict[str, list[Any]] = {
        "application": [schedule.names[index] for index in schedule.application],
        "direction": [_WAYS[way] for way in schedule.reading.astype(int)],
        "start": _cells(schedule.start),
        "end": _cells(schedule.end),
        "bytes": schedule.amount.tolist(),
        "rate": _cells(schedule.rate),
    }
    save_columns(path, columns)


def load_schedule(path: str | Path, names: Sequence[str]) -> BufferSchedule:
    """Read one back; `names` are those of the scenario."""
    file = Path(path)
    columns = _columns(file)
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        raise InvalidOption(f"{path}: has no column {missing[0]!r}; {_HINT}")
    index = {name: place for place, name in enumerate(names)}
    application = [index.get(name, -1) for name in columns["application"]]
    if -1 in application:
        row = application.index(-1)
        raise InvalidOption(
            f"{path}: row {row + 1}: application is {columns['application'][row]!r}; the scenario has none of that name"
        )
    start = _numbers(columns, "start", file, -math.inf)
    end = _numbers(columns, "end", file, math.inf)
    turned = np.flatnonzero(start >= end)
    if turned.size:
        row = int(turned[0])
        raise InvalidOption(
            f"{path}: row {row + 1}: end is {end[row]:g}, but start is {start[row]:g}; the end is later"
        )
    return BufferSchedule(
        tuple(names),
        np.array(application, dtype=np.int64),
        _readings(columns["direction"], file),
        start,
        end,
        _numbers(columns, "bytes", file, None),
        _numbers(columns, "rate", file, math.nan) if "rate" in columns else None,
    )


def _cells(values: Floats) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _readings(cells: Sequence[Any], file: Path) -> Any:
    for row, cell in enumerate(cells, start=1):
        if cell not in _WAYS:
            raise InvalidOption(f"{file}: row {row}: direction is {cell!r}; accepted: read, write")
    return np.array([cell == "read" for cell in cells], dtype=np.bool_)


def _numbers(columns: dict[str, Sequence[Any]], name: str, file: Path, empty: float | None) -> Floats:
    """A column of finite numbers; an empty cell stands for `empty`, if there may be any."""
    found = np.empty(len(columns[name]))
    for row, cell in enumerate(columns[name]):
        if empty is not None and (cell in (None, "") or cell != cell):  # noqa: PLR0124 - NaN is an empty cell, too
            found[row] = empty
            continue
        try:
            found[row] = float(cell)
        except (TypeError, ValueError):
            found[row] = math.nan
        if not math.isfinite(found[row]):
            raise InvalidOption(f"{file}: row {row + 1}: {name} is {cell!r}; expected a number")
    return found


def _columns(file: Path) -> dict[str, Sequence[Any]]:
    heading, rows = read_rows(file, reading(file, InvalidOption, _HINT))
    for place, row in enumerate(rows, start=1):
        if len(row) != len(heading):
            raise InvalidOption(f"{file}: row {place} has {len(row)} cells; the heading has {len(heading)}")
    columns = zip(*rows, strict=True) if rows else [()] * len(heading)
    return dict(zip(heading, columns, strict=True))
