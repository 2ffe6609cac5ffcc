"""`penstock pack`: packs and I/O nodes."""

from __future__ import annotations

from collections import abc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.ignored import say_ignored
from penstock.cli.parts.options import Json, ListAll, Noise, PlanOut, Plot, ScenarioFile, Seed, Sharing
from penstock.cli.parts.output import check_outputs, draw, print_json, print_packing, print_packings
from penstock.cli.parts.plans import check_plan_out, write_plan
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.simulations import disturbed
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import model, report, studies
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
    choices.policy_option(
        "mapping", "Which jobs start when and where: a name from `penstock policies`, or a file.  [default: make-pack]"
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
    plan_out: PlanOut = None,
    json: Json = False,
    plot: Plot = None,
    all_: ListAll = False,
) -> None:
    """Map the jobs of SCENARIO to its I/O nodes, in packs or one by one, and run them there."""
    if compare and (backfill or mapping is not None or sensitivity is not None or plot or plan_out):
        raise InvalidOption(
            "--compare runs every mapping; leave --sensitivity, --backfill, --plot and --plan-out out with it, and "
            "--mapping, too"
        )
    if backfill and mapping is not None:
        raise InvalidOption("--backfill is short for --mapping backfill; leave one of the two out")
    check_outputs(plot)
    check_plan_out(plan_out)
    found = disturbed(model.load(scenario), noise, seed)
    model.needs.need_io_nodes(found)
    chosen = "backfill" if backfill else mapping
    jobs = len(found.applications)
    with user_code(), ProgressLine() as line:

        def progress(ended: int) -> None:
            line.show(scenario.name, ended / jobs, f"{ended:,} of {jobs:,} jobs")

        given: dict[str, Any] = {"io_nodes": io_nodes, "sharing": sharing, "progress": progress}
        if compare:
            packings = studies.packs.compare_packings(found, **given)
        else:
            packing = studies.packs.pack(found, sensitivity, mapping=chosen, **given)
    by_walltime = compare or chosen not in (None, "make-pack", "first-fit", "backfill")
    unread = say_ignored(found, "pack", *(["walltime"] if by_walltime else []))
    if compare:
        _show_all(packings, scenario, unread, json)
    else:
        if plan_out:
            write_plan(studies.plans.plan_of_packing(packing, found), plan_out)
        _show(packing, unread, json, plot, everything=all_)


def _show(packing: Packing, unread: dict[str, Any], json: bool, plot: Path | None, *, everything: bool) -> None:
    if plot:
        draw(report.packs.plot.packing_figure, packing, plot)
    if json:
        print_json(packing.to_dict() | unread)
    else:
        print_packing(packing, plot, everything=everything)


def _show_all(packings: abc.Mapping[str, Packing], file: Path, unread: dict[str, Any], json: bool) -> None:
    if json:
        runs = [packing.to_dict() | {"mapping": name} for name, packing in packings.items()]
        print_json({"scenario": str(file), "packings": runs} | unread)
    else:
        print_packings(packings)
