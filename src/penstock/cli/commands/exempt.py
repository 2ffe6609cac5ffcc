"""`penstock exempt`: jobs that are never paced."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.controller import AddressOption, order
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.errors import InvalidOption

Job = Annotated[str | None, typer.Argument(metavar="JOB", help="The job; none: show who is exempt.")]
Remove = Annotated[bool, typer.Option("--remove", help="Pace it again.")]


def exempt(job: Job = None, remove: Remove = False, address: AddressOption = None, json: Json = False) -> None:
    """Let a job go unpaced whatever the policy says, or pace it again."""
    if remove and job is None:
        raise InvalidOption("--remove needs the name of a job")
    answer = order(address, "exempt", **{"del" if remove else "add": job})
    tell(answer, [f"exempt: {', '.join(answer['exempt']) or 'nobody'}"], json)
