"""The command line as a whole: a group whose commands are rows of a table until one of them is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

import penstock
from penstock.cli import table
from penstock.cli.parts.usage_errors import no_such_command, refuse_usage
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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As usual; a word that is no command is refused in our words."""
        if not ctx.resilient_parsing and args[0] not in self.commands and not args[0].startswith("-"):
            no_such_command(ctx.command_path, args[0], [row.name for row in self.rows if not row.hidden])
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """A heading and its commands, in the order of the table, which has all that is shown."""
        shown = [row for row in self.rows if not row.hidden]
        longest = max(len(row.name) for row in shown)
        room = formatter.width - 6 - longest
        for section in dict.fromkeys(row.section for row in shown):
            # Padded, so that the texts of all sections begin in the same column.
            lines = [(row.name.ljust(longest), _fitting(row.help, room)) for row in shown if row.section == section]
            with formatter.section(section):
                formatter.write_dl(lines)


def _fitting(sentence: str, room: int) -> str:
    """A sentence, or what stands before its colon if a line has no room for all of it; never half a thought.

    >>> _fitting("Run it: here, there and everywhere.", 20)
    'Run it.'
    """
    head, colon, _ = sentence.partition(": ")
    return f"{head}." if colon and len(sentence) > room else sentence


def _loaded(row: Row, package: str) -> Any:
    found = getattr(import_module(f"{package}.{row.file or row.function}"), row.function)
    if isinstance(found, typer.Typer):
        return get_command(found)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    settings = {"allow_interspersed_args": False} if row.options_first else {}
    alone.command(row.name, context_settings=settings, hidden=row.hidden)(found)
    return get_command(alone)


def group_of(cls: type[LazyGroup], name: str, words: str) -> typer.Typer:
    """A command that has commands of its own, one file each."""
    found = typer.Typer(
        cls=cls, name=name, help=words, no_args_is_help=True, add_completion=False, rich_markup_mode=None
    )

    @found.callback()
    def _nothing_first() -> None:
        """Nothing happens before a command of the group; with this function, Typer knows that there are some."""

    return found


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


def call(words: list[str]) -> int:
    """Run the command that these words ask for; its exit code."""
    try:
        code = app(words, prog_name="penstock", standalone_mode=False)
    except typer.Abort:
        typer.echo("penstock: stopped", err=True)
        return 1
    except Exception as error:
        if not hasattr(error, "format_message"):  # which Typer's own have; their class has moved from Click to Typer
            raise
        if "\n" in error.format_message():  # the help, for those who give no arguments at all
            typer.echo(error.format_message(), err=True)
            return 2
        refuse_usage(error)
    return code if isinstance(code, int) else 0
