"""`penstock demo`: the main job on a bundled scenario."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.options import All, Details
from penstock.cli.parts.output import check_outputs, print_comparison, print_next, write_comparison
from penstock.cli.parts.simulations import find_policies, run_all, telling_names
from penstock.cli.rooms import model, policies, report

Report = Annotated[Path, typer.Option("--html", metavar="FILE", help="Where the report goes.")]


def demo(html: Report = Path("penstock-demo.html"), all_: All = False, details: Details = False) -> None:
    """Compare all sharing policies on a bundled scenario: eight jobs of a morning on one file system."""
    check_outputs(None, html)
    known, choose = policies.sharing.catalogue.known_names(), report.comparison.selection
    with as_file(files("penstock") / "workloads" / "data" / "demo.yaml") as scenario:
        loaded = model.load(scenario)
        results = run_all(loaded, find_policies(known if all_ else telling_names(loaded)), timeline=True)
    selected = choose.everything(results) if all_ else choose.selection(results, known=len(known))
    write_comparison(selected, "demo", None, html)
    print_comparison(selected, "demo", None, html, details=details)
    print_next(f"open {html} in a browser; then your own jobs: penstock compare jobs.yaml")
