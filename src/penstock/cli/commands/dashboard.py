"""`penstock dashboard`: the controller on a screen."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.parts.controller import AddressOption, line, place
from penstock.cli.parts.journal_options import journal_folder
from penstock.cli.parts.options import Json
from penstock.cli.rooms import dashboard as room
from penstock.cli.rooms import live
from penstock.errors import InvalidOption
from penstock.report.parts.json_text import as_json
from penstock.wire.site import usual_journal

if TYPE_CHECKING:
    from penstock.live.admin import Line

NAMES = ("own", "all")

Listen = Annotated[
    str, typer.Option("--listen", metavar="HOST:PORT", help="Where browsers find it; port 0 takes a free one.")
]
Names = Annotated[
    str,
    typer.Option(
        "--names", metavar="WHOSE", help="Whose job names viewers see: own (operators see all), or all for everybody."
    ),
]
Group = Annotated[
    str | None, typer.Option("--operators", metavar="GROUP", help="A UNIX group whose members see all names, too.")
]
Hosts = Annotated[
    list[str] | None,
    typer.Option("--host", metavar="NAME", help="A further name that browsers may call it by. May be repeated."),
]

Journals = Annotated[
    list[Path] | None,
    typer.Option(
        "--journal",
        metavar="DIR",
        help="The controller's journal; of one that stands by, too. May be repeated.  [default: the usual place]",
    ),
]


def dashboard(
    listen: Listen = "127.0.0.1:8440",
    names: Names = "own",
    operators: Group = None,
    host: Hosts = None,
    address: AddressOption = None,
    journal: Journals = None,
    json: Json = False,
) -> None:
    """Show the controller in a browser: who is slowed down, by whom and why; it only looks."""
    if names not in NAMES:
        raise InvalidOption(f"--names is {names!r}; accepted are {' and '.join(NAMES)}")
    where, port = _split(listen)
    place(address)  # refuses a wrong one at once
    folders = _journals(journal or [])

    def dial() -> Line:
        return line(address)

    def ready(port: int) -> None:
        _announce(f"http://{where}:{port}/", json)

    bound = live.server.listeners.bound_socket(where.strip("[]"), port, "port")
    viewers = room.viewers.Viewers(names == "all", operators)
    hosts = [*(host or []), where]

    async def show() -> None:
        shown = room.server.Dashboard(folders, viewers, hosts)
        await room.server.run(shown, bound, dial, ready)

    asyncio.run(show())


def _split(listen: str) -> tuple[str, int]:
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not port.isdecimal() or len(port) > 5 or int(port) > 65535:
        raise InvalidOption(f"--listen is {listen!r}; accepted is HOST:PORT, as in 127.0.0.1:8440 or [::1]:8440")
    return host, int(port)


def _journals(given: Sequence[Path]) -> list[Path]:
    """Journals, as told or in the usual place if it can be read here; without any, only the present is shown."""
    if given:
        if not any(each.is_dir() for each in given):  # one that stands by makes its own when it first leads
            journal_folder(given[0])
        return list(given)
    usual = usual_journal()
    return [usual] if usual.is_dir() and os.access(usual, os.R_OK | os.X_OK) else []


def _announce(url: str, json: bool) -> None:
    if json:
        print(as_json({"url": url, "pid": os.getpid()}, indent=0), flush=True)
        return
    print(
        f"The dashboard is at {url}\nFrom elsewhere: ssh -L 8440:{url.split('//')[1].rstrip('/')} this-host", flush=True
    )
