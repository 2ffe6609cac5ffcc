"""Options of commands that read a journal."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from penstock.errors import InvalidOption
from penstock.wire.site import usual_journal

JournalOption = Annotated[
    Path | None, typer.Option("--journal", metavar="DIR", help="The controller's journal.  [default: the usual place]")
]


def journal_folder(given: Path | None) -> Path:
    """Where the journal is: as told, or where `penstock serve` keeps it."""
    folder = given if given is not None else usual_journal()
    check_journal(folder)
    return folder


def check_journal(folder: Path) -> None:
    """Refuse a folder that is not there, or is empty, before anything is loaded to read it."""
    if not folder.is_dir() or _is_empty(folder):
        raise InvalidOption(
            f"{folder}: there is no journal; expected the folder that `penstock serve --journal` was given"
        )


def _is_empty(folder: Path) -> bool:
    """Whether nothing is in it; a folder that cannot be looked into is for whoever reads it."""
    with suppress(OSError):
        return not any(folder.iterdir())
    return False
