"""`penstock limited`: who was held back of late."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.journal_options import JournalOption
from penstock.cli.parts.options import Json
from penstock.errors import InvalidOption

Last = Annotated[str, typer.Option("--last", metavar="TIME", help="How far to look back: 10 min, 1 h, 2 d.")]


def limited(last: Last = "1 h", journal: JournalOption = None, json: Json = False) -> None:
    """Show who could have moved more in the last hour, how much that was, and who had the bandwidth instead."""
    from penstock.cli.parts.journal_options import journal_folder  # noqa: PLC0415
    from penstock.cli.parts.output import print_json, say  # noqa: PLC0415
    from penstock.lookback.explain import limited as look_back  # noqa: PLC0415
    from penstock.model.units import Refusal, quantity  # noqa: PLC0415
    from penstock.report.live.history import limited_lines  # noqa: PLC0415

    try:
        seconds = quantity(last, "seconds")
    except Refusal as refusal:
        raise InvalidOption(f"--last {refusal}") from None
    found = look_back(journal_folder(journal), seconds)
    if json:
        print_json(found.to_dict())
    else:
        say(limited_lines(found))
