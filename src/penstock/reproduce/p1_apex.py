"""P1 figures 8 to 13: the strategies in steady windows of the APEX workloads, by I/O pressure (§6.3).

P1 has 100 schedules of at least three months on Cielo and on each of ten projected machines, and the 20 longest windows
of each. Under our reading of its formula M_1 is Cielo at twice the size, with the same windows: it is left out, lest
they count twice. Windows are put together by pressure, in intervals of 0.07: P1 has 25 of them, which reach 1.75.

P1 assumes "that each application joined the system at the window start". Read so, everybody begins its life there
(fresh, as in the summary's first level); read as how yield is counted, it is in the middle of it (below `midlife`).

The papers do not give the whole table of workflows (see `penstock.workloads.apex_table`): the summary says which are
missing and what was assumed, unless the full table is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.campaign import Campaign, Results
from penstock.campaign.statistics import mean_intervals
from penstock.kernels.arrays import Floats
from penstock.reproduce.experiment import TABLE, Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import lines
from penstock.reproduce.means import half_width
from penstock.reproduce.p1_synthetic import STRATEGIES
from penstock.workloads.apex import FRESH, MIDLIFE, WINDOWS
from penstock.workloads.apex_table import Table, read_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NERSC, TRILAB = "NERSC", "TRILAB"
SCHEDULES = 100  # for each machine
MACHINES = [0.0, *map(float, range(2, 11))]
REFERENCE = "fair-share"
STEP = 0.07  # of pressure
RATIO = "min_yield_ratio"
Bools = np.typing.NDArray[np.bool_]
QUANTITIES = ("min_yield", RATIO, "efficiency", "utilization", "seconds")
SPREAD = (0.05, 0.95)
AXIS = "I/O pressure W"
RANGES = {"below 0.5": (0.0, 0.5), "0.5 to 1": (0.5, 1.0), "above 1": (1.0, np.inf)}  # of pressure
SAME_YIELD = 1e-9


def apex(settings: ExperimentSettings, workload: str, start: str) -> Campaign:
    """Every window of every machine under all strategies."""
    kind, table = f"apex-{workload.lower()}", {} if settings.table is None else {"table": str(settings.table)}
    windows = {"window": list(range(1, WINDOWS + 1)), "start": start, **table}
    return Campaign.from_document(
        {
            "version": 1,
            "name": f"P1-{kind}-{start}",
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
    """For each workload and quantity {strategy: {middle of a pressure interval: mean}}, and what is missing.

    At the top with applications that are fresh; in the middle of their lives under `midlife`.
    """
    summary: Summary = {MIDLIFE: {}}
    widths: Summary = {MIDLIFE: {}}
    notes: dict[str, None] = {}
    for each in results:
        first = each.points[0]
        workload, fresh = first["workload"], first["start"] == FRESH
        into, beside = (summary, widths) if fresh else (summary[MIDLIFE], widths[MIDLIFE])
        into[workload], beside[workload] = _by_pressure(each)
        into[workload] |= {"by_machine": _by_machine(each), "by_range": _by_range(each)}
        notes |= dict.fromkeys(table_notes(read_table(workload, first["table"])))
    schedules = min(int(np.unique(each.seed).size) for each in results)
    return {**summary, "interval": widths, "instances": schedules, "notes": list(notes)}


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
            found["below_fair_share"][plan][key] = _behind(ratios[:, place])
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


def _by_range(results: Results) -> Summary:
    """Below, up to and above saturation: means, how often behind fair-share, the worst, and set-10 beside fcfs."""
    values = _Windows(results)
    found: Summary = {name: {plan: {} for plan in results.plans} for name in (*QUANTITIES, "below_fair_share", "worst")}
    found["windows"], found["set_10_as_fcfs"] = {}, {}
    for name, (low, high) in RANGES.items():
        rows = (values.pressure >= low) & (values.pressure < high)
        if not rows.any():
            continue
        found["windows"][name] = int(rows.sum())
        found["set_10_as_fcfs"][name] = float(np.mean(values.alike("set-10", "fcfs")[rows]))
        ratios = values.of(RATIO)[rows]
        for place, plan in enumerate(results.plans):
            found["below_fair_share"][plan][name] = _behind(ratios[:, place])
            found["worst"][plan][name] = float(np.nanmin(ratios[:, place]))
            for quantity in QUANTITIES:
                found[quantity][plan][name] = float(np.nanmean(values.of(quantity)[rows, place]))
    return found


def _behind(ratios: Floats) -> float:
    """The part of windows in which a strategy has less than fair-share."""
    return float(np.mean(ratios < 1.0 - SAME_YIELD))


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

    def alike(self, one: str, other: str) -> Bools:
        """In which windows two strategies have the same min yield."""
        found = self.of("min_yield")
        both = found[:, [self._results.plans.index(plan) for plan in (one, other)]]
        same: Bools = np.abs(both[:, 0] - both[:, 1]) <= SAME_YIELD
        return same

    def of(self, quantity: str) -> Floats:
        if quantity != RATIO:
            values: Floats = self._results.matrix(quantity)[self._there]
            return values
        found = self.of("min_yield")
        reference = found[:, [self._results.plans.index(REFERENCE)]]
        return np.divide(found, reference, out=np.full_like(found, np.nan), where=reference > 0.0)


def _readings(summary: Summary, take: Callable[[Summary], Any]) -> dict[str, Any]:
    """Something of both workloads, for both readings, by title of a panel."""
    return {
        f"{each}, {start}": take(part[each])
        for start, part in ((FRESH, summary), (MIDLIFE, summary[MIDLIFE]))
        for each in (NERSC, TRILAB)
    }


def draw_machines(summary: Summary) -> Figure:
    """Figure 8: the min yield of fair-share, a line for each machine."""
    panels = _readings(summary, lambda found: found["by_machine"]["min_yield"])
    return lines(panels, x=AXIS, y="min yield of fair-share", columns=2, share_y=True)


def draw_ratios(summary: Summary, workload: str) -> Figure:
    """Figures 9 and 10: a panel for each strategy, its min yield over that of fair-share, for both readings."""
    parts = {FRESH: summary[workload], MIDLIFE: summary[MIDLIFE][workload]}
    others = [plan for plan in parts[FRESH][RATIO] if plan != REFERENCE]
    panels, bands = (
        {plan: {start: found[key][plan] for start, found in parts.items()} for plan in others}
        for key in (RATIO, "spread")
    )
    y = "min yield over fair-share's\n(band: 5 % to 95 % of windows)"
    return lines(panels, x=AXIS, y=y, bands=bands, columns=4, at=1.0, share_y=True)


def draw_quantity(summary: Summary, quantity: str, y: str, *, log: bool = False) -> Figure:
    """Figures 11 to 13: both workloads side by side, a line for each strategy; below, the other reading."""
    panels = _readings(summary, lambda found: found[quantity])
    # Below a mean of a few long runs and many short ones, an interval may reach 0, which no logarithm shows.
    widths = None if log else _readings(summary["interval"], lambda found: found[quantity])
    return lines(panels, x=AXIS, y=y, widths=widths, columns=2, log=log)


def _experiment(figure: int, title: str, workloads: Sequence[str], draw: Any, states: str) -> Experiment:
    return Experiment(
        id=f"P1.fig{figure}",
        title=title,
        campaigns=lambda settings: [apex(settings, each, start) for start in (FRESH, MIDLIFE) for each in workloads],
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
        " TRILAB: never below 0.4, and none close to 1 at pressures above 1. On Cielo no window of NERSC has a pressure"
        " of 0.5 (§6.3.2).",
    ),
    _experiment(
        9,
        "APEX NERSC: min yield of all strategies over that of fair-share, by I/O pressure",
        (NERSC,),
        lambda summary: draw_ratios(summary, NERSC),
        "greedy-com lies between 0.9 and 1.1 and is no reliable gain; fcfs, set-10 (strictly identical to it) and"
        " greedy-yield lose in a non-negligible part of windows, and gain slightly on average as the pressure grows;"
        " lookahead-greedy-yield, periodic-greedy-yield and best-next-event very probably gain, more so at high"
        " pressure. Of these best-next-event has the highest risk of a loss, of 5 % at worst, and"
        " periodic-greedy-yield almost none (§6.3.3).",
    ),
    _experiment(
        10,
        "APEX TRILAB: min yield of all strategies over that of fair-share, by I/O pressure",
        (TRILAB,),
        lambda summary: draw_ratios(summary, TRILAB),
        "All strategies do better than on NERSC; greedy-com gains up to a pressure of 1 and then drops until every"
        " window has less than fair-share; fcfs and set-10 (identical) and greedy-yield risk losses at low pressure and"
        " gain consistently at saturation; lookahead-greedy-yield gains almost always, periodic-greedy-yield and"
        " best-next-event in most windows, and greedy-yield is much like these two (§6.3.4).",
    ),
    _experiment(
        11,
        "APEX NERSC and TRILAB: efficiency of all strategies by I/O pressure",
        BOTH,
        lambda summary: draw_quantity(summary, "efficiency", "efficiency"),
        "The efficiency falls quickly with pressure in NERSC, and only beyond a pressure of 1 in TRILAB, where it stays"
        " higher. At high pressure in TRILAB greedy-com is best, fair-share, lookahead-greedy-yield and best-next-event"
        " follow closely, set-10, fcfs, greedy-yield and periodic-greedy-yield are last; greedy-com is best in NERSC"
        " (§6.3.5). lookahead- and periodic-greedy-yield are better than fair-share for NERSC; for TRILAB the first is"
        " comparable and the second worse (§7).",
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
