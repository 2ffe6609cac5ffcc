"""P1 figures 8 to 13: the strategies in steady windows of the APEX workloads, by I/O pressure (§6.3).

P1 has 100 schedules of at least three months on Cielo and on each of ten projected machines, and the 20 longest windows
of each. Under our reading of its formula M_1 is Cielo at twice the size, with the same windows: it is left out, lest
they count twice. Windows are put together by pressure, in intervals of 0.07: P1 has 25 of them, which reach 1.75.

The papers do not give the whole table of workflows (see `penstock.workloads.apex_table`): the summary says which are
missing and what was assumed, unless the full table is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.campaign import Campaign, Results
from penstock.campaign.statistics import mean_intervals
from penstock.kernels.arrays import Floats
from penstock.reproduce.experiment import TABLE, Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import lines
from penstock.reproduce.means import half_width
from penstock.reproduce.p1_synthetic import STRATEGIES
from penstock.workloads.apex import WINDOWS
from penstock.workloads.apex_table import Table, read_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NERSC, TRILAB = "NERSC", "TRILAB"
SCHEDULES = 100  # for each machine
MACHINES = [0.0, *map(float, range(2, 11))]
REFERENCE = "fair-share"
STEP = 0.07  # of pressure
RATIO = "min_yield_ratio"
QUANTITIES = ("min_yield", RATIO, "efficiency", "utilization", "seconds")
SPREAD = (0.05, 0.95)
AXIS = "I/O pressure W"


def apex(settings: ExperimentSettings, workload: str) -> Campaign:
    """Every window of every machine under all strategies."""
    kind, table = f"apex-{workload.lower()}", {} if settings.table is None else {"table": str(settings.table)}
    windows = {"window": list(range(1, WINDOWS + 1)), **table}
    return Campaign.from_document(
        {
            "version": 1,
            "name": f"P1-{kind}",
            # Machine by machine, so that the windows of a schedule follow one another and it is drawn once.
            "workloads": [
                {
                    "generate": kind,
                    "label": workload,
                    "set": {"machine": machine, **windows},
                    "seeds": settings.seeds(SCHEDULES),
                }
                for machine in MACHINES
            ],
            "plans": [{"sharing": list(STRATEGIES), "bounds": False}],
            "metrics": ["min_yield", "efficiency", "utilization", "pressure"],
        }
    )


def summarise(results: Sequence[Results]) -> Summary:
    """For each workload and quantity {strategy: {middle of a pressure interval: mean}}, and what is missing."""
    summary: Summary = {}
    widths: Summary = {}
    notes: list[str] = []
    for each in results:
        workload = each.points[0]["workload"]
        summary[workload], widths[workload] = _by_pressure(each)
        summary[workload]["by_machine"] = _by_machine(each)
        notes += table_notes(read_table(workload, each.points[0]["table"]))
    schedules = min(int(np.unique(each.seed).size) for each in results)
    return {**summary, "interval": widths, "instances": schedules, "notes": notes}


def table_notes(table: Table) -> list[str]:
    """What of a workload is not known, in words."""
    missing = f"no row of {', '.join(table.missing)}" if table.missing else ""
    assumed = "; ".join(f"{each.name}: {', '.join(each.assumed)}" for each in table.workflows if each.assumed)
    found = [missing, f"assumed, as the table leaves it blank, are {assumed}" if assumed else ""]
    words = "; ".join(text for text in found if text)
    return [f"the table of {table.workload} is incomplete: {words}"] if words else []


def _by_pressure(results: Results) -> tuple[Summary, Summary]:
    values = _Windows(results)
    names = ("below_fair_share", "spread", *QUANTITIES)
    found: Summary = {name: {plan: {} for plan in results.plans} for name in names}
    widths: Summary = {name: {plan: {} for plan in results.plans} for name in QUANTITIES}
    found["windows"] = {}
    for interval in np.unique(values.interval).tolist():
        rows, key = values.interval == interval, middle(interval)
        found["windows"][key] = int(rows.sum())
        matrices = [values.of(quantity)[rows] for quantity in QUANTITIES]
        means = iter(mean_intervals(np.concatenate(matrices, axis=1)))
        for quantity in QUANTITIES:
            for plan in results.plans:
                mean = next(means)
                found[quantity][plan][key] = mean.mean
                widths[quantity][plan][key] = half_width(mean)
        ratios = matrices[QUANTITIES.index(RATIO)]
        for place, plan in enumerate(results.plans):
            found["below_fair_share"][plan][key] = float(np.mean(ratios[:, place] < 1.0 - 1e-9))
            found["spread"][plan][key] = np.nanquantile(ratios[:, place], SPREAD).tolist()
    return found, widths


def _by_machine(results: Results) -> Summary:
    """The min yield of fair-share by machine and pressure, and the mean pressure of each machine."""
    values = _Windows(results)
    fair = values.of("min_yield")[:, results.plans.index(REFERENCE)]
    found: Summary = {"min_yield": {}, "pressure": {}}
    for machine in MACHINES:
        own = values.machine == machine
        name = f"M{machine:.0f}" if machine else "Cielo"
        found["pressure"][name] = float(np.nanmean(values.pressure[own]))
        inside = {i: own & (values.interval == i) for i in np.unique(values.interval[own]).tolist()}
        found["min_yield"][name] = {middle(i): float(np.nanmean(fair[rows])) for i, rows in inside.items()}
    return found


def middle(interval: int) -> str:
    """The middle of an interval of pressure.

    >>> middle(14)
    '1.015'
    """
    return f"{(interval + 0.5) * STEP:.3f}"


class _Windows:
    """Results with a row for each window and a column for each strategy; windows that failed are left out."""

    def __init__(self, results: Results) -> None:
        self._results = results
        pressure = results.matrix("pressure")
        self._there = ~np.isnan(pressure).any(axis=1)
        self.pressure: Floats = pressure[self._there, 0]
        self.interval = np.floor(self.pressure / STEP).astype(np.int64)
        self.machine = np.array([results.points[point]["machine"] for point in results.scenarios[:, 0]])[self._there]

    def of(self, quantity: str) -> Floats:
        if quantity != RATIO:
            values: Floats = self._results.matrix(quantity)[self._there]
            return values
        found = self.of("min_yield")
        reference = found[:, [self._results.plans.index(REFERENCE)]]
        return np.divide(found, reference, out=np.full_like(found, np.nan), where=reference > 0.0)


def draw_machines(summary: Summary) -> Figure:
    """Figure 8: the min yield of fair-share, a line for each machine."""
    panels = {each: summary[each]["by_machine"]["min_yield"] for each in (NERSC, TRILAB)}
    return lines(panels, x=AXIS, y="min yield of fair-share", columns=2, share_y=True)


def draw_ratios(summary: Summary, workload: str) -> Figure:
    """Figures 9 and 10: a panel for each strategy, its min yield over that of fair-share."""
    found = summary[workload]
    others = [plan for plan in found[RATIO] if plan != REFERENCE]
    panels = {plan: {"mean": found[RATIO][plan]} for plan in others}
    bands = {plan: {"mean": found["spread"][plan]} for plan in others}
    y = "min yield over fair-share's\n(band: 5 % to 95 % of windows)"
    return lines(panels, x=AXIS, y=y, bands=bands, columns=4, at=1.0, share_y=True)


def draw_quantity(summary: Summary, quantity: str, y: str, *, log: bool = False) -> Figure:
    """Figures 11 to 13: both workloads side by side, a line for each strategy."""
    panels = {each: summary[each][quantity] for each in (NERSC, TRILAB)}
    # Below a mean of a few long runs and many short ones, an interval may reach 0, which no logarithm shows.
    widths = None if log else {each: summary["interval"][each][quantity] for each in (NERSC, TRILAB)}
    return lines(panels, x=AXIS, y=y, widths=widths, columns=2, log=log)


def _experiment(figure: int, title: str, workloads: Sequence[str], draw: Any, states: str) -> Experiment:
    return Experiment(
        id=f"P1.fig{figure}",
        title=title,
        campaigns=lambda settings: [apex(settings, each) for each in workloads],
        summarise=summarise,
        draw=draw,
        states=states,
        levels=("figure", "policy", "pressure", "end"),
        data=TABLE,
    )


BOTH = (NERSC, TRILAB)
EXPERIMENTS = (
    _experiment(
        8,
        "APEX NERSC and TRILAB: min yield of fair-share by I/O pressure and projected machine",
        BOTH,
        draw_machines,
        "Larger machines have a higher pressure, and the min yield of fair-share falls with it, more clearly in TRILAB."
        " NERSC: above 0.8 up to a pressure of 0.4, some below 0.5 at a pressure of 1, some still 1 at 1.4."
        " TRILAB: never below 0.4, and none close to 1 at pressures above 1.",
    ),
    _experiment(
        9,
        "APEX NERSC: min yield of all strategies over that of fair-share, by I/O pressure",
        (NERSC,),
        lambda summary: draw_ratios(summary, NERSC),
        "greedy-com lies between 0.9 and 1.1 and is no reliable gain; fcfs, set-10 (identical to it) and greedy-yield"
        " often lose but gain slightly on average with pressure; lookahead-greedy-yield, periodic-greedy-yield and"
        " best-next-event almost always gain, more so at high pressure, and hardly ever fall below 0.95.",
    ),
    _experiment(
        10,
        "APEX TRILAB: min yield of all strategies over that of fair-share, by I/O pressure",
        (TRILAB,),
        lambda summary: draw_ratios(summary, TRILAB),
        "All strategies do better than on NERSC; greedy-com gains up to a pressure of 1 and then drops far below 1;"
        " fcfs and set-10 (identical) and greedy-yield risk losses at low pressure and gain at saturation;"
        " lookahead-greedy-yield gains almost always, periodic-greedy-yield and best-next-event nearly so.",
    ),
    _experiment(
        11,
        "APEX NERSC and TRILAB: efficiency of all strategies by I/O pressure",
        BOTH,
        lambda summary: draw_quantity(summary, "efficiency", "efficiency"),
        "The efficiency falls quickly with pressure in NERSC, and only beyond a pressure of 1 in TRILAB, where it stays"
        " higher. At high pressure in TRILAB greedy-com is best, fair-share, lookahead-greedy-yield and best-next-event"
        " follow closely, set-10, fcfs, greedy-yield and periodic-greedy-yield are last; greedy-com is best in NERSC.",
    ),
    _experiment(
        12,
        "APEX NERSC and TRILAB: utilization of all strategies by I/O pressure",
        BOTH,
        lambda summary: draw_quantity(summary, "utilization", "utilization"),
        "The utilization is lower in NERSC, falls with pressure under all strategies, and behaves like the efficiency;"
        " greedy-com is best.",
    ),
    _experiment(
        13,
        "APEX NERSC and TRILAB: time to simulate a window under all strategies, by I/O pressure",
        BOTH,
        lambda summary: draw_quantity(summary, "seconds", "seconds per window", log=True),
        "best-next-event takes a few seconds for a window, never more than 60; lookahead-greedy-yield tens of"
        " milliseconds; all others ten times less.",
    ),
)
