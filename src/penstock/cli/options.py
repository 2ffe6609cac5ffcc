"""Options that several commands share: the same words, the same meaning everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file (.yaml, .json).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Sharing = Annotated[
    str, typer.Option(metavar="NAME", help="A name from `penstock policies`, or my_policy.py:function.")
]
SharingList = Annotated[
    str | None, typer.Option("--sharing", metavar="A,B,…", help="Which policies, comma-separated.  [default: all]")
]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: .png, .svg or .pdf.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a report that needs no network.")]
