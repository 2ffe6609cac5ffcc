"""Tables of studies as files, CSV or Parquet by the ending of the name: what schedules are kept in."""

from __future__ import annotations

import csv
import io
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from penstock.errors import InvalidOption
from penstock.files import write_whole

SUFFIXES = (".csv", ".parquet")


class FileTable(NamedTuple):
    """The heading of a file, and its rows; a row of CSV may be shorter or longer than the heading."""

    heading: list[str]
    rows: list[list[Any]]


def check_schedule(path: str | Path) -> None:
    """Refuse a name that says no known kind of file."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise InvalidOption(f"{path}: a schedule is written as {' or '.join(SUFFIXES)}")


def save_columns(path: str | Path, columns: dict[str, list[Any]]) -> None:
    """Write a table; None is an empty cell."""
    check_schedule(path)
    if kind_of(path) == "CSV":
        write_whole(path, _csv_text(columns).encode())
        return
    pyarrow, parquet = _arrow(path)
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def read_rows(path: str | Path, guard: AbstractContextManager[None]) -> FileTable:
    """Read a table; `guard` says what is wrong with a file that cannot be read at all."""
    check_schedule(path)
    return (_read_csv if kind_of(path) == "CSV" else _read_parquet)(Path(path), guard)


def kind_of(path: str | Path) -> str:
    """What a table is written in."""
    return "CSV" if Path(path).suffix.lower() == ".csv" else "Parquet"


def _csv_text(columns: dict[str, list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _read_csv(file: Path, guard: AbstractContextManager[None]) -> FileTable:
    try:
        with guard, file.open(newline="", encoding="utf-8-sig") as text:
            heading, *rows = [row for row in csv.reader(text) if row] or [[]]
    except csv.Error as error:
        raise InvalidOption(f"{file}: cannot be read as CSV: {error}") from None
    return FileTable(heading, rows)


def _read_parquet(file: Path, guard: AbstractContextManager[None]) -> FileTable:
    pyarrow, parquet = _arrow(file)
    try:
        with guard:
            table = parquet.read_table(file)
    except pyarrow.ArrowException as error:
        raise InvalidOption(f"{file}: cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    columns = [table.column(name).to_pylist() for name in table.column_names]
    return FileTable(table.column_names, [list(row) for row in zip(*columns, strict=True)])


def _arrow(path: str | Path) -> tuple[Any, Any]:
    """The library for Parquet, or a sentence that it is missing."""
    try:
        import pyarrow  # noqa: PLC0415 - only for this kind of file
        import pyarrow.parquet  # noqa: PLC0415
    except ImportError:
        raise InvalidOption(f"{path}: Parquet needs pyarrow; install penstock[parquet], or use .csv") from None
    return pyarrow, pyarrow.parquet
