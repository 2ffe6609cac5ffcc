"""`penstock campaign`: many runs, kept in a directory, and what they say.

`penstock campaign FILE -o DIR` runs one; a first word that is no command of the group is taken for the file.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from penstock.cli.parts.many_runs import On, Workers, follow, interruptible, leave, need_pyarrow
from penstock.cli.parts.options import Json
from penstock.cli.parts.progress import ProgressLine
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.campaign import Entry, Results

RUN = "run"


class FileOrCommand(TyperGroup):
    """A group whose commands may be left out: then the first word is a campaign file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the hidden command in its place."""
        if args and args[0] not in self.commands and args[0] != "--help":
            _check_word(args[0], [name for name in self.commands if name != RUN])
            args = [RUN, *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Both ways to call it."""
        formatter.write_usage(ctx.command_path, "FILE -o DIR [OPTIONS]")
        formatter.write_usage(ctx.command_path, "status|table|plot|html|merge DIR … [OPTIONS]")


campaign = typer.Typer(
    cls=FileOrCommand,
    name="campaign",
    help="Run the campaign in FILE (workloads × settings × seeds × plans), or show what one has found. "
    "`penstock campaign FILE --help` has the options of running.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="A campaign file (.yaml, .json).")]
Into = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where results are kept; continued if begun.")
]
Retry = Annotated[bool, typer.Option("--retry", help="Run again what failed before.")]
Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a campaign.")]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", metavar="NAME", help="Which metric; may be given several times.")
]
Against = Annotated[
    str | None,
    typer.Option(metavar="PLAN,…", help="The plan to compare with, or several.  [default: the campaign's first]"),
]
Plans = Annotated[str | None, typer.Option(metavar="PLAN,…", help="Show these plans only.  [default: all]")]
By = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="Settings to tell apart; others are averaged over.  [default: all that vary]"),
]
X = Annotated[
    str | None,
    typer.Option("--x", metavar="SETTING", help="Lines over it.  [default: the setting that varies, if one does]"),
]


@campaign.command(RUN, hidden=True)
def run(
    file: File, output: Into = None, workers: Workers = None, on: On = "local", retry: Retry = False, json: Json = False
) -> None:
    """Run what the campaign in FILE asks for and DIR does not have yet."""
    if output is None:
        raise InvalidOption("-o is missing; a campaign keeps its results in a directory, as in -o results")
    need_pyarrow()
    from penstock.campaign.document import load_campaign  # noqa: PLC0415
    from penstock.campaign.executor import executor  # noqa: PLC0415
    from penstock.campaign.runner import run_campaign  # noqa: PLC0415
    from penstock.cli.parts.output import print_json, say  # noqa: PLC0415
    from penstock.cli.parts.user_code import user_code  # noqa: PLC0415
    from penstock.report.campaign.table import report_lines  # noqa: PLC0415

    place = executor(on, workers)
    with interruptible(output), user_code(), ProgressLine() as line:
        line.show(f"loading {file.name}")
        asked = load_campaign(file)
        progress = follow(place, line, asked.name, output)
        report = run_campaign(asked, output, on=place, retry=retry, progress=progress)
    if json:
        print_json({"campaign": asked.name, "directory": str(output), "on": on, **report.to_dict()})
    else:
        say(report_lines(report, asked.name, place.words))
    if report.failed:
        leave(f"{report.failed:,} of {report.runs:,} runs failed; `penstock campaign status {output}` says why", 1)


@campaign.command()
def status(directory: Directory, json: Json = False) -> None:
    """Show how far a campaign is, and what failed."""
    from penstock.cli.parts.output import print_json, say  # noqa: PLC0415
    from penstock.report.campaign.table import failure_lines, status_lines  # noqa: PLC0415

    results = _results(directory)
    if json:
        print_json(results.status() | {"failures": results.failures()})
    else:
        say([*status_lines(results), *failure_lines(results.failures())])


@campaign.command()
def table(
    directory: Directory,
    metric: Metrics = None,
    against: Against = None,
    plans: Plans = None,
    by: By = None,
    runs: Annotated[bool, typer.Option("--runs", help="Every run instead of means; with --csv or --json.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    json: Json = False,
) -> None:
    """Show means with their 95 % intervals, and each plan paired with a reference plan, or with several."""
    from penstock.cli.parts.output import print_json, say  # noqa: PLC0415
    from penstock.report.campaign.table import campaign_lines, csv_text, incomplete_lines, metric_tables  # noqa: PLC0415

    if csv and json:
        raise InvalidOption("--csv and --json both go to standard output; give one of them")
    if runs and plans:
        raise InvalidOption("--plans chooses what is shown of the means; --runs lists every run, give one of them")
    if runs and not (csv or json):
        raise InvalidOption("--runs lists every run, for other programs; give --csv or --json, too")
    results = _results(directory)
    entries = [] if runs else _entries(results, metric, against, by, plans)
    rows = results.rows() if runs else [entry.to_dict() for entry in entries]
    if csv:
        typer.echo(csv_text(rows), nl=False)
    elif json:
        print_json(results.status() | {"rows": rows})
    else:
        say([*metric_tables(entries), *campaign_lines(entries), *incomplete_lines(results)])


@campaign.command()
def plot(
    directory: Directory,
    file: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="A .png, .svg or .pdf file.")],
    metric: Annotated[str | None, typer.Option(metavar="NAME", help="Which.  [default: the campaign's first]")] = None,
    versus: Annotated[
        str | None, typer.Option(metavar="NAME", help="Another metric: draw the two against each other.")
    ] = None,
    x: X = None,
    by: By = None,
    plans: Plans = None,
) -> None:
    """Draw one metric of every plan, or one against another, with intervals."""
    from penstock.cli.parts.output import check_outputs, draw, say  # noqa: PLC0415

    if versus is not None and x is not None:
        raise InvalidOption("--x draws a metric over a setting, --versus over another metric; give one of them")
    check_outputs(file)
    results = _results(directory)
    upwards = metric or results.metrics[0]
    if versus == upwards:
        raise InvalidOption(f"--versus is {versus}, the metric that goes upwards; give another one")
    if versus is not None:
        entries = _entries(results, [upwards, versus], None, by, plans)
        best = results.metric(upwards).best, results.metric(versus).best
        from penstock.report.campaign.pareto import pareto_figure  # noqa: PLC0415 - loads matplotlib

        draw(lambda what: pareto_figure(what, best), entries, file)
        say([], file)
        return
    across, groups = _axis(results, x, by)
    entries = _entries(results, [upwards], None, groups, plans)
    from penstock.report.campaign.plot import campaign_figure  # noqa: PLC0415 - loads matplotlib

    draw(lambda what: campaign_figure(what, across), entries, file)
    say([], file)


@campaign.command()
def html(
    directory: Directory,
    file: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where the report goes.")],
    metric: Metrics = None,
    against: Against = None,
    x: X = None,
    by: By = None,
    plans: Plans = None,
) -> None:
    """Write a report with tables, plots and failures that needs no network."""
    from penstock.cli.parts.output import check_outputs, say  # noqa: PLC0415

    check_outputs(None, file)
    results = _results(directory)
    across, groups = _axis(results, x, by)
    entries = _entries(results, metric, against, groups, plans)
    from penstock.report.campaign.page import write_campaign_page  # noqa: PLC0415 - loads matplotlib

    with ProgressLine() as line:
        line.show("writing the report")
        write_campaign_page(file, results, entries, across)
    say([], file)


@campaign.command()
def merge(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Directories of campaigns.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="A new directory for all their runs.")],
    json: Json = False,
) -> None:
    """Put the runs of several directories into one."""
    need_pyarrow()
    from penstock.campaign.merging import merge as together  # noqa: PLC0415
    from penstock.cli.parts.output import print_json, say  # noqa: PLC0415
    from penstock.report.campaign.table import status_lines  # noqa: PLC0415

    together(directories, output)
    results = _results(output)
    if json:
        print_json(results.status())
    else:
        say(status_lines(results), output)


def _check_word(word: str, commands: list[str]) -> None:
    """Refuse what is neither a command nor a file, and more likely a misspelt command."""
    if word.startswith("-") or Path(word).suffix or Path(word).exists():
        return
    near = difflib.get_close_matches(word, commands, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InvalidOption(
        f"{word}: no such file; {hint}a campaign is a .yaml file, and commands are {', '.join(commands)}"
    )


def _results(directory: Path) -> Results:
    need_pyarrow()
    from penstock.campaign.results import read_results  # noqa: PLC0415

    return read_results(directory)


def _entries(
    results: Results,
    metrics: Sequence[str] | None,
    against: str | None,
    by: str | Sequence[str] | None,
    plans: str | None,
) -> list[Entry]:
    from penstock.campaign.summary import plan_place, summarise  # noqa: PLC0415
    from penstock.policies.sharing.catalogue import split_names  # noqa: PLC0415

    shown = results.plans if plans is None else split_names(plans)
    for plan in shown:
        plan_place(results, plan)
    references = None if against is None else [against] if against in results.plans else split_names(against)
    entries = summarise(results, metrics, references, _names(by) if isinstance(by, str) else by)
    return [entry for entry in entries if entry.plan in shown]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _axis(results: Results, x: str | None, by: str | None) -> tuple[str | None, list[str]]:
    """The setting that lines go over, if one does, and all that is told apart."""
    groups = list(results.varying) if by is None else _names(by)
    if x is None:
        axes = [name for name in groups if results.is_number(name)]
        return (axes[0] if len(axes) == 1 else None), groups
    # Without --by, what else varies is averaged over, but for different workloads.
    told = groups if by is not None else [name for name in groups if name == "workload"]
    return x, [name for name in told if name != x] + [x]
