"""Schedules of a study: when every operation was posted, started and ended, as a file to keep, and as a plan to follow.

A schedule is a table with the columns order, application, operation (from 1), posted, start and end. As a plan only
the order of the applications counts: the first row of an application is its first operation, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from penstock.engine.timeline import Timeline
from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats, Ints
from penstock.policies.sharing.follow import in_order
from penstock.policies.sharing.policy import Sharing
from penstock.studies.tables import kind_of, read_rows, save_columns

COLUMNS = ("order", "application", "operation", "posted", "start", "end")


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


def save_schedule(path: str | Path, schedule: Schedule) -> None:
    """Write a schedule as CSV or Parquet, by the ending of the name."""
    save_columns(path, _columns(schedule))


def load_plan(path: str | Path) -> tuple[str, ...]:
    """Whose operation comes when, from a file with a column `application`, and `order` unless its rows are in order."""
    file = Path(path)
    heading, cells = read_rows(file, _reading(file))
    _need_application(heading, file)
    rows = [dict(zip(heading, row, strict=False)) for row in cells]
    plan = [
        (_place(row.get("order"), place, file), _name(row.get("application"), place, file))
        for place, row in enumerate(rows, start=1)
        if _started(row)
    ]
    if not plan:
        raise InvalidOption(f"{path}: has no operation in it; a plan names one application per row")
    return tuple(name for _, name in sorted(plan, key=lambda row: row[0]))


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
    if not isinstance(plan, str | Path | Sequence):
        raise InvalidOption(f"a plan is a file, a schedule or names of applications, not a {type(plan).__name__}")
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


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise InvalidOption(f"{file}: no such file; a plan is what `penstock simulate --schedule` writes") from None
    except (OSError, ValueError) as error:  # ValueError: not in UTF-8, or not in Parquet
        raise InvalidOption(f"{file}: cannot be read as {kind_of(file)}: {str(error).splitlines()[0]}") from None


def _started(row: dict[str, Any]) -> bool:
    """Whether an operation is part of the plan; some are listed and were not started in the run."""
    start = row.get("start")
    return "start" not in row or (start not in (None, "") and start == start)  # noqa: PLR0124 - NaN is no start either


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
