"""P1 figures 20 to 22: what steady windows of the APEX workloads are like on each machine (appendix B.2).

Windows are those of `p1_apex`, here on Cielo and all of M_1 to M_10, as in P1. They come from schedules alone: nothing
is run, and it does not matter whether applications are fresh. Figures 21 and 22 have the same caption in P1; its text
says that figure 22 is the usage of the platform.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from penstock.campaign.statistics import mean_intervals
from penstock.reproduce.experiment import TABLE, Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import boxes
from penstock.reproduce.means import box, half_width
from penstock.reproduce.p1_apex import BOTH, SCHEDULES, table_notes
from penstock.workloads.apex import JobSchedule, Steady, apex_schedule
from penstock.workloads.apex_table import read_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MACHINES = [0.0, *map(float, range(1, 11))]
HOUR = 3600.0
HOURS, APPLICATIONS, USAGE = "hours", "applications", "usage"


def hours(_: JobSchedule, window: Steady) -> float:
    """How long a window is."""
    return (window.end - window.begin) / HOUR


def applications(drawn: JobSchedule, window: Steady) -> float:
    """How many run in it."""
    return float(drawn.running(window).size)


def usage(drawn: JobSchedule, window: Steady) -> float:
    """The part of the cores that they hold."""
    cores = np.array([life.cores for life in drawn.lives])
    return float(cores[drawn.kinds[drawn.running(window)]].sum() / drawn.machine.cores)


def distributions(settings: ExperimentSettings, quantity: str, of: Callable[[JobSchedule, Steady], float]) -> Summary:
    """{workload: {machine: mean over windows}}, with intervals over schedules, and boxes of all windows."""
    count = settings.instances(SCHEDULES)
    table = None if settings.table is None else str(settings.table)
    means: Summary = {each: {} for each in BOTH}
    widths: Summary = {each: {} for each in BOTH}
    quantiles: Summary = {each: {} for each in BOTH}
    for workload in BOTH:
        for machine in MACHINES:
            name = f"M{machine:.0f}" if machine else "Cielo"
            drawn = [apex_schedule(workload, seed, machine, table) for seed in range(1, count + 1)]
            values = [[of(each, window) for window in each.windows] for each in drawn]
            (interval,) = mean_intervals(np.array([[np.mean(each)] for each in values]))
            means[workload][name], widths[workload][name] = interval.mean, half_width(interval)
            quantiles[workload][name] = box(np.concatenate(values))
    return {
        quantity: means,
        "interval": {quantity: widths},
        "quantiles": {quantity: quantiles},
        "instances": count,
        "notes": [note for workload in BOTH for note in table_notes(read_table(workload, table))],
    }


def draw(summary: Summary, quantity: str, y: str) -> Figure:
    """As in P1: a box for each machine and workload."""
    panels, quantiles = ({"": part[quantity]} for part in (summary, summary["quantiles"]))
    figure = boxes(panels, quantiles, x="machine", y=y)
    if quantity != USAGE:  # the workloads are an order of magnitude apart
        figure.axes[0].set_yscale("log")
    return figure


def _experiment(
    figure: int, title: str, quantity: str, of: Callable[[JobSchedule, Steady], float], y: str, states: str
) -> Experiment:
    def no_runs(_: Sequence[object]) -> Summary:
        return {}

    return Experiment(
        id=f"P1.fig{figure}",
        title=title,
        campaigns=lambda settings: [],
        summarise=no_runs,
        draw=lambda summary: draw(summary, quantity, y),
        states=states,
        levels=("workload", "machine"),
        data=TABLE,
        without_runs=lambda settings: distributions(settings, quantity, of),
    )


EXPERIMENTS = (
    _experiment(
        20,
        "APEX NERSC and TRILAB: length of steady windows by projected machine",
        HOURS,
        hours,
        "length of a window (h)",
        "Windows of TRILAB are an order of magnitude longer than those of NERSC on all machines; for both they grow"
        " with the machine on average (appendix B.2).",
    ),
    _experiment(
        21,
        "APEX NERSC and TRILAB: number of applications in steady windows by projected machine",
        APPLICATIONS,
        applications,
        "applications in a window",
        "Windows of TRILAB have an order of magnitude fewer applications than those of NERSC (appendix B.2).",
    ),
    _experiment(
        22,
        "APEX NERSC and TRILAB: usage of the platform in steady windows by projected machine",
        USAGE,
        usage,
        "part of the cores in use",
        "The usage varies significantly, and is clearly higher for TRILAB on average than for NERSC (appendix B.2).",
    ),
)
