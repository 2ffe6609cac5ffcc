"""`penstock compare`: every policy on one scenario, and which one to take for a goal."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.choices import split_names
from penstock.cli.parts.ignored import say_ignored
from penstock.cli.parts.many_runs import Workers
from penstock.cli.parts.options import (
    FOLLOWED,
    All,
    Budget,
    Details,
    Follow,
    Html,
    Json,
    Noise,
    PlanFiles,
    Plot,
    ScenarioFiles,
    SearchSeed,
    Seed,
    SharingList,
    TimeLimit,
)
from penstock.cli.parts.output import (
    check_outputs,
    print_comparison,
    print_json,
    print_next,
    say,
    show_workloads,
    title_of,
    write_comparison,
)
from penstock.cli.parts.plans import under_plans
from penstock.cli.parts.simulations import (
    disturbed,
    find_optimum,
    find_policies,
    find_recommendation,
    find_reference,
    run_all,
    run_workloads,
    telling_names,
    time_given,
    without_planners,
)
from penstock.cli.rooms import campaign, model, policies, report
from penstock.errors import InvalidOption
from penstock.model.plan import AS_PLANNED

if TYPE_CHECKING:
    from penstock.campaign.recommendation import Recommendation
    from penstock.metrics.result import Result
    from penstock.model import Scenario
    from penstock.report.comparison.selection import Selection

Goal = Annotated[
    str | None,
    typer.Option(
        metavar="GOAL",
        help="Recommend a policy for it, on variants of the scenario drawn from its noise: node-hours, min-yield, "
        "efficiency, utilization, stretch or mean-stretch; auto is node-hours where jobs come and go, else min-yield.",
    ),
]
AUTO = "auto"
Variants = Annotated[
    int | None, typer.Option(metavar="N", help="How many variants for --goal.  [default: 100; 20 where runs are long]")
]
Against = Annotated[
    str | None,
    choices.policy_option("sharing", "What is in use now, for --goal.  [default: fair-share]"),
]


def compare(
    scenarios: ScenarioFiles,
    sharing: SharingList = None,
    follow: Follow = None,
    plan: PlanFiles = None,
    noise: Noise = None,
    seed: Seed = None,
    goal: Goal = None,
    variants: Variants = None,
    against: Against = None,
    workers: Workers = None,
    json: Json = False,
    plot: Plot = None,
    html: Html = None,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="Find the exact optimum, too, and the ratios to it.")
    ] = False,
    time_limit: TimeLimit = "60 s",
    all_: All = False,
    details: Details = False,
    reference: Annotated[
        bool, typer.Option("--reference", help="Find the best schedule there is, too, and each policy's share of it.")
    ] = False,
    budget: Budget = None,
    search_seed: SearchSeed = None,
) -> None:
    """Run SCENARIO under each sharing policy and show how close each comes to what is possible."""
    check_outputs(plot, html)
    _check_goal(goal, variants, against, workers, noise)
    _check_reference(reference, budget, search_seed)
    seconds = time_given(time_limit)
    if len(scenarios) > 1:
        _check_several(
            {
                "--goal": goal,
                "--plan": plan or None,
                "--plot": plot,
                "--html": html,
                "--follow": follow,
                "--optimum": optimum or None,
            }
            | {"--reference": reference or None}
        )
        _check_once(scenarios)
        loaded = {str(file): disturbed(model.load(file), noise, seed) for file in scenarios}
        ran = run_workloads(loaded, _shared_names(sharing, loaded, everything=all_ or json))
        show_workloads(ran, json=json, everything=all_ or sharing is not None)
        return
    (scenario,) = scenarios
    given = under_plans(disturbed(model.load(scenario), noise, seed), plan)
    if given.plan is not None:
        _check_plan({"--follow": follow, "--optimum": optimum, "--reference": reference})
    choices.need_file(follow, FOLLOWED)
    if optimum:
        model.needs.need_completion(given)
        model.needs.need_ortools()
    best = find_optimum(given, seconds) if optimum else None
    names = _names(sharing, given, everything=all_ or json or goal is not None)
    chosen = find_policies(names, follow)
    if sharing is None:
        chosen = without_planners(given, chosen)
    results = run_all(given, chosen, timeline=html is not None)
    unread = say_ignored(given, "compare")
    if best:
        results = best.judged(results)
    known = find_reference(given, budget, search_seed, results) if reference else None
    if known:
        results = known.judged(results)
    recommendation = None
    if goal is not None:
        recommendation = find_recommendation(
            given,
            None if goal == AUTO else goal,
            chosen,
            results,
            against=against,
            variants=variants,
            workers=workers,
        )
    selected = _selected(results, given, recommendation, everything=all_ or sharing is not None)
    title = title_of(scenario)
    write_comparison(selected, title, plot, html, recommendation, details=details)
    if json:
        found = {"optimum": best.to_dict()} if best else {}
        found |= {"reference": known.to_dict()} if known else {}
        advised = {"recommendation": recommendation.to_dict()} if recommendation else {}
        shown = [result.to_dict() for result in results]
        print_json({"scenario": str(scenario), **found, **advised, "runs": shown, **unread})
    else:
        print_comparison(selected, title, plot, html, recommendation, details=details)
        if known:
            say(report.reference.reference_lines(known))
        print_next(_next(scenario, selected, recommendation))


def _check_several(given: Mapping[str, object]) -> None:
    """Refuse what looks at one scenario only."""
    if wrong := [name for name, value in given.items() if value not in (None, False)]:
        raise InvalidOption(f"{wrong[0]} is for one scenario; several are compared in a table or with --json")


def _check_plan(given: Mapping[str, object]) -> None:
    """Refuse what looks at one bandwidth only."""
    if wrong := [name for name, value in given.items() if value]:
        raise InvalidOption(f"{wrong[0]} is for one shared bandwidth; leave it out with a plan of the whole machine")


def _check_once(files: Sequence[Path]) -> None:
    if twice := [file for file in files if files.count(file) > 1]:
        raise InvalidOption(f"{twice[0]} is given twice; each workload is compared once")


def _shared_names(sharing: str | None, scenarios: Mapping[str, Scenario], *, everything: bool) -> Sequence[str]:
    """The policies that say something of every one of the scenarios; fair-share once, under its usual name."""
    chosen = [_names(sharing, scenario, everything=everything) for scenario in scenarios.values()]
    shared = [name for name in chosen[0] if all(name in names for names in chosen)]
    return shared if everything or sharing is not None else [name for name in shared if name != "best-effort"]


def _names(sharing: str | None, scenario: Scenario, *, everything: bool) -> Sequence[str]:
    """Those asked for, or all; where only some are shown, none is run in vain."""
    if sharing is not None:
        return split_names(sharing)
    return policies.sharing.catalogue.known_names() if everything else telling_names(scenario)


def _selected(
    results: Sequence[Result], scenario: Scenario, recommendation: Recommendation | None, *, everything: bool
) -> Selection:
    """What is shown: all if that was asked for, else the best, what is in use, and what is recommended."""
    metric, name = (recommendation.metric.name, recommendation.recommended) if recommendation else (None, None)
    choose, known = report.comparison.selection, len(policies.sharing.catalogue.known_names())
    if everything:
        return choose.everything(results, metric, name)
    endless = any(application.endless for application in scenario.applications)
    return choose.selection(results, metric, name, endless=endless, known=known)


def _next(scenario: Path, selected: Selection, recommendation: Recommendation | None) -> str:
    best = recommendation.recommended if recommendation else selected.runs[0].sharing
    goal = "node-hours" if selected.goal.name == "node_hours_lost" else "min-yield"
    file = shlex.quote(str(scenario))
    if best == AS_PLANNED:
        return f"penstock simulate {file} --plot run.svg draws where bytes are under its plan"
    if recommendation or len(selected.runs) == 1:
        return f"penstock simulate {file} --sharing {shlex.quote(best)} --plot run.svg draws who had what when"
    return f"penstock compare {file} --goal {goal} says which policy is better by more than chance"


def _check_reference(reference: bool, budget: int | None, search_seed: int | None) -> None:
    """Refuse what says how to find a reference that nobody asked for."""
    alone = {"--budget": budget, "--search-seed": search_seed}
    if not reference and (given := [name for name, value in alone.items() if value is not None]):
        raise InvalidOption(f"{given[0]} says how to look for a reference; give --reference, too")


def _check_goal(
    goal: str | None, variants: int | None, against: str | None, workers: int | None, noise: float | None
) -> None:
    """Refuse what could not be recommended before anything runs."""
    if goal is None:
        alone = {"--variants": variants, "--against": against, "--workers": workers}
        if given := [name for name, value in alone.items() if value is not None]:
            raise InvalidOption(f"{given[0]} says how to find a recommendation; give a --goal, too")
        return

    if goal != AUTO:
        campaign.goals.check_goal(goal)
    if variants is not None:
        campaign.goals.check_variants(variants)
    if noise == 0.0:
        raise InvalidOption("--noise is 0, so all variants would be the same; a --goal needs a noise above 0")
    if workers is not None:
        campaign.executor.executor("local", workers)
