"""`penstock import table`: what jobs moved when, as a table of anyone's."""

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
    Window,
    options,
)
from penstock.cli.parts.options import Json
from penstock.cli.parts.reading_traces import import_to
from penstock.cli.rooms import traces

TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV or Parquet of job,start,end,bytes,direction[,nodes] or time,job,read,written; a dump of Lustre's "
        "job_stats; JSON of Prometheus' query_range.",
    ),
]
Label = Annotated[
    str | None, typer.Option(metavar="NAME", help="The label of Prometheus that names the job.  [default: jobid, …]")
]


def table(
    file: TableFile,
    label: Label = None,
    slurm: Slurm = None,
    fields: Fields = None,
    output: Output = None,
    bandwidth: Bandwidth = None,
    node_bandwidth: NodeBandwidth = None,
    window: Window = None,
    tolerance: Tolerance = "0.5%",
    slack: Slack = "compute",
    cap: Cap = "alone",
    anonymise: Anonymise = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Read a table of what jobs moved when: transfers, a time series, Lustre's job_stats or Prometheus."""
    given = options(bandwidth, node_bandwidth, window, anonymise, strict, tolerance=tolerance, slack=slack, cap=cap)
    named = fields.split(",") if fields is not None else None
    import_to(output, lambda: traces.import_table(file, given, label=label, slurm=slurm, fields=named), json, [file])
