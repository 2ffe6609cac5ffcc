"""`penstock optimum`: the exact makespan, or a bound and a gap."""

from __future__ import annotations

from penstock.cli.parts.ignored import say_ignored
from penstock.cli.parts.options import Json, Noise, Plot, ScenarioFile, ScheduleFile, Seed, TimeLimit
from penstock.cli.parts.output import check_outputs, draw, print_json, print_optimum
from penstock.cli.parts.simulations import disturbed, find_optimum, time_given
from penstock.cli.rooms import model, report, studies


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
    seconds = time_given(time_limit)
    given = disturbed(model.load(scenario), noise, seed)
    model.needs.need_completion(given)
    model.needs.need_ortools()
    best = find_optimum(given, seconds)
    unread = say_ignored(given, "optimum")
    if schedule:
        studies.schedules.save_schedule(schedule, best.schedule)
    if plot:
        draw(report.plots.run_figure, best.run, plot)
    if json:
        print_json(best.to_dict() | unread)
    else:
        print_optimum(best, plot, schedule)
