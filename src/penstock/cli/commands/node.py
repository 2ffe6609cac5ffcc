"""`penstock node`: the agent of a node."""

from __future__ import annotations

import logging
import os
import platform
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts.controller import AddressOption, places
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import client
from penstock.errors import InvalidOption
from penstock.report.parts.json_text import as_json
from penstock.wire.spool import FOLDER, Spool

if TYPE_CHECKING:
    from penstock.client.agent.node import NodeConfig

STATE = "/run/penstock/node.json"
Name = Annotated[str | None, typer.Option("--node", metavar="NAME", help="What the batch system calls this node.")]
SpoolFolder = Annotated[Path, typer.Option("--spool", metavar="DIR", help="Where the hooks of this node leave word.")]
Paths = Annotated[
    list[str] | None,
    typer.Option("--path", metavar="DIR", help="A paced mount point; again for more.  [the controller's, else all]"),
]
State = Annotated[
    Path, typer.Option("--state", metavar="FILE", help="Where it is kept which jobs run here, for the next start.")
]
Segments = Annotated[
    Path | None, typer.Option("--segments", metavar="DIR", help="Where the segments of jobs are.  [/dev/shm]")
]
Cap = Annotated[str | None, typer.Option("--cap", metavar="RATE", help="The most that this node can move, as 10GB/s.")]
Check = Annotated[bool, typer.Option("--check", help="Only say what would keep it from working; 2 if it would not.")]


def node(
    name: Name = None,
    spool: SpoolFolder = Path(FOLDER),
    path: Paths = None,
    state: State = Path(STATE),
    segments: Segments = None,
    cap: Cap = None,
    address: AddressOption = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """Run the agent of this node: it paces jobs that do not ask, all of them through one connection.

    Hooks of the batch system say which jobs are here; their programs are paced by the preloaded library.
    """
    config = replace(_config(name, path, segments, address), cap=_cap(cap), unpaced=_unpaced())
    found = Spool(str(spool), frozenset({0, os.geteuid()}))
    if check:
        _check(config, found, state, json)
        return
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    with client.agent.lock.held(state.with_suffix(".lock")), found.attended():
        _run(config, client.agent.roster.Roster(found, state), json)


def _config(name: str | None, path: list[str] | None, segments: Path | None, address: str | None) -> NodeConfig:
    for each in path or []:
        if not each.startswith("/"):
            raise InvalidOption(f"--path is {each!r}; the whole path of a mount point is accepted")
    where, *others = places(address)
    near = tuple(each.path for each in (where, *others) if each.path) or (str(client.config.SYSTEM_SOCKET),)
    env = os.environ
    return client.agent.node.NodeConfig(
        node=name or env.get("SLURMD_NODENAME") or socket.gethostname().partition(".")[0],
        address=where,
        others=tuple(others),
        ca=env.get("PENSTOCK_CA") or None,
        munge_socket=env.get("PENSTOCK_MUNGE_SOCKET") or None,
        paths=tuple(path or ()),
        first=client.first_contact.first_contact(client.config.own_rate(env), env, near),
        folder=client.segment.FOLDER if segments is None else segments,
    )


def _cap(text: str | None) -> float | None:
    amount = client.amounts.parse_amount(text, "--cap") if text else None
    if amount == 0.0:
        raise InvalidOption(f"--cap is {text!r}; a rate > 0 is accepted")
    return amount


def _unpaced() -> str:
    """Why programs cannot be paced here, where the platform is one that nobody has built the library for."""
    machine = platform.machine()
    return "" if machine in client.shim.library.MACHINES else f"no library for {machine}"


def _run(config: NodeConfig, roster: Any, json: bool) -> None:
    node = client.agent.node.Node(config, roster)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: node.leave())
    client.agent.node.wake_by_signals(node)

    def ready() -> None:
        jobs = [each.job for each in roster.running()]
        facts = {"node": config.node, "address": str(config.address), "jobs": jobs, "pid": os.getpid()}
        if json:
            print(as_json(facts, indent=0), flush=True)
        else:
            words = f"{len(jobs)} jobs are here already" if jobs else "no job is here yet"
            print(f"The agent of {config.node} speaks to {config.address}; {words}.", flush=True)

    node.run(ready)


def _check(config: NodeConfig, spool: Spool, state: Path, json: bool) -> None:
    """What would keep it from working, each in a sentence."""
    problems = client.agent.checks.problems(config, spool, state)
    facts = {
        "ok": not problems,
        "problems": problems,
        "node": config.node,
        "address": str(config.address),
        "machine": platform.machine(),
    }
    words = problems or [f"The agent of {config.node} would start, and {config.address} lets it in."]
    tell(facts, words, json)
    if problems:
        raise typer.Exit(2)
