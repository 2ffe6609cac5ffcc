"""`penstock status`: who does I/O right now, and how the controller is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts.controller import AddressOption, line
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import report

if TYPE_CHECKING:
    from penstock.live.admin import Line

MOST = 10_000

All = Annotated[bool, typer.Option("--all", help="Idle jobs, too.")]


Mine = Annotated[bool, typer.Option("--mine", help="One's own jobs only, which every user may ask for.")]


def status(every: All = False, mine: Mine = False, address: AddressOption = None, json: Json = False) -> None:
    """Show the jobs that do I/O under a running controller, their rates, and how full each resource is."""
    if mine:
        _tell_own(address, json)
        return
    with line(address) as connected:
        answer = gathered(connected, every=every)
    words: list[Any] = report.live.table.status_lines(answer["status"], answer["server"])
    jobs = answer["jobs"]
    tell(answer, [*words, report.live.table.jobs_table(jobs) if jobs else "No job does I/O."], json)


def _tell_own(address: str | None, json: bool) -> None:
    with line(address, role="client") as connected:
        own = connected.ask("mine")
    rate = report.live.table.rate
    words = [f"{name}: {rate(each['charged'])} of {rate(each['capacity'])}" for name, each in own["capacity"].items()]
    jobs = own["jobs"]
    shown = [*words, report.live.table.jobs_table(jobs) if jobs else "No job of yours is known."]
    past = report.live.table.outside_lines(jobs)
    tell(own, [*shown, *past, *report.live.forecast.forecast_lines(own)], json)


def gathered(line: Line, most: int = MOST, every: bool = False) -> dict[str, Any]:
    """All that a view of the controller shows."""
    jobs = line.ask("top", count=most, idle=every)
    return {"status": line.ask("status"), "server": line.ask("server"), "jobs": jobs}
