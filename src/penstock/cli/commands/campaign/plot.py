"""`penstock campaign plot`: one metric of every plan, or one against another."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.campaign_options import By, Directory, Plans, X, axis, named, results_in, selected
from penstock.cli.parts.output import check_outputs, draw, say
from penstock.cli.rooms import report
from penstock.errors import InvalidOption

_SMALLEST, _LARGEST = 1.0, 50.0


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
    size: Annotated[str | None, typer.Option(metavar="WxH", help="In inches, as 3.5x2.6 for a column.")] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Above all panels.  [default: none]")] = None,
    highlight: Annotated[
        str | None, typer.Option(metavar="PLAN,…", help="These in colour, all others grey.  [default: all in colour]")
    ] = None,
    sort: Annotated[
        bool, typer.Option("--sort", help="The best plan first, by its mean over all that is shown.")
    ] = False,
) -> None:
    """Draw one metric of every plan, or one against another, with intervals."""
    if versus is not None and x is not None:
        raise InvalidOption("--x draws a metric over a setting, --versus over another metric; give one of them")
    check_outputs(file)
    wanted = None if size is None else _inches(size)
    results = results_in(directory)
    upwards = metric or results.metrics[0]
    if versus == upwards:
        raise InvalidOption(f"--versus is {versus}, the metric that goes upwards; give another one")
    best = results.metric(upwards).best
    if sort and best == 0:
        raise InvalidOption(f"neither more nor less {upwards} is better; leave --sort out with it")
    marked = frozenset(named(results, highlight)) if highlight is not None else frozenset()
    looks = report.campaign.plot.Looks(wanted, title, marked, best if sort else None)
    if versus is not None:
        entries = selected(results, [upwards, versus], None, by, plans)
        both = best, results.metric(versus).best
        draw(lambda what: report.campaign.pareto.pareto_figure(what, both, looks), entries, file)
    else:
        across, groups = axis(results, x, by)
        entries = selected(results, [upwards], None, groups, plans)
        draw(lambda what: report.campaign.plot.campaign_figure(what, across, looks), entries, file)
    say([], file)


def _inches(text: str) -> tuple[float, float]:
    """Width and height of a figure.

    >>> _inches("3.5x2.6")
    (3.5, 2.6)
    """
    parts = text.lower().replace("×", "x").split("x")
    try:
        width, height = map(float, parts)
    except ValueError:
        width = height = math.nan
    if not (_SMALLEST <= width <= _LARGEST and _SMALLEST <= height <= _LARGEST):
        raise InvalidOption(f"--size is {text!r}; accepted are width and height in inches, from 1 to 50, as in 7x4")
    return width, height
