"""Tables for terminals of any width: one that is too narrow loses columns, not the names of jobs.

A column in which no row has a value is not shown at any width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from penstock.report.parts.breakable import Breakable
from penstock.report.parts.quantities import NOTHING
from penstock.report.parts.titled_table import titled_table

_GAP = 2  # between two columns
_NAME = 16  # of a name that is longer, what must fit into one line


@dataclass(frozen=True)
class Column:
    """A heading and what is below it."""

    heading: str
    cells: Sequence[Text]
    spare: int = 0  # where it gets narrow, columns go by rising number, equals together; 0: this one stays
    right: bool = True
    folds: bool = False  # into several lines, where it is long

    @property
    def width(self) -> int:
        """What it needs of a line."""
        widest = max((text.cell_len for text in (*map(Text, self.heading.split("\n")), *self.cells)), default=0)
        return min(widest, _NAME) if self.folds else widest

    @property
    def empty(self) -> bool:
        """Whether there are rows, but no value in any of them."""
        return bool(self.cells) and all(text.plain in ("", NOTHING) for text in self.cells)


@dataclass(frozen=True)
class FittingTable:
    """A table that knows what it can do without."""

    title: str
    columns: Sequence[Column]
    caption: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """As much of it as there is room for."""
        yield self.within(options.max_width)

    def within(self, width: int) -> Table:
        """The table with the columns that fit into so many letters."""
        table = titled_table(self.title, self.caption)
        kept = _fitting(self.columns, width)
        for column in kept:
            side, overflow = ("right" if column.right else "left"), ("fold" if column.folds else "ellipsis")
            table.add_column(column.heading, justify=side, no_wrap=not column.folds, overflow=overflow)  # type: ignore[arg-type]
        for row in zip(*(column.cells for column in kept), strict=True):
            table.add_row(*(Breakable(cell) if of.folds else cell for of, cell in zip(kept, row, strict=True)))
        return table


def cells(texts: Iterable[str]) -> list[Text]:
    """Words as they are, whatever brackets are in them."""
    return list(map(Text, texts))


def _fitting(columns: Sequence[Column], width: int) -> list[Column]:
    kept = [column for column in columns if not column.empty]
    for least in sorted({column.spare for column in kept if column.spare}):
        if sum(column.width + _GAP for column in kept) - 1 <= width:  # behind the last one is half a gap
            break
        kept = [column for column in kept if column.spare != least]
    return kept
