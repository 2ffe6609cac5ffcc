"""How operators' commands reach the controller from the command line."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.rooms import live
from penstock.client.config import SYSTEM_SOCKET, from_environment, parse_address
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.client.config import Address
    from penstock.live.admin import Line

AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="WHERE",
        help="The controller: a socket's path, or tcp://host:port; several with commas.  "
        "[default: PENSTOCK_ADDRESS, else the usual socket]",
    ),
]


def line(address: str | None, role: str = "admin") -> Line:
    """A connection to the controller, at the first address where one answers; the last failure is told.

    Over TLS, PENSTOCK_CERTIFICATE and PENSTOCK_KEY show who we are.
    """
    papers = live.admin.Papers(*(os.environ.get(f"PENSTOCK_{name}") or None for name in ("CA", "CERTIFICATE", "KEY")))
    *others, last = places(address)
    for place in others:
        with suppress(live.admin.NoController):
            return live.admin.Line(place, papers, role=role)
    return live.admin.Line(last, papers, role=role)


def places(address: str | None) -> tuple[Address, ...]:
    """Where the controller may be: as told, or where clients look."""
    if address is not None:
        try:
            given = (each.strip() for each in address.split(","))
            return tuple(
                parse_address(each if each.startswith(("unix:", "tcp")) or not each else os.path.abspath(each))
                for each in given
            )
        except InvalidOption:
            accepted = "a socket's path, unix:/path, tcp://host:port and tcp-plain://host:port"
            raise InvalidOption(f"--address is {address!r}; accepted are {accepted}") from None
    found = from_environment({**os.environ, "PENSTOCK": ""}).addresses
    if not found:
        raise InvalidOption(
            f"no controller is known: PENSTOCK_ADDRESS is not set, and there is no {SYSTEM_SOCKET}; "
            "start one with `penstock serve`, or give --address"
        )
    return found


def place(address: str | None) -> Address:
    """The first of them."""
    return places(address)[0]


def order(address: str | None, verb: str, **args: Any) -> Any:
    """Ask one thing; an argument that is None is left out."""
    with line(address) as connected:
        return connected.ask(verb, **{name: value for name, value in args.items() if value is not None})
