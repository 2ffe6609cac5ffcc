"""`penstock limited`: who was held back of late."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.journal_options import JournalOption, journal_folder
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.rooms import lookback, model, report
from penstock.errors import InvalidOption

Last = Annotated[str, typer.Option("--last", metavar="TIME", help="How far to look back: 10 min, 1 h, 2 d.")]


def limited(last: Last = "1 h", journal: JournalOption = None, json: Json = False) -> None:
    """Show who could have moved more in the last hour, how much that was, and who had the bandwidth instead."""
    try:
        seconds = model.units.quantity(last, "seconds")
    except model.units.Refusal as refusal:
        raise InvalidOption(f"--last {refusal}") from None
    folder = journal_folder(journal)
    found = lookback.explain.limited(folder, seconds)
    if json:
        print_json(found.to_dict())
    else:
        say(report.live.history.limited_lines(found))
