"""The command line: one file per command. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

import errno
import gc
import io
import os
import re
import sys
from collections.abc import Callable

import typer

from penstock.cli.allocate import allocate
from penstock.cli.buffer import buffer
from penstock.cli.campaign import campaign
from penstock.cli.capacity import capacity
from penstock.cli.compare import compare
from penstock.cli.decide import decide
from penstock.cli.demo import demo
from penstock.cli.drain import drain
from penstock.cli.evict import evict
from penstock.cli.exempt import exempt
from penstock.cli.explain import explain
from penstock.cli.generate import generate
from penstock.cli.import_traces import import_traces
from penstock.cli.inspect import inspect
from penstock.cli.limited import limited
from penstock.cli.loadtest import loadtest
from penstock.cli.mode import mode
from penstock.cli.optimum import optimum
from penstock.cli.pace import pace
from penstock.cli.pack import pack
from penstock.cli.pause import pause, resume
from penstock.cli.policies import policies
from penstock.cli.policy import policy
from penstock.cli.profiles import profiles
from penstock.cli.replay import replay
from penstock.cli.reproduce import reproduce
from penstock.cli.run import run
from penstock.cli.sections import Sections
from penstock.cli.serve import serve
from penstock.cli.simulate import simulate
from penstock.cli.size_buffer import size_buffer
from penstock.cli.status import status
from penstock.cli.token import token
from penstock.cli.top import top
from penstock.errors import PenstockError

LIVE: dict[str, tuple[Callable[..., None], ...]] = {
    "Live: the controller and the jobs under it": (serve, run, pace),
    "Live: for operators": (status, top, policy, capacity, mode, pause, resume, drain, exempt, evict, token, loadtest),
    "Live: looking back": (limited, explain, replay),
}

app = typer.Typer(
    cls=Sections,
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
app.add_typer(import_traces)
app.command()(inspect)
app.add_typer(campaign)
app.command()(reproduce)
for section, live_commands in LIVE.items():
    for each in live_commands:
        # In `penstock run ls -l` the -l is for ls.
        settings = {"allow_interspersed_args": False} if each is run else {}
        app.command(context_settings=settings, rich_help_panel=section)(each)


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
