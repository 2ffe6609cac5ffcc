"""The command line as a whole: a group whose commands are rows of a table until one of them is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

import penstock
from penstock.cli import table
from penstock.cli.table import Row


class LazyGroup(TyperGroup):
    """Commands in sections, each under its own heading; the file of a command is loaded when it is called."""

    package: ClassVar[str]
    rows: ClassVar[tuple[Row, ...]]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {row.name: TyperCommand(row.name, help=row.help, hidden=row.hidden) for row in self.rows}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command itself, from its file."""
        row = next((row for row in self.rows if row.name == cmd_name), None)
        return None if row is None else _loaded(row, self.package)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A heading and its commands, in the order of the table, which has all that is shown."""
        shown = [row for row in self.rows if not row.hidden]
        longest = max(len(row.name) for row in shown)
        room = formatter.width - 6 - longest
        for section in dict.fromkeys(row.section for row in shown):
            # Padded, so that the texts of all sections begin in the same column.
            lines = [
                (row.name.ljust(longest), self.commands[row.name].get_short_help_str(room))
                for row in shown
                if row.section == section
            ]
            with formatter.section(section):
                formatter.write_dl(lines)


def _loaded(row: Row, package: str) -> Any:
    found = getattr(import_module(f"{package}.{row.file or row.function}"), row.function)
    if isinstance(found, typer.Typer):
        return get_command(found)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    settings = {"allow_interspersed_args": False} if row.options_first else {}
    alone.command(row.name, context_settings=settings, hidden=row.hidden)(found)
    return get_command(alone)


class Commands(LazyGroup):
    """All commands."""

    package = "penstock.cli.commands"
    rows = table.COMMANDS


app = typer.Typer(
    cls=Commands,
    name="penstock",
    help="Decide who may do I/O when, at which rate, through which targets and with how much burst buffer.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"penstock {penstock.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    pass
