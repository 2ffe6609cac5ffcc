"""Options of commands that read a journal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

JournalOption = Annotated[
    Path | None, typer.Option("--journal", metavar="DIR", help="The controller's journal.  [default: the usual place]")
]


def journal_folder(given: Path | None) -> Path:
    """Where the journal is: as told, or where `penstock serve` keeps it."""
    from penstock.live.server.config import ServerConfig  # noqa: PLC0415

    return given if given is not None else ServerConfig(capacity=1.0).journal_folder()
