"""`penstock slurm`: what connects a Slurm cluster to the controller; its commands, one file each."""

from __future__ import annotations

from penstock.cli.group import LazyGroup, group_of
from penstock.cli.table import SLURM


class Parts(LazyGroup):
    """Files, a check of them, the bridge."""

    package = "penstock.cli.commands.slurm"
    rows = SLURM


slurm = group_of(
    Parts,
    "slurm",
    "Connect a Slurm cluster: make the files that it needs, check them, and run the bridge.",
)
