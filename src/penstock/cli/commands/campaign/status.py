"""`penstock campaign status`: how far it is."""

from __future__ import annotations

from penstock.cli.parts.campaign_options import Directory, results_in
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.rooms import report


def status(directory: Directory, json: Json = False) -> None:
    """Show how far a campaign is, and what failed."""
    results = results_in(directory)
    if json:
        print_json(results.status() | {"failures": results.failures()})
    else:
        words = report.campaign.table
        say([*words.status_lines(results), *words.failure_lines(results.failures())])
