"""`penstock import slurm`: what Slurm's accounting knows of jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.import_options import (
    Anonymise,
    Bandwidth,
    Fields,
    Io,
    NodeBandwidth,
    Output,
    Slack,
    Strict,
    Unseen,
    Window,
    options,
)
from penstock.cli.parts.options import Json
from penstock.cli.parts.reading_traces import import_to
from penstock.cli.rooms import traces

SacctFile = Annotated[Path, typer.Argument(metavar="FILE", help="What `sacct -P` or `sacct --json` printed.")]


def slurm(
    file: SacctFile,
    io: Io = None,
    fields: Fields = None,
    output: Output = None,
    bandwidth: Bandwidth = None,
    node_bandwidth: NodeBandwidth = None,
    window: Window = None,
    slack: Slack = "compute",
    unseen: Unseen = "keep",
    anonymise: Anonymise = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Read Slurm's accounting: jobs, nodes and bytes as counted; when bytes moved is the model that --io states."""
    given = options(bandwidth, node_bandwidth, window, anonymise, strict, slack=slack, unseen=unseen)
    named = fields.split(",") if fields is not None else None
    import_to(output, lambda: traces.import_slurm(file, given, io=io, fields=named), json, [file])
