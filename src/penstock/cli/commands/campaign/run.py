"""`penstock campaign FILE`: run what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.leave import leave
from penstock.cli.parts.many_runs import On, Workers, follow, interruptible, need_pyarrow
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import campaign, report
from penstock.errors import InvalidOption

File = Annotated[Path, typer.Argument(metavar="FILE", help="A campaign file (.yaml, .json).")]
Into = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where results are kept; continued if begun.")
]
Retry = Annotated[bool, typer.Option("--retry", help="Run again what failed before.")]


def run(
    file: File, output: Into = None, workers: Workers = None, on: On = "local", retry: Retry = False, json: Json = False
) -> None:
    """Run what the campaign in FILE asks for and DIR does not have yet."""
    if output is None:
        raise InvalidOption("-o is missing; a campaign keeps its results in a directory, as in -o results")
    need_pyarrow()
    place = campaign.executor.executor(on, workers)
    with interruptible(output), user_code(), ProgressLine() as line:
        line.show(f"loading {file.name}")
        asked = campaign.document.load_campaign(file)
        progress = follow(place, line, asked.name, output)
        done = campaign.runner.run_campaign(asked, output, on=place, retry=retry, progress=progress)
    if json:
        print_json({"campaign": asked.name, "directory": str(output), "on": on, **done.to_dict()})
    else:
        say(report.campaign.table.report_lines(done, asked.name, place.words))
    if done.failed:
        leave(f"{done.failed:,} of {done.runs:,} runs failed; `penstock campaign status {output}` says why", 1)
