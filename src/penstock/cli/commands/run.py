"""`penstock run`: a command that waits for its turn, and whose processes share one granted rate."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.phase_options import Direction, JobOption, Targets, Volume
from penstock.cli.parts.turn import run_in_turn

Json = Annotated[bool, typer.Option("--json", help="At the end, one JSON object on the error stream.")]
Command = Annotated[list[str], typer.Argument(metavar="COMMAND [ARGUMENT]", help="What to run.")]


def run(
    command: Command,
    volume: Volume = None,
    direction: Direction = "write",
    targets: Targets = None,
    job: JobOption = None,
    json: Json = False,
) -> None:
    """Announce the I/O of COMMAND, wait until it may begin, and run it; its exit code and signals are passed on.

    Programs in it that use penstock.client share the granted rate. Without a controller COMMAND simply runs.
    """
    run_in_turn(command, volume, direction, targets, job, json)
