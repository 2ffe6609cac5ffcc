"""Schedules: when every operation was posted, started and ended, as a file to keep, and as a plan to follow.

A schedule is a table with the columns order, application, operation (from 1), posted, start and end. As a plan only
the order of the applications counts: the first row of an application is its first operation, and so on.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from penstock.engine.timeline import Timeline
from penstock.errors import InvalidOption
from penstock.files import write_whole
from penstock.kernels.arrays import Floats, Ints
from penstock.policies.sharing.follow import in_order
from penstock.policies.sharing.policy import Sharing

COLUMNS = ("order", "application", "operation", "posted", "start", "end")
SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True)
class Schedule:
    """One row per operation, in the order of their starts. A time is NaN if it was not reached in the run."""

    names: tuple[str, ...]
    application: Ints  # index into names
    operation: Ints  # from 0
    posted: Floats
    start: Floats
    end: Floats

    @property
    def order(self) -> tuple[str, ...]:
        """Whose operation starts when: the plan."""
        return tuple(self.names[i] for i in self.application[~np.isnan(self.start)])


def schedule_of(timeline: Timeline) -> Schedule:
    """The schedule that a run kept to."""
    by_operation = np.lexsort([timeline.start, timeline.operation, timeline.application])
    application, operation = timeline.application[by_operation], timeline.operation[by_operation]
    start, stop = timeline.start[by_operation], timeline.stop[by_operation]
    fresh = np.append(True, (np.diff(application) != 0) | (np.diff(operation) != 0))[: application.size]
    first = np.flatnonzero(fresh)
    last = np.append(first[1:], application.size)[: first.size] - 1
    served = np.where(timeline.rate[by_operation] > 0.0, start, np.inf)
    began = np.minimum.reduceat(served, first) if first.size else np.empty(0)
    whole = by_operation[last] < timeline.cut
    rows = np.lexsort([application[first], stop[last], began])
    return Schedule(
        names=timeline.names,
        application=application[first][rows],
        operation=operation[first][rows],
        posted=start[first][rows],
        start=np.where(np.isinf(began), np.nan, began)[rows],
        end=np.where(whole, stop[last], np.nan)[rows],
    )


def check_schedule(path: str | Path) -> None:
    """Refuse a name that says no known kind of file."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InvalidOption(f"{path}: a schedule is written as {' or '.join(SUFFIXES)}")


def save_schedule(path: str | Path, schedule: Schedule) -> None:
    """Write a schedule as CSV or Parquet, by the ending of the name."""
    save_columns(path, _columns(schedule))


def save_columns(path: str | Path, columns: dict[str, list[Any]]) -> None:
    """Write a table as CSV or Parquet, by the ending of the name; None is an empty cell."""
    check_schedule(path)
    if Path(path).suffix.lower() == ".csv":
        write_whole(path, _csv_text(columns).encode())
        return
    pyarrow, parquet = arrow(path)
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def load_plan(path: str | Path) -> tuple[str, ...]:
    """Whose operation comes when, from a file with a column `application`, and `order` unless its rows are in order."""
    check_schedule(path)
    rows = _read_csv(Path(path)) if Path(path).suffix.lower() == ".csv" else _read_parquet(Path(path))
    if not rows:
        raise InvalidOption(f"{path}: has no operation in it; a plan names one application per row")
    return tuple(name for _, name in sorted(rows, key=lambda row: row[0]))


def follow(plan: str | Path | Schedule | Sequence[str]) -> Sharing:
    """A policy that serves operations in the order of a plan, one at a time, and waits for whose turn it is.

    The plan is a file, a schedule, or the names themselves. What a plan does not reach is served by posting time.

    >>> from penstock import Scenario, simulate
    >>> jobs = [{"name": name, "phases": [{"compute": 1}, {"write": 1}]} for name in ("a", "b")]
    >>> two = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": jobs})
    >>> [job.completion for job in simulate(two, follow(["b", "a"])).applications]
    [3.0, 2.0]
    """
    if isinstance(plan, Schedule):
        return in_order(plan.order, "follow")
    if isinstance(plan, str | Path):
        return in_order(load_plan(plan), f"follow({Path(plan).name})")
    return in_order(plan, "follow")


def _columns(schedule: Schedule) -> dict[str, list[Any]]:
    times = {name: _times(getattr(schedule, name)) for name in ("posted", "start", "end")}
    return {
        "order": list(range(1, schedule.start.size + 1)),
        "application": [schedule.names[i] for i in schedule.application],
        "operation": (schedule.operation + 1).tolist(),
        **times,
    }


def _times(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _csv_text(columns: dict[str, list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _read_csv(path: Path) -> list[tuple[float, str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            _need_application(reader.fieldnames or (), path)
            return [
                (_place(row.get("order"), place, path), _name(row["application"], place, path))
                for place, row in enumerate(reader, start=1)
                if row.get("start") != ""  # listed, but not started: no part of the plan
            ]
    except FileNotFoundError:
        raise InvalidOption(f"{path}: no such file; a plan is what `penstock simulate --schedule` writes") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidOption(f"{path}: cannot be read as CSV: {str(error).splitlines()[0]}") from None


def _read_parquet(path: Path) -> list[tuple[float, str]]:
    pyarrow, parquet = arrow(path)
    try:
        table = parquet.read_table(path)
    except FileNotFoundError:
        raise InvalidOption(f"{path}: no such file; a plan is what `penstock simulate --schedule` writes") from None
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise InvalidOption(f"{path}: cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    _need_application(table.column_names, path)
    names = table.column("application").to_pylist()
    places = table.column("order").to_pylist() if "order" in table.column_names else range(1, len(names) + 1)
    starts = table.column("start").to_pylist() if "start" in table.column_names else places
    return [
        (_place(order, place, path), _name(name, place, path))
        for place, (order, name, start) in enumerate(zip(places, names, starts, strict=True), start=1)
        if start is not None and start == start  # noqa: PLR0124 - NaN is no start either
    ]


def _need_application(columns: Iterable[str], path: Path) -> None:
    if "application" not in (found := list(columns)):
        raise InvalidOption(f"{path}: has no column 'application'; it has {', '.join(found) or 'none'}")


def _name(value: object, row: int, path: Path) -> str:
    if isinstance(value, str) and value:
        return value
    raise InvalidOption(f"{path}: row {row}: application is {value!r}; expected the name of an application")


def _place(value: object, row: int, path: Path) -> float:
    """Where a row stands: its `order`, or where it is written."""
    if value is None:
        return float(row)
    try:
        place = float(str(value))
    except ValueError:
        place = math.nan
    if math.isnan(place):
        raise InvalidOption(f"{path}: row {row}: order is {value!r}; expected a number")
    return place


def arrow(path: str | Path) -> tuple[Any, Any]:
    """The library for Parquet, or a sentence that it is missing."""
    try:
        import pyarrow  # noqa: PLC0415 - only for this kind of file
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise InvalidOption(f"{path}: Parquet needs pyarrow; install penstock[parquet], or use .csv") from None
    return pyarrow, pyarrow.parquet
