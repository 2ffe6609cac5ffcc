"""The command line: one file per command. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

import os
import sys

import typer

from penstock.cli.compare import compare
from penstock.cli.decide import decide
from penstock.cli.demo import demo
from penstock.cli.generate import generate
from penstock.cli.policies import policies
from penstock.cli.simulate import simulate
from penstock.errors import PenstockError

app = typer.Typer(
    name="penstock",
    help="Decide who may do I/O when and at which rate: simulate, compare and bound sharing policies.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (demo, simulate, compare, decide, generate, policies):
    app.command()(command)


def _show_version(asked: bool) -> None:
    if asked:
        import penstock  # noqa: PLC0415 - looked up only when asked

        typer.echo(f"penstock {penstock.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    """Run a command; what the user can mend becomes one sentence and exit code 2."""
    try:
        app()
    except PenstockError as error:
        print(f"penstock: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("penstock: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader has left (`| head`); a second complaint when Python closes the stream helps nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
