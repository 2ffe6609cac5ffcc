"""A scenario or a result as a table of another library, or in a notebook: rows of plain values are all it takes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

from penstock.errors import InvalidOption
from penstock.model.scales import byte_scale, duration

Row = Mapping[str, Any]

MOST_ROWS = 20  # of a notebook's table
_SECONDS = ("release", "completion", "compute_done", "makespan", "start", "end", "wait", "io_seconds")
_BYTES = ("bandwidth", "transferred", "moved", "shares", "share")
_PURE_BELOW = 1e6  # a run whose bandwidth is 1, as in the papers, has no bytes
_LEFT, _RIGHT = 'style="text-align: left"', 'style="text-align: right"'


class Tabular(ABC):
    """What has rows: `to_pandas()`, `to_polars()`, `to_arrow()`, and a table where a notebook shows it."""

    @abstractmethod
    def rows(self) -> Sequence[Row]:
        """The rows of the table, each with the same keys."""

    def headline(self) -> str:
        """What stands above the table in a notebook."""
        return type(self).__name__

    def to_pandas(self) -> Any:
        """A pandas DataFrame of the rows."""
        return _library("pandas").DataFrame(list(self.rows()))

    def to_polars(self) -> Any:
        """A polars DataFrame of the rows."""
        # All rows say what a column holds: a cap, or a stretch, may be missing from the first hundred of them.
        return _library("polars").DataFrame(list(self.rows()), infer_schema_length=None)

    def to_arrow(self) -> Any:
        """A pyarrow Table of the rows."""
        return _library("pyarrow").Table.from_pylist(list(self.rows()))

    def _repr_html_(self) -> str:
        return html_table(self.headline(), self.rows())


def in_words(name: str) -> str:
    """The name of a column as people write it.

    >>> in_words("node_hours_lost")
    'node-hours lost'
    """
    return name.replace("node_hours", "node-hours").replace("_", " ")


def html_table(headline: str, rows: Sequence[Row]) -> str:
    """A small table for a notebook; columns that no row has a value for are left out."""
    kept = _columns(rows)
    side = {name: _LEFT if any(isinstance(row.get(name), str) for row in rows) else _RIGHT for name in kept}
    show = {name: _format(name, rows) for name in kept}
    head = "".join(f"<th {side[name]}>{escape(in_words(name))}</th>" for name in kept)
    cells = [
        [f"<td {side[name]}>{escape(show[name](row.get(name)))}</td>" for name in kept] for row in rows[:MOST_ROWS]
    ]
    body = "".join(f"<tr>{''.join(each)}</tr>" for each in cells)
    more = f"<p>… and {len(rows) - MOST_ROWS:,} more</p>" if len(rows) > MOST_ROWS else ""
    return f"<p><b>{escape(headline)}</b></p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def text_table(headline: str, rows: Sequence[Row]) -> str:
    """The same as plain text, for whoever prints it.

    >>> print(text_table("two", [{"name": "a", "yield": 0.5}, {"name": "longer", "yield": 1.0}]))
    two
    name    yield
    a         0.5
    longer      1
    """
    kept = _columns(rows)
    show = {name: _format(name, rows) for name in kept}
    table = [list(map(in_words, kept)), *([show[name](row.get(name)) for name in kept] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ("  ".join(_aligned(cells, widths)).rstrip() for cells in table)
    return "\n".join((headline, *lines))


def shown(value: Any) -> str:
    """A value as a reader wants it: four digits, and a dash for what is not there."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _format(name: str, rows: Sequence[Row]) -> Callable[[Any], str]:
    """How a column is written: in units, where it is of bytes or seconds."""
    if name in _SECONDS:
        return lambda value: duration(value) if _is_amount(value) else shown(value)
    most = max((row[name] for row in rows if _is_amount(row.get(name))), default=0.0)
    if name not in _BYTES or most < _PURE_BELOW:
        return shown
    scale, per = byte_scale(most, pure=False), "/s" if name == "bandwidth" else ""
    return lambda value: f"{scale.show(value)}{per}" if _is_amount(value) else shown(value)


def _is_amount(value: Any) -> bool:
    return isinstance(value, float) and 0.0 <= value < math.inf


def _columns(rows: Sequence[Row]) -> list[str]:
    """Those in which some row has something to say."""
    return list(
        dict.fromkeys(name for row in rows for name, value in row.items() if value is not None and value is not False)
    )


def _aligned(cells: Iterable[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.ljust(width) if place == 0 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InvalidOption(f"a table of {name} needs {name}; pip install {name}") from None
