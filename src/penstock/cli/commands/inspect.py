"""`penstock inspect`: what is in logs or in a scenario, and what could not be seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.choices import is_stdin
from penstock.cli.parts.import_options import Window
from penstock.cli.parts.options import All, Json, Plot
from penstock.cli.parts.output import check_outputs, draw, print_json, say
from penstock.cli.parts.reading_traces import TABLES, read_logs, titled
from penstock.cli.rooms import model, report, traces
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.model import Scenario
    from penstock.traces.inspecting import Inspected

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="LOG|DIR|TABLE|SCENARIO …",
        help="Darshan logs, folders of them, a table (.csv, .parquet, .txt), or one scenario.",
        **choices.there(),
    ),
]
Check = Annotated[
    bool, typer.Option("--check", help="Simulate all jobs under fair-share and compare with what was observed.")
]
_SCENARIOS = (".yaml", ".yml", ".json")


def inspect(
    paths: Paths,
    window: Window = None,
    check: Check = False,
    json: Json = False,
    plot: Plot = None,
    all_: All = False,
) -> None:
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
        words = report.traces.table
        table = words.trace_table(found, titled(paths), everything=all_)
        say([table, *words.trace_lines(found, "" if all_ else "--all")], plot)


def _found(paths: list[Path], window: str | None) -> tuple[Inspected, Scenario]:
    scenarios = [path for path in paths if path.suffix.lower() in _SCENARIOS or is_stdin(path)]
    if scenarios and len(paths) > 1:
        raise InvalidOption(f"{scenarios[0]} is a scenario; inspect looks at one scenario, or at logs, not at both")
    if scenarios and window is not None:
        raise InvalidOption("--window is for logs; a scenario has its window already")
    if scenarios:
        scenario = model.load(scenarios[0])
        return traces.inspecting.inspect_scenario(scenario), scenario
    options = traces.Options(window=window)
    one_table = len(paths) == 1 and paths[0].suffix.lower() in TABLES and not paths[0].is_dir()
    imported = traces.import_table(paths[0], options) if one_table else read_logs(paths, options)
    return traces.inspecting.inspect_import(imported), imported.scenario
