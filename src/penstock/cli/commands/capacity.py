"""`penstock capacity`: how much a running controller may give out."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.controller import AddressOption, line, order
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import report
from penstock.errors import InvalidOption

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="RESOURCE CAPACITY", help="Such as 5GB/s, or ost0 5GB/s; nothing: show them."),
]
Suggest = Annotated[bool, typer.Option("--suggest", help="Say which is too high by what jobs moved; nothing changes.")]


def capacity(words: Words = None, suggest: Suggest = False, address: AddressOption = None, json: Json = False) -> None:
    """Change the capacity of a resource while everyone goes on, or show all resources."""
    given = words or []
    if suggest:
        _suggest(given, address, json)
        return
    if len(given) > 2:
        raise InvalidOption(f"capacity has {len(given)} arguments; accepted are [RESOURCE] CAPACITY, as in ost0 5GB/s")
    resource = given[0] if len(given) == 2 else None
    answer = order(address, "capacity", resource=resource, capacity=given[-1] if given else None)
    tell(answer, report.live.table.capacity_lines(answer["capacity"]), json)


def _suggest(given: list[str], address: str | None, json: bool) -> None:
    if given:
        raise InvalidOption(f"--suggest changes nothing, so it takes no {given[0]!r}; leave one of them out")
    with line(address) as connected:
        doubts = connected.ask("server")["capacity_doubts"]
        answer = {**connected.ask("capacity"), "doubts": doubts}
    tell(answer, report.live.table.suggestion_lines(answer["capacity"], answer["doubts"]), json)
