"""`penstock monitoring`: what Prometheus and Grafana need to know of penstock."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import live

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Where the files go; it is made if it is not there.")]


def monitoring(folder: Folder, json: Json = False) -> None:
    """Write recording rules and alerts for Prometheus and a dashboard for Grafana to DIR."""
    written = live.monitoring.write(folder)
    lines = [f"{path}: {live.monitoring.FILES[path.name]}" for path in written]
    tell({"files": [str(path) for path in written]}, lines, json)
