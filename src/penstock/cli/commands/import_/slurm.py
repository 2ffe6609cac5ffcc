"""`penstock import slurm`: what Slurm's accounting knows of jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts import import_options as of
from penstock.cli.parts.options import Json
from penstock.cli.parts.reading_traces import import_to
from penstock.cli.rooms import traces

SacctFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="What `sacct -P` or `sacct --json` printed.", **choices.there())
]


def slurm(
    file: SacctFile,
    io: of.Io = None,
    fields: of.Fields = None,
    output: of.Output = None,
    bandwidth: of.Bandwidth = None,
    node_bandwidth: of.NodeBandwidth = None,
    window: of.Window = None,
    slack: of.Slack = "compute",
    unseen: of.Unseen = "keep",
    anonymise: of.Anonymise = False,
    strict: of.Strict = False,
    json: Json = False,
) -> None:
    """Read Slurm's accounting: jobs, nodes and bytes as counted; when bytes moved is the model that --io states."""
    given = of.options(bandwidth, node_bandwidth, window, anonymise, strict, slack=slack, unseen=unseen)
    import_to(output, lambda: traces.import_slurm(file, given, io=io, fields=of.names(fields)), json, [file])
