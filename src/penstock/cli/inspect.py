"""`penstock inspect`: what is in logs or in a scenario, and what could not be seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import Json, Plot
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.model import Scenario
    from penstock.traces.inspecting import Inspected

Paths = Annotated[
    list[Path], typer.Argument(metavar="LOG|DIR|SCENARIO …", help="Darshan logs, folders of them, or one scenario.")
]
Check = Annotated[
    bool, typer.Option("--check", help="Simulate all jobs under fair-share and compare with what was observed.")
]
_SCENARIOS = (".yaml", ".yml", ".json")


def inspect(paths: Paths, check: Check = False, json: Json = False, plot: Plot = None) -> None:
    """Show what logs or a scenario hold: bytes over time per job, how good the evidence is, what could not be seen."""
    from penstock.cli.show import check_outputs, draw, print_json, say  # noqa: PLC0415
    from penstock.report.trace_table import trace_lines, trace_table  # noqa: PLC0415

    check_outputs(plot)
    found, scenario = _found(paths)
    if check:
        from dataclasses import replace  # noqa: PLC0415

        from penstock.traces.inspecting import checked  # noqa: PLC0415

        found = replace(found, rows=checked(found.rows, scenario))
    if plot:
        from penstock.report.theme import theme  # noqa: PLC0415

        with theme():
            from penstock.report.trace_plot import draw_traces  # noqa: PLC0415 - loads matplotlib

            draw(draw_traces, found, plot)
    if json:
        print_json(found.to_dict())
    else:
        say([trace_table(found, ", ".join(str(path) for path in paths[:2])), *trace_lines(found)], plot)


def _found(paths: list[Path]) -> tuple[Inspected, Scenario]:
    from penstock.traces.inspecting import inspect_import, inspect_scenario  # noqa: PLC0415

    scenarios = [path for path in paths if path.suffix.lower() in _SCENARIOS]
    if scenarios and len(paths) > 1:
        raise InvalidOption(f"{scenarios[0]} is a scenario; inspect looks at one scenario, or at logs, not at both")
    if scenarios:
        from penstock.model import load  # noqa: PLC0415

        scenario = load(scenarios[0])
        return inspect_scenario(scenario), scenario
    from penstock.cli.meter import Meter  # noqa: PLC0415
    from penstock.traces import import_darshan  # noqa: PLC0415

    with Meter() as meter:

        def progress(done: int, logs: int) -> None:
            meter.show("reading logs", done / logs if logs else None, f"{done:,} of {logs:,}")

        found = import_darshan(paths, progress=progress)
    return inspect_import(found), found.scenario
