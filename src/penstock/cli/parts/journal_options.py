"""Options of commands that read a journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.rooms import live

JournalOption = Annotated[
    Path | None, typer.Option("--journal", metavar="DIR", help="The controller's journal.  [default: the usual place]")
]


def journal_folder(given: Path | None) -> Path:
    """Where the journal is: as told, or where `penstock serve` keeps it."""
    return given if given is not None else live.server.config.ServerConfig(capacity=1.0).journal_folder()
