"""`penstock evict`: send a job away from the controller."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.controller import AddressOption, order
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.errors import InvalidOption

Job = Annotated[str | None, typer.Argument(metavar="JOB", help="The job, as `penstock status` shows it.")]
App = Annotated[int | None, typer.Option("--app", metavar="N", help="Its number, where several have that name.")]


def evict(job: Job = None, app: App = None, address: AddressOption = None, json: Json = False) -> None:
    """Forget a job: its members go on at their fallback rate, and what it held is free once its leases are over."""
    if (job is None) == (app is None):
        raise InvalidOption("evict needs the name of a job, or its number as --app N; give one of them")
    answer = order(address, "evict", job=job, app=app)
    tell(answer, [f"job {answer['job']} (number {answer['evicted']}) is evicted."], json)
