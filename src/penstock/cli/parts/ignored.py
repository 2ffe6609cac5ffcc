"""One line on standard error about what a scenario states and a command does not use."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import typer

from penstock.cli.rooms import model

if TYPE_CHECKING:
    from penstock.model import Scenario


def say_ignored(scenario: Scenario, used: Collection[str], command: str) -> list[str]:
    """Say it, and return what it was, for the JSON."""
    found = model.ignored.ignored(scenario, used)
    if found:
        typer.echo(model.ignored.ignored_line(found, command), err=True)
    return found
