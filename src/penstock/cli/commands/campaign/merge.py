"""`penstock campaign merge`: several directories as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.campaign_options import results_in
from penstock.cli.parts.many_runs import need_pyarrow
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.rooms import campaign, report


def merge(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Directories of campaigns.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="A new directory for all their runs.")],
    json: Json = False,
) -> None:
    """Put the runs of several directories into one."""
    need_pyarrow()
    campaign.merging.merge(directories, output)
    results = results_in(output)
    if json:
        print_json(results.status())
    else:
        say(report.campaign.table.status_lines(results), output)
