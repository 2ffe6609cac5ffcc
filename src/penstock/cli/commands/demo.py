"""`penstock demo`: the main job on a bundled scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Report = Annotated[Path, typer.Option("--html", metavar="FILE", help="Where the report goes.")]


def demo(html: Report = Path("penstock-demo.html")) -> None:
    """Compare all sharing policies on a bundled scenario: eight jobs of a morning on one file system."""
    from importlib.resources import as_file, files  # noqa: PLC0415

    from penstock.cli.parts.output import check_outputs, print_comparison, write_comparison  # noqa: PLC0415
    from penstock.cli.parts.simulations import find_policies, run_all  # noqa: PLC0415
    from penstock.model import load  # noqa: PLC0415

    check_outputs(None, html)
    with as_file(files("penstock") / "data" / "demo.yaml") as scenario:
        results = run_all(load(scenario), find_policies(), timeline=True)
    write_comparison(results, "demo", None, html)
    print_comparison(results, "demo", None, html)
