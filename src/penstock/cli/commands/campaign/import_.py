"""`penstock campaign import`: an archive becomes a directory again, if every hash is right."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.many_runs import need_pyarrow
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.rooms import campaign, report

Archive = Annotated[
    Path, typer.Argument(metavar="FILE", help="An archive that `campaign export` wrote.", **choices.there())
]


def import_(
    archive: Archive,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="A new directory.")],
    json: Json = False,
) -> None:
    """Check every hash of an archive and unpack it, for tables, plots, or to go on with it."""
    need_pyarrow()
    manifest = campaign.archive.import_campaign(archive, output)
    if json:
        print_json(manifest)
    else:
        say([*report.campaign.table.archive_lines(manifest, written=False), "Every hash is right."], output)
