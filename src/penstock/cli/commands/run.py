"""`penstock run`: a command that waits for its turn, and whose processes share one granted rate."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.phase_options import Direction, JobOption, Targets, Volume
from penstock.cli.parts.turn import run_in_turn

Json = Annotated[bool, typer.Option("--json", help="At the end, one JSON object on the error stream.")]
Shim = Annotated[bool, typer.Option("--shim/--no-shim", help="Pace programs that do not ask by a preloaded library.")]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Pace static programs, too: the kernel asks before each call, at a price."),
]
Command = Annotated[list[str], typer.Argument(metavar="COMMAND [ARGUMENT]", help="What to run.")]


def run(
    command: Command,
    volume: Volume = None,
    direction: Direction = "write",
    targets: Targets = None,
    job: JobOption = None,
    json: Json = False,
    shim: Shim = True,
    strict: Strict = False,
) -> None:
    """Announce the I/O of COMMAND, wait until it may begin, and run it; its exit code and signals are passed on.

    Its programs share the granted rate, whether they know of it or not. Without a controller COMMAND simply runs.
    """
    run_in_turn(command, volume, direction, targets, job, json, shim, strict)
