"""`penstock mmqos`: throttles for GPFS."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.backstop import Every, State, show
from penstock.cli.parts.controller import AddressOption
from penstock.cli.parts.options import Json
from penstock.cli.rooms import live
from penstock.errors import InvalidOption

Device = Annotated[str, typer.Option("--device", metavar="NAME", help="The file system.")]
Pool = Annotated[str, typer.Option("--pool", metavar="NAME", help="Its storage pool.")]
Classes = Annotated[
    str, typer.Option("--classes", metavar="ACCOUNT=CLASS,…", help="Accounts and the classes of their filesets.")
]


def mmqos(
    device: Device,
    classes: Classes,
    pool: Pool = "system",
    state: State = None,
    every: Every = None,
    address: AddressOption = None,
    json: Json = False,
) -> None:
    """Print throttles for GPFS, a quarter above what the jobs of each account are granted; only what changed.

    To be run by the site's own tool. Not run on a real GPFS here.
    """
    pairs = [each.strip().partition("=") for each in classes.split(",")]
    if not all(account and equals and name for account, equals, name in pairs):
        raise InvalidOption(f"--classes is {classes!r}; accounts and classes are accepted, as physics=phys,bio=bio")
    named = {account: name for account, _, name in pairs}
    if len(named) < len(pairs) or len(set(named.values())) < len(pairs):
        raise InvalidOption(f"--classes is {classes!r}; it names an account or a class twice")
    show(live.backstops.Gpfs(device, pool, named), state, every, address, json)
