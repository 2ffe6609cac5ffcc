"""`penstock import swf`: jobs of the Parallel Workloads Archive and others in its format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts import import_options as of
from penstock.cli.parts.options import Json
from penstock.cli.parts.reading_traces import import_to
from penstock.cli.rooms import traces
from penstock.errors import InvalidOption

SwfFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A Standard Workload Format file, .gz or not.", **choices.there())
]
Cores = Annotated[int, typer.Option("--cores-per-node", metavar="N", help="Processors of SWF that make a node.")]


def swf(
    file: SwfFile,
    io: of.Io = None,
    cores_per_node: Cores = 1,
    output: of.Output = None,
    bandwidth: of.Bandwidth = None,
    node_bandwidth: of.NodeBandwidth = None,
    window: of.Window = None,
    anonymise: of.Anonymise = False,
    strict: of.Strict = False,
    json: Json = False,
) -> None:
    """Read a Standard Workload Format file. It has no I/O: all of that is the model that --io states."""
    if cores_per_node < 1:
        raise InvalidOption(f"--cores-per-node is {cores_per_node}; accepted is a whole number ≥ 1")
    given = of.options(bandwidth, node_bandwidth, window, anonymise, strict)
    import_to(output, lambda: traces.import_swf(file, given, io=io, cores_per_node=cores_per_node), json, [file])
