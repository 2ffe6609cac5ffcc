"""`penstock demo`: the main job on a bundled scenario."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.output import check_outputs, print_comparison, write_comparison
from penstock.cli.parts.simulations import find_policies, run_all
from penstock.cli.rooms import model

Report = Annotated[Path, typer.Option("--html", metavar="FILE", help="Where the report goes.")]


def demo(html: Report = Path("penstock-demo.html")) -> None:
    """Compare all sharing policies on a bundled scenario: eight jobs of a morning on one file system."""
    check_outputs(None, html)
    with as_file(files("penstock") / "data" / "demo.yaml") as scenario:
        results = run_all(model.load(scenario), find_policies(), timeline=True)
    write_comparison(results, "demo", None, html)
    print_comparison(results, "demo", None, html)
