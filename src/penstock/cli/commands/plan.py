"""`penstock plan`: all decisions that are open, together."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from penstock.cli.parts.options import Json, ScenarioFile
from penstock.cli.parts.output import check_text_file, print_json, print_next, say
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import model, report, studies
from penstock.errors import InvalidOption
from penstock.metrics.goals import GOALS, check_goal

if TYPE_CHECKING:
    from penstock.model import Scenario
    from penstock.studies.planning import Planned

Goal = Annotated[str, typer.Option(metavar="NAME", help=f"What the plan is chosen for: {', '.join(GOALS)}.")]
Improve = Annotated[
    str | None, typer.Option(metavar="TIME", help="Then look for something better, for so long: 30, 5 min.")
]
Trials = Annotated[
    int | None,
    typer.Option(metavar="N", help="Look for something better in so many runs: the same every time for one seed."),
]
Seed = Annotated[
    int | None, typer.Option(metavar="N", help="For what the search tries, instead of the scenario's seed.")
]
Anew = Annotated[bool, typer.Option("--anew", help="Decide all of it, whatever the scenario's own plan says.")]
PlanOut = Annotated[
    Path | None, typer.Option("-o", "--plan-out", metavar="FILE", help="Write the plan: .yaml or .json.")
]


def plan(
    scenario: ScenarioFile,
    goal: Goal = "node-hours",
    improve: Improve = None,
    trials: Trials = None,
    seed: Seed = None,
    anew: Anew = False,
    plan_out: PlanOut = None,
    json: Json = False,
) -> None:
    """Decide for SCENARIO what its plan leaves open: I/O nodes, targets, parts of the buffer, and who shares how."""
    check_goal(goal)
    seconds = _seconds(improve, trials)
    if plan_out:
        check_text_file(plan_out)
    given = model.load(scenario)
    if not anew:
        model.needs.need_open_decision(given)
    planned = _planned(given, goal, _Effort(seconds, trials, seed, anew))
    if plan_out:
        model.save_plan(planned.plan, plan_out)
    if json:
        print_json(planned.to_dict())
        return
    words = report.machine.planned
    say([words.planned_table(planned), *words.planned_lines(planned)], plan_out)
    if plan_out:
        print_next(f"penstock simulate {scenario} --plan {plan_out} shows how every application fares under it.")


def _seconds(improve: str | None, trials: int | None) -> float:
    if improve is not None and trials is not None:
        raise InvalidOption("--improve gives the search time, --trials a number of runs; give one of them")
    if trials is not None and trials < 0:
        raise InvalidOption(f"--trials is {trials}; a number of runs is 0 or more")
    try:
        return 0.0 if improve is None else model.units.quantity(improve, "seconds")
    except model.units.Refusal as refusal:
        raise InvalidOption(f"--improve {refusal}") from None


class _Effort(NamedTuple):
    """How long to search, from which seed, and whether to begin anew."""

    seconds: float
    trials: int | None
    seed: int | None
    anew: bool


def _planned(scenario: Scenario, goal: str, effort: _Effort) -> Planned:
    metric, begun = GOALS[goal], time.monotonic()
    with user_code(), ProgressLine() as line:

        def progress(tried: int, best: float, part: float | None) -> None:
            amount = report.machine.planned.amount(abs(best), metric)
            words = f"{report.machine.planned.WORDS[metric]} {amount} after {tried:,} trials"
            if part:
                whole = effort.seconds if effort.trials is None else (time.monotonic() - begun) / part
                words += f", {report.parts.quantities.duration(whole * (1.0 - part))} left"
            line.show("improving" if part is not None else "trying the papers' policies", part, words)

        return studies.planning.plan(scenario, goal=goal, **effort._asdict(), progress=progress)
