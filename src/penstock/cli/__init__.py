"""The command line: one file per command. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

import errno
import gc
import io
import os
import re
import sys

import typer

from penstock.cli.allocate import allocate
from penstock.cli.buffer import buffer
from penstock.cli.campaign import campaign
from penstock.cli.compare import compare
from penstock.cli.decide import decide
from penstock.cli.demo import demo
from penstock.cli.generate import generate
from penstock.cli.optimum import optimum
from penstock.cli.pack import pack
from penstock.cli.policies import policies
from penstock.cli.profiles import profiles
from penstock.cli.reproduce import reproduce
from penstock.cli.simulate import simulate
from penstock.cli.size_buffer import size_buffer
from penstock.errors import PenstockError

app = typer.Typer(
    name="penstock",
    help="Decide who may do I/O when, at which rate, through which targets and with how much burst buffer.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    demo,
    simulate,
    compare,
    optimum,
    pack,
    allocate,
    size_buffer,
    buffer,
    profiles,
    decide,
    generate,
    policies,
):
    app.command()(command)
app.add_typer(campaign)
app.command()(reproduce)


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
    gc.set_threshold(100_000, 50, 50)  # importing makes many objects and no garbage: a tenth of the start-up
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as the error stream does: é must not end a run
    try:
        try:
            app()
        finally:
            # Not left to Python's exit, where a failure is a complaint that nobody can handle.
            print(end="", flush=True)
    except PenstockError as error:
        print(f"penstock: {_one_line(str(error))}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        # What is left in the buffer must not be tried again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:  # the reader has left, as `head` does
            sys.exit(1)
        print(f"penstock: standard output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(2)


def _one_line(text: str) -> str:
    """Without the line breaks and colours that other people's messages and file names may have."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())
