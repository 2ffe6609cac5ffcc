"""`penstock import`: real traces to a scenario; its commands, one file for each kind of trace."""

from __future__ import annotations

from penstock.cli.group import LazyGroup, group_of
from penstock.cli.table import IMPORT


class Kinds(LazyGroup):
    """A command for each kind of trace."""

    package = "penstock.cli.commands.import_"
    rows = IMPORT


import_ = group_of(
    Kinds,
    "import",
    "Turn real traces into a scenario: Darshan logs, Slurm accounting, SWF, or tables of what jobs moved.",
)
