"""`penstock loadtest`: what a controller stands on this machine."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from penstock.cli.parts.controller import place
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import live

Clients = Annotated[int, typer.Option("--clients", metavar="N", help="Clients that register.")]
Active = Annotated[int | None, typer.Option("--active", metavar="M", help="Of these, how many do I/O.  [a tenth]")]
Seconds = Annotated[float, typer.Option("--seconds", metavar="S", help="How long they do.")]
Rate = Annotated[float, typer.Option("--rate", metavar="X", help="Posts and completions a second, all together.")]
Transport = Annotated[
    str,
    typer.Option("--transport", metavar="T", help="What they connect by: unix, tcp (with TLS) or tcp-plain."),
]
TestAddress = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="PATH",
        help="The socket of a running controller, whose jobs then share with the clients.  [one of its own]",
    ),
]

_BY = {"unix": "on a UNIX socket", "tcp": "over TCP with TLS", "tcp-plain": "over TCP without TLS"}


def loadtest(
    clients: Clients = 10_000,
    active: Active = None,
    seconds: Seconds = 10.0,
    rate: Rate = 1000.0,
    transport: Transport = "unix",
    address: TestAddress = None,
    json: Json = False,
) -> None:
    """Load a controller with thousands of clients: how fast it registers, answers and restarts, and what it takes."""

    def say(text: str) -> None:
        if sys.stderr.isatty():
            print(f"{text} …", file=sys.stderr)

    load = live.loadtest.Load(clients, max(1, clients // 10) if active is None else active, seconds, rate, transport)
    found = live.loadtest.load_test(load, place(address) if address is not None else None, say)
    restart = "not restarted" if found.restart_seconds is None else f"{found.restart_seconds:.2f} s"
    words = [
        f"{found.clients:,} clients registered {_BY[found.transport]} in {found.register_seconds:.2f} s.",
        f"{load.active:,} of them active, {found.events_per_second:,.0f} events/s: from post to rate "
        f"{found.p50_ms:.1f} ms (median), {found.p99_ms:.1f} ms (99 of 100).",
        f"The controller took {100 * found.server_cpu:.0f} % of a core and {found.rss_mb:.0f} MB, "
        f"{found.echo_ratio:.1f} times the processor time of an echo server.",
        f"Killed with {found.clients:,} leases, it granted again after {restart}."
        if found.restart_seconds is not None
        else "It was not restarted: it is not ours.",
    ]
    tell(asdict(found), words, json)
