"""`penstock slurm check`: whether what is installed can do harm."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import live

Place = Annotated[
    Path, typer.Argument(metavar="[DIR|slurm.conf]", help="What to look at.  [default: /etc/slurm/slurm.conf]")
]


def check(place: Place = Path("/etc/slurm/slurm.conf"), json: Json = False) -> None:
    """Say what could fail of the hooks and scripts in DIR, or of those that a slurm.conf names.

    Copies of the hooks are run, and job_submit.lua is loaded by a lua. Exit code 1: something could fail.
    """
    checked = live.slurm.check.check(place)
    findings = [vars(each) for each in checked.findings]
    words = [f"{each.level}: {each.where}: {each.text}" for each in checked.findings]
    count = f"{len(checked.files)} file{'s' if len(checked.files) != 1 else ''}"
    looked = f"{count}, {'nothing can fail by them' if checked.sound else 'which could fail a job'}"
    tell({"sound": checked.sound, "files": list(checked.files), "findings": findings}, [*words, looked], json)
    if not checked.sound:
        raise typer.Exit(1)
