"""Options of all imports of traces, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts import choices
from penstock.cli.rooms import model, traces
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.traces import Options

Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="The scenario to write: .yaml or .json.",
        **choices.needed("-o is missing; an import writes a scenario, as in -o week.yaml (inspect only looks)"),
    ),
]
Slurm = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="What sacct printed of the same time: nodes, starts and ends.", **choices.there()
    ),
]
Fields = Annotated[
    str | None, typer.Option(metavar="A,B,…", help="The fields of a sacct file without a header, in their order.")
]
Io = Annotated[
    str | None,
    typer.Option(
        "--io",
        metavar="MODEL",
        help="When jobs move bytes: period=1h (bytes as counted), period=1h,fraction=10%, apex, or classes.csv.",
    ),
]
Bandwidth = Annotated[
    str | None,
    typer.Option(metavar="B", help="Of the file system: 160 GB/s.  [default: the highest seen, a lower bound]"),
]
NodeBandwidth = Annotated[str | None, typer.Option(metavar="b", help="What one node can move: 2 GB/s.")]
Window = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="A..B|busy",
        help="Dates (UTC), or times since the first start; its ends are cut to where 80 % of the usual nodes are busy.",
    ),
]
Tolerance = Annotated[
    str, typer.Option(metavar="SHARE", help="By how much of its run time merging may displace a byte, on average.")
]
Slack = Annotated[
    str,
    typer.Option("--slack", metavar="compute|contention", help="What a transfer took beyond bytes over cap counts as."),
]
Cap = Annotated[
    str,
    typer.Option("--cap", metavar="alone|median|max|FILE", help="How fast an application can be, from its runs."),
]
Unseen = Annotated[
    str, typer.Option("--unseen", metavar="keep|drop", help="Jobs that Slurm knows and of which no bytes are known.")
]
Anonymise = Annotated[
    bool, typer.Option("--anonymise", help="Stable pseudonyms for users, executables, jobs and files.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail where input is damaged, instead of leaving it out.")]


def options(
    bandwidth: str | None,
    node_bandwidth: str | None,
    window: str | None,
    anonymise: bool,
    strict: bool,
    *,
    tolerance: str = "0.5%",
    **more: Any,
) -> Options:
    """What the options say; those that a command does not have are as by default."""
    return traces.Options(
        bandwidth=_rate(bandwidth, "--bandwidth"),
        node_bandwidth=_rate(node_bandwidth, "--node-bandwidth"),
        window=window,
        tolerance=traces.options.share(tolerance, "--tolerance"),
        anonymise=anonymise,
        strict=strict,
        **more,
    )


def names(fields: str | None) -> list[str] | None:
    """The fields of a sacct file that were named."""
    return None if fields is None else fields.split(",")


def _rate(text: str | None, option: str) -> float | None:
    try:
        return None if text is None else model.units.quantity(text, "bytes/s")
    except model.units.Refusal as refusal:
        raise InvalidOption(f"{option} {refusal}") from None
