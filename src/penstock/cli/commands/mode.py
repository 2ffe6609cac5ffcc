"""`penstock mode`: whether a running controller enforces its rates, only watches, or lets everyone go."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.controller import AddressOption, order
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import report

Mode = Annotated[
    str | None,
    typer.Argument(
        metavar="MODE",
        help="enforce; monitor: decide and write it down, but pace nobody; pause: pace nobody. None: show it.",
    ),
]


def mode(mode: Mode = None, address: AddressOption = None, json: Json = False) -> None:
    """Switch a running controller between enforcing, monitoring and pausing, or show its mode."""
    answer = order(address, "mode", mode=mode)
    tell(answer, [report.live.table.mode_words(answer)], json)
