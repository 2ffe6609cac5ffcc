"""`penstock serve`: the controller."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import live, model, report
from penstock.errors import InvalidOption
from penstock.report.parts.json_text import as_json

if TYPE_CHECKING:
    from penstock.live.server.config import ServerConfig
    from penstock.live.server.serve import Listening

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A configuration (.yaml); other options count over it.",
        **choices.file(".yaml", ".yml"),
    ),
]
Capacity = Annotated[
    str | None, typer.Option("--capacity", metavar="RATE", help="What the file system moves, as 10GB/s: all it needs.")
]
Socket = Annotated[
    Path | None, typer.Option("--socket", metavar="PATH", help="Where clients of this host connect.  [the usual place]")
]
Journal = Annotated[
    Path | None, typer.Option("--journal", metavar="DIR", help="Where everything is written down.  [the usual place]")
]
Sharing = Annotated[
    str | None,
    typer.Option(
        "--sharing",
        metavar="NAME",
        help="A name from `penstock policies`, or my_policy.py:function.  [fair-share]",
        **choices.policy("sharing"),
    ),
]
Nodes = Annotated[
    int | None,
    typer.Option("--nodes", metavar="N", help="Nodes of the machine: how far a job's fallback rate goes.  [1000]"),
]
Grace = Annotated[
    bool, typer.Option("--grace", help="Raise no rate until all leases are over; for a journal that is damaged.")
]
Epoch = Annotated[
    int, typer.Option("--epoch", metavar="N", help="At least this epoch, to take over from another host.")
]
MetricsPort = Annotated[
    int | None, typer.Option("--metrics", metavar="PORT", help="Serve Prometheus metrics on this port of the loopback.")
]
Standby = Annotated[
    Path | None,
    typer.Option(
        "--standby", metavar="DIR", help="Lead whenever nobody else does who shares this folder, not one that is paced."
    ),
]
Check = Annotated[
    bool, typer.Option("--check", help="Only say what a start would complain of; 2 if it would not start.")
]
LogFile = Annotated[
    Path | None, typer.Option("--log", metavar="FILE", help="Where the log goes, one JSON object a line.  [stderr]")
]


def serve(
    config: ConfigFile = None,
    capacity: Capacity = None,
    socket: Socket = None,
    journal: Journal = None,
    sharing: Sharing = None,
    nodes: Nodes = None,
    grace: Grace = False,
    epoch: Epoch = 0,
    metrics: MetricsPort = None,
    standby: Standby = None,
    log: LogFile = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """Run the controller until it is stopped: jobs announce their I/O, and it says who may move how much when."""
    given = {
        "capacity": capacity,
        "sharing": sharing,
        "machine_nodes": nodes,
        "metrics_port": metrics,
        "socket": _only(path=socket),
        "journal": _only(directory=journal),
        "standby": _only(folder=standby),
        "log": _only(file=log),
    }
    given = {name: value for name, value in given.items() if value not in (None, {})}
    if config is None and capacity is None:
        raise InvalidOption("serve needs --capacity, as in --capacity 10GB/s, or a configuration with --config FILE")
    _check_capacity(capacity)
    if check:
        _check(chosen(config, given), json)
        return
    gc.disable()  # until it listens: nothing of what is loaded is garbage, and a restart must be quick
    try:
        code = _run(config, given, grace, epoch, json)
    finally:
        gc.enable()
    raise typer.Exit(code)


def _check_capacity(text: str | None) -> None:
    """Refuse what is no bandwidth before the controller is loaded, as its configuration would."""
    try:
        rate = 1.0 if text is None else model.units.quantity(text, "bytes/s")
    except model.units.Refusal as refusal:
        raise InvalidOption(f"--capacity {refusal}") from None
    if not rate > 0.0:
        raise InvalidOption(f'--capacity is {text!r}; a bandwidth is a number > 0 or text such as "160 GB/s"')


def _check(config: ServerConfig, json: bool) -> None:
    warnings = live.server.readiness.check(config)
    tell({"ok": True, "warnings": warnings}, [*warnings, "The controller would start."], json)


def _run(file: Path | None, given: dict[str, Any], grace: bool, epoch: int, json: bool) -> int:
    settled = chosen(file, given)

    def ready(found: Listening) -> None:
        gc.freeze()
        gc.enable()
        _announce(settled, found, json)

    def again() -> ServerConfig:
        return chosen(file, given)

    return live.server.serve.serve(settled, grace=grace, epoch=epoch, ready=ready, again=again)


def _only(**given: Path | None) -> dict[str, str]:
    return {name: os.path.abspath(value) for name, value in given.items() if value is not None}


def chosen(file: Path | None, given: dict[str, Any]) -> ServerConfig:
    """The configuration of a file, if there is one, and over it what the command line says."""
    told: dict[str, Any] = live.server.config.load_config(file).model_dump(exclude_unset=True) if file else {}
    for name, value in given.items():
        told[name] = {**told.get(name, {}), **value} if isinstance(value, dict) else value
    config = live.server.config.make_config(**told)
    return live.server.config.make_config(**_with_defaults(told, config))


def _with_defaults(told: dict[str, Any], config: ServerConfig) -> dict[str, Any]:
    """What a terminal and a user who is not root need, where nobody says otherwise."""
    extra: dict[str, Any] = {}
    if config.socket.path is None and os.geteuid() != 0 and not os.environ.get("XDG_RUNTIME_DIR"):
        extra["socket"] = {**told.get("socket", {}), "path": str(config.journal_folder() / "penstock.sock")}
    if config.log.file is None and "level" not in told.get("log", {}) and sys.stderr.isatty():
        extra["log"] = {"level": "warning"}  # people want to see what is wrong, not who comes and goes
    return {**told, **extra}


def _announce(config: ServerConfig, found: Listening, json: bool) -> None:
    """Where it listens, and what clients need to know of it."""
    address, resources, sharing = found
    export = f"PENSTOCK_ADDRESS=unix:{address}"
    tcp = config.tcp.listen if config.tcp else None
    if json:
        facts = {"socket": address, "tcp": tcp, "journal": str(config.journal_folder()), "sharing": sharing}
        print(
            as_json({**facts, "resources": resources, "environment": export, "pid": os.getpid()}, indent=0), flush=True
        )
        return
    shared = ", ".join(f"{name} {report.live.table.rate(capacity)}" for name, capacity in resources.items())
    print(f"The controller listens on {address}{f' and {tcp}' if tcp else ''}, sharing {shared} by {sharing}.")
    print(f"Its journal is in {config.journal_folder()}. Jobs find it with:\n")
    print(f"    export {export}\n", flush=True)
