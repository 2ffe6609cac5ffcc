"""`penstock import darshan`: logs of what jobs moved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.import_options import (
    Anonymise,
    Bandwidth,
    Cap,
    NodeBandwidth,
    Output,
    Slack,
    Strict,
    Tolerance,
    Unseen,
    Window,
    options,
)
from penstock.cli.parts.options import Json
from penstock.cli.parts.reading_traces import import_to, read_logs

Logs = Annotated[list[Path], typer.Argument(metavar="LOG|DIR …", help="Darshan logs, or folders of them.")]
Slurm = Annotated[
    Path | None, typer.Option(metavar="FILE", help="What sacct printed of the same time: nodes, starts and ends.")
]


def darshan(
    logs: Logs,
    slurm: Slurm = None,
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
    import_to(output, lambda: read_logs(logs, given, slurm), json, logs)
