"""`penstock campaign plot`: one metric of every plan, or one against another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.campaign_options import By, Directory, Plans, X, axis, results_in, selected
from penstock.cli.parts.output import check_outputs, draw, say
from penstock.cli.rooms import report
from penstock.errors import InvalidOption


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
    if versus is not None and x is not None:
        raise InvalidOption("--x draws a metric over a setting, --versus over another metric; give one of them")
    check_outputs(file)
    results = results_in(directory)
    upwards = metric or results.metrics[0]
    if versus == upwards:
        raise InvalidOption(f"--versus is {versus}, the metric that goes upwards; give another one")
    if versus is not None:
        entries = selected(results, [upwards, versus], None, by, plans)
        best = results.metric(upwards).best, results.metric(versus).best
        draw(lambda what: report.campaign.pareto.pareto_figure(what, best), entries, file)
    else:
        across, groups = axis(results, x, by)
        entries = selected(results, [upwards], None, groups, plans)
        draw(lambda what: report.campaign.plot.campaign_figure(what, across), entries, file)
    say([], file)
