"""`penstock import`: real traces to a scenario; its commands, one file for each kind of trace."""

from __future__ import annotations

import typer

from penstock.cli.group import LazyGroup
from penstock.cli.table import IMPORT


class Kinds(LazyGroup):
    """A command for each kind of trace."""

    package = "penstock.cli.commands.import_"
    rows = IMPORT


import_ = typer.Typer(
    cls=Kinds,
    name="import",
    help="Turn real traces into a scenario: Darshan logs, Slurm accounting, SWF, or tables of what jobs moved.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@import_.callback()
def _group() -> None:
    """Nothing happens before a command of the group; with this function, Typer knows that there are some."""
