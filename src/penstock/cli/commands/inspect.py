"""`penstock inspect`: what is in logs or in a scenario, and what could not be seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.parts.import_options import Window
from penstock.cli.parts.options import Json, Plot
from penstock.cli.parts.output import check_outputs, draw, print_json, say
from penstock.cli.parts.reading_traces import read_logs, words
from penstock.cli.rooms import model, report, traces
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


def inspect(paths: Paths, window: Window = None, check: Check = False, json: Json = False, plot: Plot = None) -> None:
    """Show what logs or a scenario hold: bytes over time per job, how good the evidence is, what could not be seen."""
    check_outputs(plot)
    found, scenario = _found(paths, window)
    if check:
        found = replace(found, rows=traces.inspecting.checked(found.rows, scenario))
    if plot:
        draw(report.traces.plot.traces_figure, found, plot)
    if json:
        print_json(found.to_dict())
    else:
        say(words(found, paths), plot)


def _found(paths: list[Path], window: str | None) -> tuple[Inspected, Scenario]:
    scenarios = [path for path in paths if path.suffix.lower() in _SCENARIOS]
    if scenarios and len(paths) > 1:
        raise InvalidOption(f"{scenarios[0]} is a scenario; inspect looks at one scenario, or at logs, not at both")
    if scenarios and window is not None:
        raise InvalidOption("--window is for logs; a scenario has its window already")
    if scenarios:
        scenario = model.load(scenarios[0])
        return traces.inspecting.inspect_scenario(scenario), scenario
    imported = read_logs(paths, traces.Options(window=window))
    return traces.inspecting.inspect_import(imported), imported.scenario
