"""`penstock replay`: every decision of a journal, taken again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.options import Json

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The journal of a controller.")]


def replay(directory: Directory, json: Json = False) -> None:
    """Take every decision in a controller's journal again, and say which come out otherwise (exit code 1)."""
    from penstock.cli.parts.output import print_json, say  # noqa: PLC0415
    from penstock.cli.parts.user_code import user_code  # noqa: PLC0415
    from penstock.live.journal import replay as again  # noqa: PLC0415
    from penstock.report.live.history import replay_lines  # noqa: PLC0415

    with user_code():
        found = again(directory)
    if json:
        differences = [difference.to_dict() for difference in found.differences]
        print_json({**vars(found), "equal": not found.different, "differences": differences})
    else:
        say(replay_lines(found))
    if found.different:
        raise typer.Exit(1)
