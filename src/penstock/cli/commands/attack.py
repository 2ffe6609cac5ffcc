"""`penstock attack`: where a policy is at its worst."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import model, policies, report, studies
from penstock.files import check_place

PolicyName = Annotated[
    str,
    typer.Argument(
        metavar="POLICY", help="A name from `penstock policies`, or my_policy.py:function.", **choices.policy("sharing")
    ),
]
Against = Annotated[
    str, typer.Option(metavar="NAME", help="The policy that it is measured by.", **choices.policy("sharing"))
]
Jobs = Annotated[
    str,
    typer.Option(metavar="KIND", help="closed: all are there from the begin to the end; arrivals: they come and go."),
]
Budget = Annotated[int, typer.Option(metavar="N", help="How many scenarios are tried.")]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Keep scenario and figure: .yaml or .json."),
]


def attack(
    policy: PolicyName,
    against: Against = "fair-share",
    jobs: Jobs = "closed",
    budget: Budget = 2000,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed finds the same scenario.")] = 0,
    output: Output = None,
    json: Json = False,
) -> None:
    """Search for the small scenario on which POLICY does worst against another, and keep it as a file."""
    if output:
        check_place(output)
    with user_code(), ProgressLine() as line:
        line.show(f"compiling {policy}")
        both = [policies.sharing.find(name) for name in (policy, against)]

        def progress(tried: int, lowest: float) -> None:
            line.show(both[0].label, tried / budget, f"{tried:,} scenarios, lowest ratio {lowest:.3f}")

        found = studies.attack.attack(*both, jobs=jobs, budget=budget, seed=seed, progress=progress)
    if output:
        model.save(found.kept(), output)
    if json:
        print_json(found.to_dict())
    else:
        say(report.attack.attack_lines(found), output)
