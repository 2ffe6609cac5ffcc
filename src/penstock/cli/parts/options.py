"""Options that several commands share: the same words, the same meaning everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices

ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO",
        help="A scenario file (.yaml, .json); - for standard input.",
        parser=choices.read_path,
        **choices.file(*choices.SCENARIOS),
    ),
]
ScenarioFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="SCENARIO …",
        help="A scenario file (.yaml, .json), or several to compare workloads; - for standard input.",
        parser=choices.read_path,
        **choices.file(*choices.SCENARIOS),
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Sharing = Annotated[
    str,
    choices.policy_option("sharing", "A name from `penstock policies`, or my_policy.py:function."),
]
SharingList = Annotated[
    str | None,
    typer.Option(
        "--sharing",
        metavar="A,B,…",
        help="Which policies, comma-separated.  [default: all]",
        **choices.policy("sharing", many=True),
    ),
]
Follow = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Serve the operations in the order of a schedule file, come what may."),
]
FOLLOWED = "a plan is what `penstock simulate --schedule` writes"
PlanOut = Annotated[
    Path | None,
    typer.Option("--plan-out", metavar="FILE", help="Write what was decided as a plan; .yaml or .json."),
]
PlanFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--plan",
        metavar="FILE",
        help="Run the whole machine under this plan, instead of the scenario's; several are taken together.",
    ),
]
Noise = Annotated[
    float | None,
    typer.Option(metavar="X", help="Every phase times 1 ± X at random, instead of the scenario's noise.  [0 to 1]"),
]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Draw the noise anew, instead of the scenario's seed.")]
ScheduleFile = Annotated[
    Path | None,
    typer.Option("--schedule", metavar="FILE", help="Write when every operation starts and ends: .csv or .parquet."),
]
TimeLimit = Annotated[str, typer.Option(metavar="TIME", help="How long to look for the exact optimum: 30, 5 min, 1 h.")]
All = Annotated[bool, typer.Option("--all", help="Show all policies and all rows, not only the ones that tell most.")]
ListAll = Annotated[bool, typer.Option("--all", help="Show all rows of a long table, not those only that tell most.")]
Details = Annotated[bool, typer.Option("--details", help="Show how much work it was to simulate, too.")]
Budget = Annotated[
    int | None,
    typer.Option(metavar="N", help="Ways to go on that are tried in each of 50 steps.  [default: 30]"),
]
SearchSeed = Annotated[
    int | None, typer.Option(metavar="N", help="Draw what the search tries from another seed.  [default: 0]")
]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: .png, .svg or .pdf.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a report that needs no network.")]
Lead = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION|forever",
        help="How long before a release its input may be fetched.  [default: forever if all are released at 0, else 0]",
    ),
]
