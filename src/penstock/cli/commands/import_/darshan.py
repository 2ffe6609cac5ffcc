"""`penstock import darshan`: logs of what jobs moved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.import_options import (
    Anonymise,
    Bandwidth,
    Cap,
    Fields,
    NodeBandwidth,
    Output,
    Slack,
    Slurm,
    Strict,
    Tolerance,
    Unseen,
    Window,
    options,
)
from penstock.cli.parts.options import Json
from penstock.cli.parts.reading_traces import import_to, read_logs

Logs = Annotated[list[Path], typer.Argument(metavar="LOG|DIR …", help="Darshan logs, or folders of them.")]


def darshan(
    logs: Logs,
    slurm: Slurm = None,
    fields: Fields = None,
    output: Output = None,
    bandwidth: Bandwidth = None,
    node_bandwidth: NodeBandwidth = None,
    window: Window = None,
    tolerance: Tolerance = "0.5%",
    slack: Slack = "compute",
    cap: Cap = "alone",
    unseen: Unseen = "keep",
    anonymise: Anonymise = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Read Darshan logs: one application per job, with how well its bytes could be placed in time."""
    given = options(
        bandwidth,
        node_bandwidth,
        window,
        anonymise,
        strict,
        tolerance=tolerance,
        slack=slack,
        cap=cap,
        unseen=unseen,
    )
    named = fields.split(",") if fields is not None else None
    import_to(output, lambda: read_logs(logs, given, slurm, named), json, logs)
