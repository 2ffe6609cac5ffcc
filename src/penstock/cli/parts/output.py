"""What commands print and write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from penstock.cli.parts.progress import ProgressLine
from penstock.files import check_place
from penstock.metrics.result import Result
from penstock.report.comparison.page import write_report
from penstock.report.comparison.summary import summary_lines
from penstock.report.comparison.table import as_json, comparison_table, run_table
from penstock.report.optimum import optimum_table, optimum_words
from penstock.report.packs.table import packing_lines, packing_table, packings_lines, packings_table, release_lines
from penstock.report.plots import comparison_figure, figure_kind, need_matplotlib, save_figure
from penstock.report.targets.table import (
    allotment_lines,
    allotment_table,
    allotments_lines,
    allotments_table,
    improvement_lines,
    move_lines,
)
from penstock.studies.schedules import check_schedule

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from penstock.campaign.recommendation import Recommendation
    from penstock.model import Scenario
    from penstock.report.parts.fitting_table import FittingTable
    from penstock.studies.optimum import Optimum
    from penstock.studies.packs import Packing
    from penstock.studies.targets import Allotment, Move

PIPE_WIDTH = 120


def output() -> Console:
    """Standard output; a pipe has no width, and names that are cut for lack of it cannot be searched for."""
    console = Console()
    return console if console.is_terminal else Console(width=max(PIPE_WIDTH, console.width))


def print_json(thing: object) -> None:
    """One JSON document on standard output."""
    print(as_json(thing))


def print_run(result: Result, *written: Path | None) -> None:
    """One run as a table, and the files that came with it."""
    console = output()
    console.print(run_table(result))
    _say_written(console, *written)


def print_comparison(
    results: Sequence[Result],
    name: str,
    plot: Path | None,
    html: Path | None,
    recommendation: Recommendation | None = None,
) -> None:
    """A comparison as a table, what it says in words, and a recommendation if one was asked for."""
    console = output()
    console.print(comparison_table(results, name))
    for line in summary_lines(results):
        console.print(line, highlight=False)
    if recommendation:
        from penstock.report.recommendation.table import recommendation_lines, recommendation_table  # noqa: PLC0415 - few ask for it

        console.print()
        console.print(recommendation_table(recommendation))
        _say(console, recommendation_lines(recommendation))
    _say_written(console, plot, html)


def write_comparison(
    results: Sequence[Result],
    name: str,
    plot: Path | None,
    html: Path | None,
    recommendation: Recommendation | None = None,
) -> None:
    """The files that were asked for."""
    if plot:
        draw(lambda runs: comparison_figure(runs, recommendation), results, plot)
    if html:
        with ProgressLine() as line:
            line.show("writing the report")
            write_report(html, name, results, recommendation)


def print_optimum(best: Optimum, *written: Path | None) -> None:
    """The exact optimum, what it means, and the files that came with it."""
    console = output()
    console.print(optimum_table(best))
    console.print(optimum_words(best), highlight=False)
    _say_written(console, *written)


def print_packing(packing: Packing, scenario: Scenario, *written: Path | None) -> None:
    """One packing as a table, what it says in words, and the files that came with it."""
    console = output()
    console.print(packing_table(packing))
    _say(console, [*packing_lines(packing), *release_lines(scenario)])
    _say_written(console, *written)


def print_packings(packings: Mapping[str, Packing], scenario: Scenario) -> None:
    """Packings of `scenario` side by side, and which was best at what."""
    console = output()
    console.print(packings_table(packings))
    _say(console, [*packings_lines(packings), *release_lines(scenario)])


def print_allotment(
    allotment: Allotment, start: Allotment, moves: Sequence[Move] | None = None, *written: Path | None
) -> None:
    """Targets given out as a table, what it says in words, what was better than `start`, and who had to move."""
    console = output()
    console.print(allotment_table(allotment))
    _say(console, [*allotment_lines(allotment), *improvement_lines(start, allotment)])
    if moves is not None:
        _say(console, move_lines(moves))
    _say_written(console, *written)


def print_allotments(allotments: Sequence[Allotment], refused: Iterable[str], *written: Path | None) -> None:
    """All pairs of policies side by side, which was best at what, and which were not possible."""
    console = output()
    console.print(allotments_table(allotments))
    _say(console, [*allotments_lines(allotments), *(f"Left out: {reason}." for reason in refused)])
    _say_written(console, *written)


def check_outputs(plot: Path | None, html: Path | None = None, schedule: Path | None = None) -> None:
    """Refuse a file that could not be written before the work is done, not after."""
    if schedule:
        check_schedule(schedule)
        check_place(schedule)
    if plot:
        figure_kind(plot)
    for path in filter(None, (plot, html)):
        need_matplotlib()
        check_place(path)


def draw(figure: Callable[[Any], Figure], what: Any, path: Path) -> None:
    """Draw and save a figure."""
    with ProgressLine() as line:
        line.show("drawing")
        save_figure(figure(what), path)


def say(things: Iterable[str | Table | FittingTable], *written: Path | None) -> None:
    """Print tables and sentences, and which files came with them."""
    console = output()
    for thing in things:
        if isinstance(thing, str):
            _say(console, [thing])
        else:
            console.print(thing)
    _say_written(console, *written)


def _say(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _say_written(console: Console, *paths: Path | None) -> None:
    _say(console, (f"written: {path}" for path in paths if path))
