"""`penstock campaign table`: means with intervals."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.campaign_options import Against, By, Directory, Metrics, Plans, in_short, results_in, selected
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.rooms import report
from penstock.errors import InvalidOption


def table(
    directory: Directory,
    metric: Metrics = None,
    against: Against = None,
    plans: Plans = None,
    by: By = None,
    runs: Annotated[bool, typer.Option("--runs", help="Every run instead of means; with --csv or --json.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX (booktabs) instead of a table.")] = False,
    json: Json = False,
) -> None:
    """Show means with their 95 % intervals, and each plan paired with a reference plan, or with several."""
    if csv + json + latex > 1:
        raise InvalidOption("--csv, --latex and --json all go to standard output; give one of them")
    if runs and plans:
        raise InvalidOption("--plans chooses what is shown of the means; --runs lists every run, give one of them")
    if runs and not (csv or json):
        raise InvalidOption("--runs lists every run, for other programs; give --csv or --json, too")
    results = results_in(directory)
    entries = [] if runs else selected(results, metric, against, by, plans)
    rows = results.rows() if runs else [entry.to_dict() for entry in entries]
    words = report.campaign.table
    if latex:
        lowest = frozenset(name for name, metric in results.known.items() if metric.best < 0)
        typer.echo(report.campaign.latex.latex_tables(entries, lowest), nl=False)
    elif csv:
        typer.echo(words.csv_text(rows), nl=False)
    elif json:
        print_json(results.status() | {"rows": rows})
    else:
        short = in_short(results, (metric or results.metrics)[0], against, plans)
        told = [f"In short: {line}" for line in short]
        lines = [*words.campaign_lines(entries), *told, *words.incomplete_lines(results)]
        spaced = [part for each in words.metric_tables(entries) for part in (each, "")]
        say([*spaced, *lines])
