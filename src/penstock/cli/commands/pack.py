"""`penstock pack`: packs and I/O nodes."""

from __future__ import annotations

from collections import abc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.parts.options import Json, Noise, Plot, ScenarioFile, Seed, Sharing
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.studies.packs import Packing

Sensitivity = Annotated[
    str | None,
    typer.Option(
        metavar="S",
        help="How much I/O may run together: a number, inf (first-fit), alpha.  [default: 1, with --backfill 1.5]",
    ),
]
IoNodes = Annotated[
    int | None, typer.Option("--io-nodes", metavar="R", help="How many I/O nodes, instead of the scenario's.")
]
Mapping = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Which jobs start when and where: a name from `penstock policies`, or a file.  [default: make-pack]",
    ),
]
Backfill = Annotated[bool, typer.Option("--backfill", help="No packs: short for --mapping backfill.")]
Compare = Annotated[bool, typer.Option("--compare", help="First-fit, S = 1, S = alpha and backfilling side by side.")]


def pack(
    scenario: ScenarioFile,
    mapping: Mapping = None,
    sensitivity: Sensitivity = None,
    io_nodes: IoNodes = None,
    sharing: Sharing = "list-fifo",
    backfill: Backfill = False,
    compare: Compare = False,
    noise: Noise = None,
    seed: Seed = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Map the jobs of SCENARIO to its I/O nodes, in packs or one by one, and run them there."""
    from penstock.cli.parts.output import check_outputs  # noqa: PLC0415
    from penstock.cli.parts.progress import ProgressLine  # noqa: PLC0415
    from penstock.cli.parts.simulations import disturbed  # noqa: PLC0415
    from penstock.cli.parts.user_code import user_code  # noqa: PLC0415
    from penstock.model import load  # noqa: PLC0415
    from penstock.studies.packs import compare_packings  # noqa: PLC0415
    from penstock.studies.packs import pack as run  # noqa: PLC0415

    if compare and (backfill or mapping is not None or sensitivity is not None or plot):
        raise InvalidOption(
            "--compare runs every mapping; leave --sensitivity, --backfill and --plot out with it, and --mapping, too"
        )
    if backfill and mapping is not None:
        raise InvalidOption("--backfill is short for --mapping backfill; leave one of the two out")
    check_outputs(plot)
    found = disturbed(load(scenario), noise, seed)
    jobs = len(found.applications)
    with user_code(), ProgressLine() as line:

        def progress(ended: int) -> None:
            line.show(scenario.name, ended / jobs, f"{ended:,} of {jobs:,} jobs")

        if compare:
            packings = compare_packings(found, io_nodes=io_nodes, sharing=sharing, progress=progress)
        else:
            chosen = "backfill" if backfill else mapping
            packing = run(found, sensitivity, io_nodes=io_nodes, sharing=sharing, mapping=chosen, progress=progress)
    if compare:
        _show_all(packings, scenario, json)
    else:
        _show(packing, json, plot)


def _show(packing: Packing, json: bool, plot: Path | None) -> None:
    from penstock.cli.parts.output import draw, print_json, print_packing  # noqa: PLC0415

    if plot:
        from penstock.report.packs.plot import packing_figure  # noqa: PLC0415 - loads matplotlib

        draw(packing_figure, packing, plot)
    if json:
        print_json(packing)
    else:
        print_packing(packing, plot)


def _show_all(packings: abc.Mapping[str, Packing], file: Path, json: bool) -> None:
    from penstock.cli.parts.output import print_json, print_packings  # noqa: PLC0415

    if json:
        runs = [packing.to_dict() | {"mapping": name} for name, packing in packings.items()]
        print_json({"scenario": str(file), "packings": runs})
    else:
        print_packings(packings)
