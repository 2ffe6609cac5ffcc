"""`penstock drain`: let those who are at it finish, and take nobody new."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.controller import AddressOption, order
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.errors import InvalidOption

Switch = Annotated[str | None, typer.Argument(metavar="on|off", help="None: show it.")]


def drain(switch: Switch = None, address: AddressOption = None, json: Json = False) -> None:
    """Answer no new announcements (on), so that those jobs go on at their fallback rate, or answer again (off)."""
    if switch not in (None, "on", "off"):
        raise InvalidOption(f"drain is {switch!r}; accepted are on and off")
    answer = order(address, "drain", on=None if switch is None else switch == "on")
    words = "draining: new announcements are refused" if answer["draining"] else "not draining"
    tell(answer, [words], json)
