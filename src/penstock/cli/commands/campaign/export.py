"""`penstock campaign export`: a campaign as one file, to publish beside a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.campaign_options import Directory, results_in, selected
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.rooms import campaign, report
from penstock.files import check_place


def export(
    directory: Directory,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The archive to write, a .zip file.")],
    also: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="FILE", help="This file, too, as a policy that plans name; several times."),
    ] = None,
    json: Json = False,
) -> None:
    """Write results, versions, seeds and hashes of a campaign to one file that can be published."""
    check_place(output)
    results = results_in(directory)
    means = report.campaign.table.csv_text([entry.to_dict() for entry in selected(results, None, None, None, None)])
    manifest = campaign.archive.export_campaign(directory, output, means, also or [])
    if json:
        print_json(manifest)
    else:
        say(report.campaign.table.archive_lines(manifest), output)
