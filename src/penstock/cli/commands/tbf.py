"""`penstock tbf`: rules for Lustre's token bucket filter."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.backstop import Every, State, show
from penstock.cli.parts.controller import AddressOption
from penstock.cli.parts.options import Json
from penstock.cli.rooms import live, model
from penstock.errors import InvalidOption

Servers = Annotated[int, typer.Option("--servers", metavar="N", help="How many object storage servers there are.")]
Partitions = Annotated[int, typer.Option("--partitions", metavar="N", help="CPU partitions of each (lctl get_param).")]
Rpc = Annotated[str, typer.Option("--rpc", metavar="SIZE", help="What one RPC moves: max_pages_per_rpc.")]


def tbf(
    servers: Servers,
    partitions: Partitions = 1,
    rpc: Rpc = "4MiB",
    state: State = None,
    every: Every = None,
    address: AddressOption = None,
    json: Json = False,
) -> None:
    """Print rules for Lustre's token bucket filter, a quarter above what each job is granted; only what changed.

    To be run on the object storage servers by the site's own tool. Not run on a real Lustre here.
    """
    for name, number in (("--servers", servers), ("--partitions", partitions)):
        if not 1 <= number <= 100_000:
            raise InvalidOption(f"{name} is {number}; 1 to 100000 are accepted")
    try:
        size = model.units.quantity(rpc, "bytes")
    except model.units.Refusal as refusal:
        raise InvalidOption(f"--rpc {refusal}") from None
    if not 4096 <= size <= 2**30:
        raise InvalidOption(f"--rpc is {rpc!r}; 4 KiB to 1 GiB are accepted")
    show(live.backstops.Lustre(size, servers, partitions), state, every, address, json)
