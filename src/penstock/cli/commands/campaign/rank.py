"""`penstock campaign rank`: the plans from best to last, over all that the campaign has run."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.campaign_options import Directory, Plans, named, results_in
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.rooms import campaign, report
from penstock.errors import InvalidOption


def rank(
    directory: Directory,
    metric: Annotated[str | None, typer.Option(metavar="NAME", help="Which.  [default: the campaign's first]")] = None,
    plans: Plans = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX (booktabs) instead of a table.")] = False,
    json: Json = False,
) -> None:
    """Rank all plans over all workloads in one metric, and say which cannot be told apart."""
    if csv + json + latex > 1:
        raise InvalidOption("--csv, --latex and --json all go to standard output; give one of them")
    results = results_in(directory)
    found = campaign.ranking.rank_plans(results, metric, named(results, plans))
    words = report.campaign
    if latex:
        typer.echo(words.ranking.latex_ranking(found), nl=False)
    elif csv:
        typer.echo(words.table.csv_text(found.rows()), nl=False)
    elif json:
        print_json(results.status() | found.to_dict())
    else:
        say(
            [
                words.ranking.ranking_table(found),
                *words.ranking.ranking_lines(found),
                *words.table.incomplete_lines(results),
            ]
        )
