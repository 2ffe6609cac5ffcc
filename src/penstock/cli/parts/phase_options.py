"""Options of commands that announce I/O themselves."""

from __future__ import annotations

from typing import Annotated

import typer

Volume = Annotated[
    str | None,
    typer.Option("--volume", metavar="SIZE", help="How much will be moved, as 10GB.  [found out on the way]"),
]
Direction = Annotated[str, typer.Option("--direction", metavar="WAY", help="write or read.")]
Targets = Annotated[
    str | None, typer.Option("--targets", metavar="A,B,…", help="The storage targets that it goes to.  [default: all]")
]
JobOption = Annotated[
    str | None, typer.Option("--job", metavar="NAME", help="The job.  [default: PENSTOCK_JOB, or the batch system's]")
]
