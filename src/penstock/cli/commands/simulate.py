"""`penstock simulate`: one run."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.ignored import say_ignored
from penstock.cli.parts.options import (
    FOLLOWED,
    All,
    Follow,
    Html,
    Json,
    Noise,
    PlanFiles,
    Plot,
    ScenarioFile,
    ScheduleFile,
    Seed,
)
from penstock.cli.parts.output import check_outputs, draw, print_json, print_run, say, title_of
from penstock.cli.parts.plans import under_plans
from penstock.cli.parts.simulations import disturbed, run_one
from penstock.cli.rooms import model, report, studies
from penstock.errors import InvalidOption

Sharing = Annotated[
    str | None,
    choices.policy_option(
        "sharing", "A name from `penstock policies`, or my_policy.py:function.  [the plan's, else fair-share]"
    ),
]


def simulate(
    scenario: ScenarioFile,
    sharing: Sharing = None,
    follow: Follow = None,
    plan: PlanFiles = None,
    noise: Noise = None,
    seed: Seed = None,
    schedule: ScheduleFile = None,
    json: Json = False,
    plot: Plot = None,
    html: Html = None,
    evenness: Annotated[
        bool, typer.Option("--evenness", help="Say, too, how even yields were over time: even_yield and sliding_min.")
    ] = False,
    all_: All = False,
) -> None:
    """Run SCENARIO under one sharing policy, or its whole machine under a plan, and show how each application fared."""
    if follow and sharing is not None:
        raise InvalidOption("--follow serves a fixed order, --sharing decides at every event; give one of them")
    check_outputs(plot, html, schedule)
    given = under_plans(disturbed(model.load(scenario), noise, seed), plan)
    if follow and given.plan is not None:
        raise InvalidOption("--follow serves a fixed order on one bandwidth; leave it out with a plan")
    choices.need_file(follow, FOLLOWED)
    policy = studies.schedules.follow(follow) if follow else sharing
    result = run_one(given, policy, timeline=bool(plot or html or schedule), evenness=evenness)
    unread = say_ignored(given, "simulate")
    if schedule and result.timeline:
        studies.schedules.save_schedule(schedule, studies.schedules.schedule_of(result.timeline))
    if plot:
        draw(report.plots.run_figure, result, plot)
    if html:
        report.comparison.page.write_report(html, title_of(scenario), [result])
    if json:
        print_json(result.to_dict() | unread)
    else:
        print_run(result, plot, html, schedule, everything=all_)
        if evenness:
            say([report.comparison.summary.evenness_line(result)])
