"""`penstock import table`: what jobs moved when, as a table of anyone's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts import import_options as of
from penstock.cli.parts.options import Json
from penstock.cli.parts.reading_traces import import_to
from penstock.cli.rooms import traces

TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV or Parquet of job,start,end,bytes,direction[,nodes] or time,job,read,written; a dump of Lustre's "
        "job_stats; JSON of Prometheus' query_range.",
        **choices.there(),
    ),
]
Label = Annotated[
    str | None, typer.Option(metavar="NAME", help="The label of Prometheus that names the job.  [default: jobid, …]")
]


def table(
    file: TableFile,
    label: Label = None,
    slurm: of.Slurm = None,
    fields: of.Fields = None,
    output: of.Output = None,
    bandwidth: of.Bandwidth = None,
    node_bandwidth: of.NodeBandwidth = None,
    window: of.Window = None,
    tolerance: of.Tolerance = "0.5%",
    slack: of.Slack = "compute",
    cap: of.Cap = "alone",
    anonymise: of.Anonymise = False,
    strict: of.Strict = False,
    json: Json = False,
) -> None:
    """Read a table of what jobs moved when: transfers, a time series, Lustre's job_stats or Prometheus."""
    given = of.options(bandwidth, node_bandwidth, window, anonymise, strict, tolerance=tolerance, slack=slack, cap=cap)
    import_to(
        output,
        lambda: traces.import_table(file, given, label=label, slurm=slurm, fields=of.names(fields)),
        json,
        [file],
    )
