"""`penstock promote`: hand over from the controller that leads to one that stands by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import live

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that both were given as --standby.")]


def promote(folder: Folder, json: Json = False) -> None:
    """Let the standby that watches DIR lead instead of the controller that does, and wait until it has taken over."""
    done = live.standby.promote.promote(folder)
    took = f"{done.host} (process {done.pid}) leads term {done.term} at {done.address}, {done.seconds:.1f} s later."
    tell(done.to_dict(), [took, f"{done.before} stands by. No rate is raised for another lease."], json)
