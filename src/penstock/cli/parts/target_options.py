"""Options of `penstock allocate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices

Allocation = Annotated[
    str | None,
    choices.policy_option("allocation", "How many targets: a name from `penstock policies`.  [default: tcpu]"),
]
Placement = Annotated[
    str | None,
    choices.policy_option("placement", "Which targets: a name, likewise.  [default: greedy-clairvoyant]"),
]
Sharing = Annotated[
    str | None,
    choices.policy_option(
        "sharing", "Who shares a target: a name, or my_policy.py:function.  [default: the plan's, else fair-share]"
    ),
]
Knowledge = Annotated[
    str | None,
    typer.Option(
        metavar="exact|shape|class",
        help="What these policies are told of the profiles: all, or less.  [default: exact]",
    ),
]
Error = Annotated[
    float | None, typer.Option(metavar="X", help="What they are told is off by up to the part X, at random.")
]
Interval = Annotated[
    str | None,
    typer.Option(
        metavar="first|all",
        help="Where metrics stop: with the first completion, or when all have ended or the window does.  [default: "
        "first if all start together without a window, else all]",
    ),
]
Without = Annotated[
    str | None, typer.Option(metavar="A,B,…", help="Take these targets out, by name or place; shows who has to move.")
]
Plan = Annotated[
    list[Path] | None, typer.Option(metavar="FILE", help="Targets, or policies for them, as in this plan.")
]
ProfilesFile = Annotated[
    Path | None,
    typer.Option("--profiles", metavar="FILE", help="Measured bandwidths by application, instead of the scenario's."),
]
Improve = Annotated[
    str | None, typer.Option(metavar="TIME", help="Then look for something better, for so long: 30, 5 min.")
]
Objective = Annotated[
    str | None, typer.Option(metavar="slowdown|idle", help="What --improve lowers.  [default: slowdown]")
]
Compare = Annotated[bool, typer.Option("--compare", help="Every allocation with every placement, side by side.")]
Export = Annotated[
    str | None, typer.Option(metavar="lustre|beegfs|json", help="Commands for the file system, or a plan.")
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where --export goes, instead of the terminal.")
]
Directory = Annotated[
    str | None,
    typer.Option(metavar="TEMPLATE", help="Where an application's files are, for --export.  [default: {name}]"),
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", help="For random policies, --error and noise, instead of the scenario's seed."),
]
