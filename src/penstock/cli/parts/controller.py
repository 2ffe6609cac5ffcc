"""How commands for operators reach the controller."""

from __future__ import annotations

import os
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
        help="The controller: a socket's path, or tcp://host:port.  [default: PENSTOCK_ADDRESS, else the usual socket]",
    ),
]


def line(address: str | None, role: str = "admin") -> Line:
    """A connection to the controller. Over TLS, PENSTOCK_CERTIFICATE and PENSTOCK_KEY show who we are."""
    papers = live.admin.Papers(*(os.environ.get(f"PENSTOCK_{name}") or None for name in ("CA", "CERTIFICATE", "KEY")))
    return live.admin.Line(place(address), papers, role=role)


def place(address: str | None) -> Address:
    """Where the controller is: as told, or where clients look."""
    if address is not None:
        try:
            whole = address.startswith(("unix:", "tcp")) or not address
            return parse_address(address if whole else os.path.abspath(address))
        except InvalidOption:
            accepted = "a socket's path, unix:/path, tcp://host:port and tcp-plain://host:port"
            raise InvalidOption(f"--address is {address!r}; accepted are {accepted}") from None
    found = from_environment({**os.environ, "PENSTOCK": ""}).address
    if found is None:
        raise InvalidOption(
            f"no controller is known: PENSTOCK_ADDRESS is not set, and there is no {SYSTEM_SOCKET}; "
            "start one with `penstock serve`, or give --address"
        )
    return found


def order(address: str | None, verb: str, **args: Any) -> Any:
    """Ask one thing; an argument that is None is left out."""
    with line(address) as connected:
        return connected.ask(verb, **{name: value for name, value in args.items() if value is not None})
