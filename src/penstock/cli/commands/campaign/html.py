"""`penstock campaign html`: a page of all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.campaign_options import (
    Against,
    By,
    Directory,
    Metrics,
    Plans,
    X,
    axis,
    in_short,
    results_in,
    selected,
)
from penstock.cli.parts.output import check_outputs, say
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.rooms import report


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
    check_outputs(None, file)
    results = results_in(directory)
    across, groups = axis(results, x, by)
    entries = selected(results, metric, against, groups, plans)
    with ProgressLine() as line:
        line.show("writing the report")
        short = in_short(results, (metric or results.metrics)[0], against, plans)
        report.campaign.page.write_campaign_page(file, results, entries, across, short)
    say([], file)
