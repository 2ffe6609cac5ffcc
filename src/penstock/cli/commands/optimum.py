"""`penstock optimum`: the exact makespan, or a bound and a gap."""

from __future__ import annotations

from penstock.cli.parts.options import Json, Noise, Plot, ScenarioFile, ScheduleFile, Seed, TimeLimit
from penstock.cli.parts.output import check_outputs, draw, print_json, print_optimum
from penstock.cli.parts.simulations import find_optimum, time_given
from penstock.cli.rooms import report, studies


def optimum(
    scenario: ScenarioFile,
    time_limit: TimeLimit = "60 s",
    noise: Noise = None,
    seed: Seed = None,
    schedule: ScheduleFile = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Find the shortest schedule of SCENARIO that serves one operation at a time, and prove it or bound it."""
    check_outputs(plot, schedule=schedule)
    best = find_optimum(scenario, noise, seed, time_given(time_limit))
    if schedule:
        studies.schedules.save_schedule(schedule, best.schedule)
    if plot:
        draw(report.plots.run_figure, best.run, plot)
    if json:
        print_json(best.to_dict())
    else:
        print_optimum(best, plot, schedule)
