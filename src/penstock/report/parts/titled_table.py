"""The form of most tables: a title at the left, a line below the headings, and no frame."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

MOST_ROWS = 40  # of a long list
_WIDE = 79


def titled_table(title: str, caption: str = "") -> Table:
    """An empty table, at least as wide as its title where a terminal is, and a sentence below it."""
    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
        min_width=min(max(len(title), len(caption)), _WIDE),
        caption=Text(caption, style="dim") if caption else None,
        caption_justify="left",
    )


def rest_lines(number: int, which: str = "", way: str = "--all", shown: int | None = MOST_ROWS) -> list[str]:
    """The end of a list of which so many are shown, and how to see all of it; nothing if that is all.

    >>> rest_lines(20_030, " that moved less")
    ['… and 19,990 more that moved less (--all)']
    """
    return [f"… and {number - shown:,} more{which} ({way})"] if shown is not None and number > shown else []
