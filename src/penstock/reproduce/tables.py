"""The papers' experiments in the terminal: the list of all, and what came of one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from rich.table import Table
from rich.text import Text

from penstock.report.parts.quantities import NOTHING, duration, significant
from penstock.report.parts.titled_table import titled_table
from penstock.reproduce.experiment import Experiment
from penstock.reproduce.reproduction import INTERVAL, Reproduction

MOST_COLUMNS = 12
MOST_TABLES = 12
HIDDEN = (INTERVAL, "quantiles", "spread")  # of summaries


def experiment_table(experiments: Iterable[Experiment]) -> Table:
    """Every experiment with what it shows."""
    table = titled_table("Experiments of the papers")
    table.add_column("id", no_wrap=True)
    table.add_column("shows")
    for each in experiments:
        table.add_row(each.id, Text(each.title))
    return table


def reproduction_tables(made: Reproduction) -> Iterator[Table]:
    """The numbers of the summary, a table for each quantity; how sure they are is in the files."""
    yield from islice(_tables(made.experiment.id, made.summary), MOST_TABLES)


def reproduction_lines(made: Reproduction) -> list[str]:
    """What else there is to say."""
    said = [f"The paper: {made.experiment.states}"] if made.experiment.states else []
    notes = made.summary.get("notes", [])
    return [
        *said,
        *(f"Note: {note}" for note in notes),
        f"{made.experiment.id}: {duration(made.seconds)}; written: {', '.join(map(str, made.files))}",
    ]


def _tables(title: str, tree: Mapping[str, Any]) -> Iterator[Table]:
    """What is rows of numbers in one table, or in one for each kind of columns; below, what lies deeper."""
    shown = {name: value for name, value in tree.items() if name not in HIDDEN}
    rows = {name: row for name, value in shown.items() if (row := _row(value))}
    deeper = {name: value for name, value in shown.items() if name not in rows and isinstance(value, Mapping)}
    groups: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for name, row in rows.items():
        groups.setdefault(tuple(row) if deeper else (), {})[name] = row
    for group in groups.values():
        yield _table(title, group)
    for name, value in deeper.items():
        yield from _tables(f"{title}: {name}" if title.count(":") == 0 else f"{title}, {name}", value)


def _row(value: Any) -> Mapping[str, Any] | None:
    """Numbers by key, or by place in a list; None if it is anything else."""
    if isinstance(value, list):
        value = {str(place): each for place, each in enumerate(value, start=1)}
    numbers = isinstance(value, Mapping) and all(
        each is None or isinstance(each, int | float) for each in value.values()
    )
    return value if numbers else None


def _table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    every = list(dict.fromkeys(key for row in rows.values() for key in row))
    last = len(every) - 1
    # Of many columns some, evenly, the first and the last among them.
    places = {round(last * number / (MOST_COLUMNS - 1)) for number in range(MOST_COLUMNS)}
    columns = [every[place] for place in sorted(places)] if len(every) > MOST_COLUMNS else every
    table = titled_table(title if columns == every else f"{title} ({len(columns)} of {len(every)} columns)")
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    for name, row in rows.items():
        table.add_row(Text(name), *(Text(_cell(row.get(column))) for column in columns))
    return table


def _cell(value: float | None) -> str:
    return NOTHING if value is None or not math.isfinite(value) else significant(value)
