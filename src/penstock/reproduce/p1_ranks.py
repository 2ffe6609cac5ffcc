"""P1 figures 6 and 7: who gains and who loses, by the length of iterations ω and by the part φ that is I/O (§6.2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.campaign import Results
from penstock.campaign.statistics import mean_intervals
from penstock.kernels.arrays import Floats, Ints
from penstock.reproduce.experiment import Experiment, Summary
from penstock.reproduce.figures import lines
from penstock.reproduce.means import half_width, instances
from penstock.reproduce.p1_synthetic import synthetic
from penstock.workloads.synthetic import shapes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRESSURES = [0.5, 0.8, 1.1]


def ranked(results: Results, by: str) -> Summary:
    """For each pressure and strategy the mean yield of the application with the least ω or φ, the next, and so on."""
    means: Summary = {}
    widths: Summary = {}
    for place, point in enumerate(results.points):
        runs = [np.flatnonzero((results.point == place) & (results.plan == each)) for each in range(len(results.plans))]
        orders = {seed: _order(point, seed, by) for seed in set(results.seed[runs[0]].tolist())}
        ranked_yields = [_in_order(results, own, orders) for own in runs]
        intervals = iter(mean_intervals(np.concatenate(ranked_yields, axis=1)))
        found = {plan: [next(intervals) for _ in range(point["applications"])] for plan in results.plans}
        pressure = str(point["pressure"])
        means[pressure] = {plan: [each.mean for each in values] for plan, values in found.items()}
        widths[pressure] = {plan: [half_width(each) for each in values] for plan, values in found.items()}
    return {"yield": means, "interval": {"yield": widths}, "instances": instances(results)}


def _order(point: Summary, seed: int, by: str) -> Ints:
    settings = {name: point[name] for name in ("pressure", "small", "sigma", "applications", "medium")}
    return np.argsort(getattr(shapes(seed, **settings), by), kind="stable")


def _in_order(results: Results, runs: Ints, orders: dict[int, Ints]) -> Floats:
    """The yields of some runs, a row for each, by rank; of a run that failed, nothing."""
    yields = results.table["yield"].take(runs).to_pylist()
    found = [orders[seed] for seed in results.seed[runs].tolist()]
    return np.array(
        [
            np.full(order.size, np.nan) if each is None else np.array(each)[order]
            for each, order in zip(yields, found, strict=True)
        ]
    )


def draw(summary: Summary, x: str) -> Figure:
    """As in P1: a panel for each pressure, with the rank across and the mean yield up."""
    panels = {f"W = {pressure}": _curves(plans) for pressure, plans in summary["yield"].items()}
    widths = {f"W = {pressure}": _curves(plans) for pressure, plans in summary["interval"]["yield"].items()}
    return lines(panels, x=x, y="mean yield", widths=widths, markers=False)


def _curves(plans: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    return {plan: {str(rank): value for rank, value in enumerate(values, 1)} for plan, values in plans.items()}


def _experiment(figure: int, by: str, words: str, axis: str, states: str) -> Experiment:
    return Experiment(
        id=f"P1.fig{figure}",
        title=f"mean yield of applications by rank of {words}, at three I/O pressures",
        campaigns=lambda settings: [synthetic(settings, pressure=PRESSURES)],
        summarise=lambda results: ranked(results[0], by),
        draw=lambda summary: draw(summary, axis),
        states=states,
        levels=("pressure", "policy", "rank"),
    )


EXPERIMENTS = (
    _experiment(
        6,
        "iteration",
        "their iteration length ω",
        "rank by iteration length ω",
        "At W = 1.1 the iteration length has little influence under fair-share and the strategies that look at the"
        " yield, which balance it; the yield grows with ω under fcfs, falls with it under greedy-com, and has three"
        " steps under set-10, rising inside each.",
    ),
    _experiment(
        7,
        "io_share",
        "the part φ of their time that is I/O",
        "rank by part of I/O φ",
        "At W = 1.1 the yield falls with φ under fair-share, in a straight line; greedy-yield and"
        " lookahead-greedy-yield differ at small φ; best-next-event favours small I/O; fcfs is erratic, and greedy-com"
        " does not fall evenly at large φ.",
    ),
)
