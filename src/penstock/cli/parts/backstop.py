"""What `penstock tbf` and `penstock mmqos` have in common: look, say what changed, remember it, and again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from penstock.cli.parts.controller import line
from penstock.cli.parts.output import tell
from penstock.cli.rooms import live, model
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.live.backstops import Limits

MOST_JOBS = 10_000
State = Annotated[
    Path | None,
    typer.Option("--state", metavar="FILE", help="What was said so far: only what changed is printed, and kept here."),
]
Every = Annotated[
    str | None, typer.Option("--every", metavar="TIME", help="Again and again, at least 30 s apart, until Ctrl-C.")
]


class Backstop(Protocol):
    """A file system that can limit."""

    def limits(self, jobs: Any) -> tuple[Limits, list[str]]:
        """Of whom how much, and who cannot be limited."""

    def commands(self, before: Limits, after: Limits) -> list[str]:
        """What to run."""


def show(backstop: Backstop, state: Path | None, every: str | None, address: str | None, json: bool) -> None:
    """Print what to run now, and again whenever it is time."""
    pause = _pause(every)
    if pause and state is None:
        raise InvalidOption("--every needs --state FILE, without which nobody knows what has changed")
    while True:
        _look(backstop, state, address, json)
        if not pause:
            return
        time.sleep(pause)


def _look(backstop: Backstop, state: Path | None, address: str | None, json: bool) -> None:
    before = live.backstops.read_state(state) if state is not None else {}
    with line(address) as connected:
        jobs = connected.ask("top", count=MOST_JOBS)
    found, left_out = backstop.limits(jobs)
    after = live.backstops.settled(before, found)
    said = backstop.commands(before, after)
    if left_out:
        typer.echo(f"penstock: no limit for {', '.join(left_out)}", err=True)
    tell(
        {"commands": said, "limits": {name: each._asdict() for name, each in after.items()}, "left_out": left_out},
        said,
        json,
    )
    if state is not None:
        live.backstops.write_state(state, after)


def _pause(every: str | None) -> float:
    if every is None:
        return 0.0
    try:
        seconds = model.units.quantity(every, "seconds")
    except model.units.Refusal as refusal:
        raise InvalidOption(f"--every {refusal}") from None
    if seconds < live.backstops.SHORTEST:
        raise InvalidOption(f"--every is {every!r}; at least {live.backstops.SHORTEST:g} s are accepted")
    return seconds
