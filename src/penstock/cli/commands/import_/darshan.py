"""`penstock import darshan`: logs of what jobs moved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts import import_options as of
from penstock.cli.parts.options import Json
from penstock.cli.parts.reading_traces import import_to, read_logs

Logs = Annotated[
    list[Path], typer.Argument(metavar="LOG|DIR …", help="Darshan logs, or folders of them.", **choices.there())
]


def darshan(
    logs: Logs,
    slurm: of.Slurm = None,
    fields: of.Fields = None,
    output: of.Output = None,
    bandwidth: of.Bandwidth = None,
    node_bandwidth: of.NodeBandwidth = None,
    window: of.Window = None,
    tolerance: of.Tolerance = "0.5%",
    slack: of.Slack = "compute",
    cap: of.Cap = "alone",
    unseen: of.Unseen = "keep",
    anonymise: of.Anonymise = False,
    strict: of.Strict = False,
    json: Json = False,
) -> None:
    """Read Darshan logs: one application per job, with how well its bytes could be placed in time."""
    given = of.options(
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
    import_to(output, lambda: read_logs(logs, given, slurm, of.names(fields)), json, logs)
