"""`penstock top`: the controller at work, again every second."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.commands.status import gathered
from penstock.cli.parts.controller import AddressOption, line
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import output, tell
from penstock.cli.rooms import live, report, rich
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from penstock.live.admin import Line

Once = Annotated[bool, typer.Option("--once", help="Show it once and leave, as without a terminal.")]
Every = Annotated[float, typer.Option("--every", metavar="SECONDS", help="How often to look.")]
Most = Annotated[int, typer.Option("--jobs", metavar="N", help="How many jobs at most, those with most rate first.")]


def top(
    once: Once = False, every: Every = 1.0, jobs: Most = 30, address: AddressOption = None, json: Json = False
) -> None:
    """Watch the jobs that do I/O, those that use most first, until you press Ctrl-C."""
    if not 0.1 <= every <= 3600:
        raise InvalidOption(f"--every is {every:g}; seconds from 0.1 to 3600 are accepted")
    connected = line(address)
    try:
        if once or json or not output().is_terminal:
            found = gathered(connected, jobs)
            tell(found, [_view(found)], json)
        else:
            _watch(connected, address, every, jobs)
    finally:
        connected.close()


def _watch(connected: Line, address: str | None, every: float, jobs: int) -> None:
    """Show it anew until an interrupt; a controller that goes away is looked for again."""
    view: RenderableType = _view(gathered(connected, jobs))
    try:
        with rich.live.Live(view, screen=True, auto_refresh=False) as screen:
            while True:
                time.sleep(every)
                try:
                    screen.update(_view(gathered(connected, jobs)), refresh=True)
                except live.admin.NoController:
                    connected.close()
                    connected = _again(lambda: line(address), every, screen)
    except KeyboardInterrupt:
        pass


def _again(dial: Callable[[], Line], every: float, screen: Live) -> Line:
    """Dial until somebody answers, and show meanwhile why nobody does."""
    while True:
        try:
            return dial()
        except live.admin.NoController as still:
            screen.update(rich.text.Text(f"{still}\nLooking again every {every:g} s …"), refresh=True)
            time.sleep(every)


def _view(found: dict[str, Any]) -> RenderableType:
    said = report.live.table.status_lines(found["status"], found["server"])
    lines = [rich.text.Text(line) if isinstance(line, str) else line for line in said]
    jobs = report.live.table.jobs_table(found["jobs"]) if found["jobs"] else rich.text.Text("No job does I/O.")
    return rich.console.Group(*lines, rich.text.Text(""), jobs)
