"""`penstock simulate`: one run."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.parts.options import Follow, Json, Noise, Plot, ScenarioFile, ScheduleFile, Seed

Sharing = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A name from `penstock policies`, or my_policy.py:function.  [fair-share]"),
]


def simulate(
    scenario: ScenarioFile,
    sharing: Sharing = None,
    follow: Follow = None,
    noise: Noise = None,
    seed: Seed = None,
    schedule: ScheduleFile = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Run SCENARIO under one sharing policy and show how each application fared."""
    from penstock.cli.parts.output import check_outputs, draw, print_json, print_run  # noqa: PLC0415
    from penstock.cli.parts.simulations import run_one  # noqa: PLC0415
    from penstock.errors import InvalidOption  # noqa: PLC0415
    from penstock.report.plots import run_figure  # noqa: PLC0415
    from penstock.studies.schedules import follow as following  # noqa: PLC0415
    from penstock.studies.schedules import save_schedule, schedule_of  # noqa: PLC0415

    if follow and sharing is not None:
        raise InvalidOption("--follow serves a fixed order, --sharing decides at every event; give one of them")
    check_outputs(plot, schedule=schedule)
    policy = following(follow) if follow else "fair-share" if sharing is None else sharing
    result = run_one(scenario, policy, noise, seed, timeline=bool(plot or schedule))
    if schedule and result.timeline:
        save_schedule(schedule, schedule_of(result.timeline))
    if plot:
        draw(run_figure, result, plot)
    if json:
        print_json(result.to_dict())
    else:
        print_run(result, plot, schedule)
