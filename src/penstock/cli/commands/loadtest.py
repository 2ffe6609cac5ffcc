"""`penstock loadtest`: what a controller stands on this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
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

Agents = Annotated[
    int | None,
    typer.Option(
        "--agents", metavar="N", help="Instead of clients, agents of N nodes: how long a control cycle takes."
    ),
]
Real = Annotated[
    int | None, typer.Option("--real", metavar="R", help="Of these, processes of their own.  [a tenth, at most 200]")
]
Cycles = Annotated[int, typer.Option("--cycles", metavar="K", help="With --agents: how many cycles.")]

_BY = {"unix": "on a UNIX socket", "tcp": "over TCP with TLS", "tcp-plain": "over TCP without TLS"}


def loadtest(
    clients: Clients = 10_000,
    active: Active = None,
    seconds: Seconds = 10.0,
    rate: Rate = 1000.0,
    transport: Transport = "unix",
    address: TestAddress = None,
    agents: Agents = None,
    real: Real = None,
    cycles: Cycles = 20,
    json: Json = False,
) -> None:
    """Load a controller with thousands of clients: how fast it registers, answers and restarts, and what it takes."""

    def say(text: str) -> None:
        if sys.stderr.isatty():
            print(f"{text} …", file=sys.stderr)

    if agents is not None:
        _tell_agents(agents, real, cycles, say, json)
        return
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


def _tell_agents(agents: int, real: int | None, cycles: int, say: Callable[[str], None], json: bool) -> None:
    from penstock.cli.parts.agent_load import cycles as test  # noqa: PLC0415 - loads the client as well

    load = test.AgentLoad(agents, test.default_real(agents) if real is None else real, max(1, agents // 10), cycles)
    found = test.agent_load(load, say)
    kept = found.segments_ms
    words = [
        f"{found.agents:,} agents, {found.real:,} of them processes of their own, were let in within "
        f"{found.register_seconds:.2f} s. The {found.processes:,} programs that they could pace are not run: those of "
        "a job on a node read one segment.",
        f"A control cycle, median of {found.cycles} (95 of 100): the last virtual agent is told its new rate after "
        f"{found.told_ms:.0f} ms ({found.told_p95_ms:.0f} ms)"
        + (
            "."
            if kept is None
            else f", the last real one has it in its segment after {kept:.0f} ms ({found.segments_p95_ms:.0f} ms)."
        ),
        f"The controller took {found.cpu_ms:.0f} ms of processor time for a cycle, {100 * found.server_cpu:.0f} % of a "
        f"core while nothing changes, and {found.rss_mb:.0f} MB.",
    ]
    tell(asdict(found), words, json)
