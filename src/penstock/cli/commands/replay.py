"""`penstock replay`: every decision of a journal, taken again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.journal_options import check_journal
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import live, report

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The journal of a controller.")]


def replay(directory: Directory, json: Json = False) -> None:
    """Take every decision in a controller's journal again, and say which come out otherwise (exit code 1)."""
    check_journal(directory)
    with user_code():
        found = live.journal.replay(directory)
    if json:
        differences = [difference.to_dict() for difference in found.differences]
        print_json({**vars(found), "equal": not found.different, "differences": differences})
    else:
        say(report.live.history.replay_lines(found))
    if found.different:
        raise typer.Exit(1)
