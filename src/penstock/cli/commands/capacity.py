"""`penstock capacity`: how much a running controller may give out."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.controller import AddressOption, order
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import report
from penstock.errors import InvalidOption

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="RESOURCE CAPACITY", help="Such as 5GB/s, or ost0 5GB/s; nothing: show them."),
]


def capacity(words: Words = None, address: AddressOption = None, json: Json = False) -> None:
    """Change the capacity of a resource while everyone goes on, or show all resources."""
    given = words or []
    if len(given) > 2:
        raise InvalidOption(f"capacity has {len(given)} arguments; accepted are [RESOURCE] CAPACITY, as in ost0 5GB/s")
    resource = given[0] if len(given) == 2 else None
    answer = order(address, "capacity", resource=resource, capacity=given[-1] if given else None)
    tell(answer, report.live.table.capacity_lines(answer["capacity"]), json)
