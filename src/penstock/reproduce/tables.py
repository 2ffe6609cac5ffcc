"""Experiments in the terminal: the list of all, and what came of one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from penstock.report.quantities import NOTHING, duration, significant
from penstock.report.titled import titled_table
from penstock.reproduce.experiment import Experiment
from penstock.reproduce.running import INTERVAL, Reproduction

MOST_COLUMNS = 12


def experiment_table(experiments: Iterable[Experiment]) -> Table:
    """Every experiment with what it shows."""
    table = titled_table("Experiments of the papers")
    table.add_column("id", no_wrap=True)
    table.add_column("shows")
    for each in experiments:
        table.add_row(each.id, Text(each.title))
    return table


def reproduction_tables(made: Reproduction) -> Iterator[Table]:
    """A table for each quantity of the summary that has rows and columns of numbers."""
    for name, values in made.summary.items():
        if name != INTERVAL and _is_table(values):
            columns = list(dict.fromkeys(key for row in values.values() for key in row))
            if len(columns) <= MOST_COLUMNS:
                yield _table(f"{made.experiment.id}: {name}", values, columns)


def reproduction_lines(made: Reproduction) -> list[str]:
    """What else there is to say."""
    said = [f"The paper: {made.experiment.states}"] if made.experiment.states else []
    notes = made.summary.get("notes", [])
    return [
        *said,
        *(f"Note: {note}" for note in notes),
        f"{made.experiment.id}: {duration(made.seconds)}; written: {', '.join(map(str, made.files))}",
    ]


def _is_table(values: Any) -> bool:
    if not isinstance(values, Mapping) or not values:
        return False
    rows = [row for row in values.values() if isinstance(row, Mapping)]
    return len(rows) == len(values) and all(_is_number(cell) for row in rows for cell in row.values())


def _is_number(cell: Any) -> bool:
    return cell is None or isinstance(cell, int | float)


def _table(title: str, values: Mapping[str, Mapping[str, Any]], columns: list[str]) -> Table:
    table = titled_table(title)
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    for name, row in values.items():
        table.add_row(Text(name), *(Text(_cell(row.get(column))) for column in columns))
    return table


def _cell(value: float | None) -> str:
    return NOTHING if value is None or not math.isfinite(value) else significant(value)
