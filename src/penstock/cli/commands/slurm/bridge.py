"""`penstock slurm bridge`: between Slurm and the controller."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.parts.controller import AddressOption, line, place
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import advise, live, model
from penstock.wire.spool import Spool

Spools = Annotated[
    list[str] | None,
    typer.Option("--spool", metavar="DIR", help="Where hooks leave files.  [default: /run/penstock/slurmctld]"),
]
License = Annotated[
    str, typer.Option("--license", metavar="NAME", help="Of bandwidth, to be held back; nothing: none is.")
]
Site = Annotated[
    Path | None,
    typer.Option("--site", metavar="FILE", help="The machine and its usual jobs: advice for jobs that wait."),
]
Once = Annotated[bool, typer.Option("--once", help="Forward what waits, compare once, and say what was done.")]


def bridge(
    spool: Spools = None,
    license: License = "",
    site: Site = None,
    once: Once = False,
    address: AddressOption = None,
    json: Json = False,
) -> None:
    """Tell the controller what Slurm knows of jobs, and hold back licences while bandwidth is short.

    It runs beside slurmctld, as its user, until it is stopped. Jobs start and end as ever while it does not run.
    With --once, exit code 1: not all could be done, and why is said.
    """
    place(address)  # a wrong one is refused at once
    spools = [Spool(each) for each in spool or [live.slurm.files.CONTROLLER_FOLDER]]
    made = live.slurm.bridge.Bridge(
        lambda: line(address, role="hook"),
        spools,
        live.slurm.queue.Slurm(),
        license=license,
        advise=_planner(site),
        say=lambda text: typer.echo(f"penstock: {text}", err=True),
    )
    if once:
        for _ in range(2):
            made.round()
            made.settle()
        made.close()
    else:
        _run(made)
    told = made.told.as_json()
    tell(told, _words(told), json)
    if once and (told["problems"] or told["dropped"]):
        raise typer.Exit(1)


def _planner(site: Path | None) -> Any:
    """What planners say of jobs that wait, by a scenario of the machine and its usual jobs."""
    if site is None:
        return None
    scenario = model.load(site)
    return lambda waiting: advise.submission.submission_advice(scenario, waiting)


def _run(made: Any) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    made.run(stop.is_set, stop.wait)


def _words(told: dict[str, Any]) -> list[str]:
    return [
        f"{told['forwarded']} hooks forwarded, {told['ignored']} of them ignored, {told['dropped']} dropped",
        f"{told['compared']} comparisons with the queue, {told['started']} starts and {told['ended']} ends told by it",
        *(f"{kind}: {text}" for kind, text in told["problems"].items()),
    ]
