"""A file of measurements for profiles as text, and as a table whose rows know their line."""

from __future__ import annotations

import csv
import io
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, NoReturn

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.model.units import Refusal, quantity, shown, whole

LARGEST = 256_000_000  # bytes
NUMBER = re.compile(r"[\d._eE+-]+")  # without a unit
ACCEPTED = (
    "expected a CSV with the columns application, targets and bandwidth, a table of FORGE, or the CSV or JSON of IOR"
)


class Measurement(NamedTuple):
    """One bandwidth of an application on so many targets."""

    application: str
    targets: int
    bandwidth: float  # bytes/s
    runs: int | None = None  # it is the median of so many runs; None: it is one run


@dataclass(frozen=True)
class Measurements:
    """All that one file holds."""

    measurements: list[Measurement]
    unit: str
    notes: tuple[str, ...] = ()


class TableRow(NamedTuple):
    """One line of a table, by column."""

    line: int
    cells: dict[str, str]


@dataclass(frozen=True)
class MeasurementFile:
    """The text of a file; `count` is the number of targets that the user says it was measured with."""

    path: Path
    text: str
    count: int | None = None

    @cached_property
    def header(self) -> list[str]:
        """The columns of the table, if it is one."""
        columns = self._first[1]
        for name, times in Counter(columns).items():
            if name and times > 1:
                self.refuse_header(f"has {times} columns {shown(name)}; keep one of them")
        return columns

    def rows(self) -> Iterator[TableRow]:
        """Every line below the header; blank lines and those that start with # are passed over."""
        lines = self._lines()
        next(lines, None)
        for line, cells in lines:
            if len(cells) != len(self.header):
                self.refuse(f"has {len(cells)} cells; the header names {len(self.header)} columns", line)
            yield TableRow(line, dict(zip(self.header, cells, strict=True)))

    def refuse_header(self, words: str) -> NoReturn:
        """Raise the error for the columns of this file."""
        self.refuse(words, self._first[0])

    def refuse(self, words: str, line: int | None = None) -> NoReturn:
        """Raise the error for a place in this file."""
        raise InvalidOption(f"{self.path}:{line}: {words}" if line else f"{self.path}: {words}")

    def rate(self, row: TableRow, column: str, unit: str) -> float:
        """The bandwidth in a cell; a unit in the cell goes before that of the column."""
        cell = row.cells[column]
        try:
            return quantity(f"{cell} {unit}" if NUMBER.fullmatch(cell) else cell, "bytes/s")
        except Refusal as refusal:
            self.refuse(f"{column} {refusal}", row.line)

    def whole(self, row: TableRow, column: str, least: int = 1) -> int:
        """The whole number in a cell."""
        return self.counted(row.cells[column], column, row.line, least)

    def counted(self, text: str, place: str, line: int | None = None, least: int = 0) -> int:
        """The count that a text at some place stands for, if it is one that numbers can hold exactly."""
        try:
            return whole(text, f"a count is a whole number ≥ {least} and at most 2^53", least=least)
        except Refusal as refusal:
            self.refuse(f"{place} {refusal}", line)

    def name(self, row: TableRow, column: str) -> str:
        """The application's name in a cell."""
        name = row.cells[column]
        if not name or not name.isprintable():
            self.refuse(f"{column} is {name!r}; a name is printable text, not empty", row.line)
        return name

    @cached_property
    def _first(self) -> tuple[int | None, list[str]]:
        return next(self._lines(), (None, []))

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        first = next((line for line in self.text.splitlines() if _counts(line)), "")
        reader = csv.reader(io.StringIO(self.text), delimiter=";" if first.count(";") > first.count(",") else ",")
        try:
            for cells in reader:
                stripped = [cell.strip() for cell in cells]
                if any(stripped) and not stripped[0].startswith("#"):
                    yield reader.line_num, stripped
        except csv.Error as error:
            if "\r" in self.text.replace("\r\n", ""):  # Python's words would find_recommendation programmers
                self.refuse("has a line that ends in a carriage return alone; expected LF or CR LF", reader.line_num)
            self.refuse(f"is not CSV: {error}", reader.line_num)


def open_source(path: str | Path, count: int | None) -> MeasurementFile:
    """The text of a file, if it can be read as one."""
    file = Path(path)
    with reading(file, InvalidOption):
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InvalidOption(f"{file}: is not a regular file; {ACCEPTED}")
        if status.st_size > LARGEST:
            raise InvalidOption(f"{file}: has {status.st_size:,} bytes; measurements have at most {LARGEST:,}")
        text = file.read_bytes().decode("utf-8-sig")
    if not any(map(_counts, text.splitlines())):
        raise InvalidOption(f"{file}: is empty; {ACCEPTED}")
    return MeasurementFile(file, text, count)


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
