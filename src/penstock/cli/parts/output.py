"""What commands print and write."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli.parts.progress import ProgressLine
from penstock.cli.rooms import report, rich, studies
from penstock.files import check_place
from penstock.report.parts.json_text import as_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console, RenderableType

    from penstock.campaign.recommendation import Recommendation
    from penstock.metrics.result import Result
    from penstock.metrics.workloads import Workloads
    from penstock.report.comparison.selection import Selection
    from penstock.report.parts.fitting_table import FittingTable
    from penstock.studies.optimum import Optimum
    from penstock.studies.packs import Packing
    from penstock.studies.targets import Allotment, Move

PIPE_WIDTH = 160
_COPIED = ("Next: ", "written: ")  # lines with commands and paths in them, which stay whole
MOST_ROWS = 40  # of a table, before the rest is only counted


def output() -> Console:
    """Standard output; a pipe has no width, and names that are cut for lack of it cannot be searched for."""
    console = rich.console.Console()
    return console if console.is_terminal else rich.console.Console(width=max(PIPE_WIDTH, console.width))


def print_json(thing: object) -> None:
    """One JSON document on standard output."""
    print(as_json(thing))


def tell(answer: object, words: Iterable[RenderableType], json: bool) -> None:
    """An answer, for a program or in words and tables for a person."""
    if json:
        print_json(answer)
    else:
        say(words)


def say(things: Iterable[RenderableType | FittingTable], *written: Path | None) -> None:
    """Print tables and sentences, and which files came with them."""
    console = output()
    for thing in things:
        if isinstance(thing, str):
            _say(console, [thing])
        else:
            console.print(thing)
    _say(console, (f"written: {path}" for path in written if path))


def title_of(scenario: Path) -> str:
    """What a report calls the scenario of a file."""
    return "standard input" if str(scenario) == "-" else scenario.name


def print_run(result: Result, *written: Path | None, everything: bool = False) -> None:
    """One run as a table, of many applications those with the lowest yields, and the files that came with it."""
    hidden = 0 if everything else max(0, len(result.applications) - MOST_ROWS)
    more = [f"… and {hidden:,} more with higher yields (--all)"] if hidden else []
    about = report.machine.resources.resource_lines(result) if result.resources else []
    say([report.comparison.table.run_table(result, None if everything else MOST_ROWS), *more, *about], *written)


def print_comparison(
    selected: Selection,
    name: str,
    plot: Path | None,
    html: Path | None,
    recommendation: Recommendation | None = None,
    *,
    details: bool = False,
) -> None:
    """A comparison as a table, what its policies do, what it says in words, and a recommendation if there is one."""
    console, words = output(), report.comparison.table
    advised = recommendation is not None
    console.print(words.comparison_table(selected.runs, name, selected.goal, recommended=advised, details=details))
    console.print()
    console.print(words.meanings_table(selected.runs, selected.same))
    _say(console, [f"… and {selected.hidden} more with --all"] if selected.hidden else [])
    console.print()
    _say(console, report.comparison.summary.summary_lines(selected.runs, some=selected.hidden > 0))
    if recommendation:
        choice = report.recommendation.table
        console.print()
        most = report.comparison.selection.MOST if selected.hidden else None
        console.print(choice.recommendation_table(recommendation, most))
        hidden = len(recommendation.policies) - len(choice.standings(recommendation, most))
        _say(console, [f"… and {hidden} more with --all"] if hidden else [])
        _say(console, choice.recommendation_lines(recommendation))
    say([], plot, html)


def write_comparison(
    selected: Selection,
    name: str,
    plot: Path | None,
    html: Path | None,
    recommendation: Recommendation | None = None,
    *,
    details: bool = False,
) -> None:
    """The files that were asked for."""
    if plot:
        draw(lambda runs: report.plots.comparison_figure(runs, recommendation), selected.runs, plot)
    if html:
        with ProgressLine() as line:
            line.show("writing the report")
            hidden, same = selected.hidden, selected.same
            write = report.comparison.page.write_report
            write(html, name, selected.runs, recommendation, same=same, hidden=hidden, details=details)


def show_workloads(found: Workloads, *, json: bool, everything: bool) -> None:
    """Policies on several workloads: the runs of each, or one row for each policy, or for the best of them."""
    if json:
        print_json(
            {
                "workloads": [
                    {"scenario": name, "runs": [result.to_dict() for result in runs]} for name, runs in found.items()
                ]
            }
        )
        return
    words = report.comparison.workloads
    rows = words.shown_rows(found, everything=everything)
    hidden = len(found.rows()) - len(rows)
    more = [f"… and {hidden} more with --all"] if hidden else []
    say([words.workloads_table(found, rows), *more, *words.workloads_lines(found)])


def print_next(words: str) -> None:
    """The last line: what to do with this."""
    _say(output(), [f"Next: {words}"])


def print_optimum(best: Optimum, *written: Path | None) -> None:
    """The exact optimum, what it means, and the files that came with it."""
    console = output()
    console.print(report.optimum.optimum_table(best))
    say([report.optimum.optimum_words(best)], *written)


def print_packing(packing: Packing, *written: Path | None, everything: bool = False) -> None:
    """One packing as a table, what it says in words, and the files that came with it."""
    words = report.packs.table
    most = None if everything else MOST_ROWS
    say([words.packing_table(packing, most), *words.packing_lines(packing, most)], *written)


def print_packings(packings: Mapping[str, Packing]) -> None:
    """Packings side by side, and which was best at what."""
    words = report.packs.table
    say([words.packings_table(packings), *words.packings_lines(packings)])


def print_allotment(
    allotment: Allotment,
    start: Allotment,
    moves: Sequence[Move] | None = None,
    *written: Path | None,
    everything: bool = False,
) -> None:
    """Targets given out as a table, what it says in words, what was better than `start`, and who had to move."""
    words, most = report.targets.table, None if everything else MOST_ROWS
    lines = [*words.allotment_lines(allotment, most), *words.improvement_lines(start, allotment)]
    say([words.allotment_table(allotment, most), *lines, *([] if moves is None else words.move_lines(moves))], *written)


def print_allotments(allotments: Sequence[Allotment], refused: Iterable[str], *written: Path | None) -> None:
    """All pairs of policies side by side, which was best at what, and which were not possible."""
    words = report.targets.table
    lines = [*words.allotments_lines(allotments), *(f"Left out: {reason}." for reason in refused)]
    say([words.allotments_table(allotments), *lines], *written)


def check_outputs(plot: Path | None, html: Path | None = None, schedule: Path | None = None) -> None:
    """Refuse a file that could not be written before the work is done, not after."""
    if schedule:
        studies.tables.check_schedule(schedule)
        check_place(schedule)
    if plot:
        report.plots.figure_kind(plot)
    for path in filter(None, (plot, html)):
        report.plots.need_matplotlib()
        check_place(path)


def check_text_file(file: Path) -> None:
    """Refuse a scenario's or plan's name without a known format, or in a place where it could not be written."""
    from penstock.model.load import text_format  # noqa: PLC0415 - as a room, the model has a function of that name

    text_format(file)
    check_place(file)


def draw(figure: Callable[[Any], Figure], what: Any, path: Path) -> None:
    """Draw and save a figure."""
    with ProgressLine() as line:
        line.show("drawing")
        report.plots.save_figure(figure(what), path)


def _say(console: Console, lines: Iterable[str]) -> None:
    """Sentences, one below the other."""
    for line in lines:
        whole = not console.is_terminal or line.startswith(_COPIED)
        console.print(line if whole else _folded(line, console.width), highlight=False, markup=False, soft_wrap=True)


def _folded(line: str, width: int) -> str:
    """A line broken between words, where a terminal would break inside of them; a number stays with its per cent."""
    indent = line[: len(line) - len(line.lstrip(" -"))]
    folded = textwrap.fill(
        line.replace(" %", "\N{NO-BREAK SPACE}%"),
        width,
        subsequent_indent=" " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return folded.replace("\N{NO-BREAK SPACE}", " ")
