"""P5 Table 2 and figure 8: static parts of a burst buffer against a common one, and what any size gives (§7).

Sets of 30 applications that write checkpoints, at three loads and with four times between failures. Figure 8 is of P5's
strategy G (`fair`, with static parts). Beside it there are our strategies, and G with half or all of the buffer open to
everybody; capacities are parts of the same S_opt, that with static parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.campaign import Campaign, Results
from penstock.campaign.statistics import mean_intervals
from penstock.kernels.arrays import Floats
from penstock.reproduce.experiment import Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import bars, lines
from penstock.reproduce.means import half_width, instances, matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOADS = ["0.2", "0.5", "0.8"]
YEARS = ["5", "10", "25", "50"]  # MTBF of a node
SETS_OF_TABLE_2, SETS_OF_FIGURE_8 = 30, 10
STATIC, DYNAMIC = "static", "dynamic"
PRINTED = "printed_walltimes"
WALLTIMES = {"ratio": "literature", f"ratio_{PRINTED}": "printed"}
PARTS = ["0", "0.25", "0.5", "0.75", "1", "1.25", "1.5", "3"]  # of S_opt
G = "fair"
STRATEGIES: dict[str, dict[str, Any]] = {
    G: {"strategy": "fair"},
    "blocked-first": {"strategy": "blocked-first"},
    "earliest-burst": {"strategy": "earliest-burst"},
    "planned": {"strategy": "planned"},
    "fair, half common": {"strategy": "fair", "common": 0.5},
    "fair, all common": {"strategy": "fair", "common": 1.0},
}
BOUND = "bound"
STRETCHES = {"max_stretch": "max stretch", "mean_stretch": "mean stretch"}
CLOSE = 0.01  # of the time without contention, which no one would notice


def campaign(
    settings: ExperimentSettings, name: str, sets: int, plans: list[dict[str, Any]], walltime: str
) -> Campaign:
    """P5's workload at all loads and times between failures."""
    return Campaign.from_document(
        {
            "version": 1,
            "name": f"P5-{name}",
            "workloads": [
                {
                    "generate": "checkpoints",
                    "label": cell(load, years),
                    "set": {"load": load, "mtbf": years, "walltime": walltime},
                    "seeds": settings.seeds(sets),
                }
                for load in LOADS
                for years in YEARS
            ],
            "plans": plans,
        }
    )


def cell(load: str, years: str) -> str:
    """How the workload of a load and an MTBF is called."""
    return f"load {load}, MTBF {years} y"


# ---- Table 2


def campaigns_of_table_2(settings: ExperimentSettings) -> list[Campaign]:
    """The smallest buffers, with both readings of the wall times: P5 prints a doubtful row."""
    plans = [{"task": "size-buffer", "label": each, "partition": each} for each in (STATIC, DYNAMIC)]
    return [campaign(settings, f"sizes-{each}", SETS_OF_TABLE_2, plans, each) for each in WALLTIMES.values()]


def summarise_table_2(results: Sequence[Results]) -> Summary:
    """The mean ratio by load and MTBF, its least and largest, and the sizes in bytes."""
    summary: Summary = {name: {load: {} for load in LOADS} for name in (*WALLTIMES, "range", "size")}
    widths: Summary = {name: {load: {} for load in LOADS} for name in WALLTIMES}
    for name, found in zip(WALLTIMES, results, strict=True):
        for load in LOADS:
            for years in YEARS:
                sizes = matrix(found, "size", "workload", cell(load, years))
                ratio = _ratio(sizes)
                (mean,) = mean_intervals(ratio[:, None])
                summary[name][load][years], widths[name][load][years] = mean.mean, half_width(mean)
                if name == "ratio":
                    summary["range"][load][years] = [float(np.nanmin(ratio)), float(np.nanmax(ratio))]
                    summary["size"][load][years] = dict(
                        zip(found.plans, np.nanmean(sizes, axis=0).tolist(), strict=True)
                    )
    return {**summary, "interval": widths, "instances": instances(results[0])}


def _ratio(sizes: Floats) -> Floats:
    """Static over dynamic; sets that need no buffer at all have none."""
    static, dynamic = sizes.T
    ratio: Floats = np.divide(static, dynamic, out=np.full_like(static, np.nan), where=dynamic > 0.0)
    return ratio


def draw_table_2(summary: Summary) -> Figure:
    """The table as bars, for both readings of the wall times."""
    titles = {"ratio": "wall times of the literature", f"ratio_{PRINTED}": "wall times as printed"}
    panels, widths = (
        {
            title: {f"MTBF {years} y": {load: part[name][load][years] for load in LOADS} for years in YEARS}
            for name, title in titles.items()
        }
        for part in (summary, summary["interval"])
    )
    return bars(panels, x="I/O load", y="static size / dynamic size", widths=widths, at=1.0, share_y=True)


# ---- figure 8


def campaigns_of_figure_8(settings: ExperimentSettings) -> list[Campaign]:
    """Every strategy with every capacity; then G only, with the wall times that P5 prints."""
    plans = [
        {"task": "buffer", "label": _plan(name, part), "part": float(part), **options}
        for part in PARTS
        for name, options in STRATEGIES.items()
    ]
    ours = [plan for plan in plans if plan["label"] in {_plan(G, part) for part in PARTS}]
    return [
        campaign(settings, f"buffers-{walltime}", SETS_OF_FIGURE_8, chosen, walltime)
        for walltime, chosen in zip(WALLTIMES.values(), (plans, ours), strict=True)
    ]


def _plan(name: str, part: str) -> str:
    return f"{name}, {part} S_opt"


def summarise_figure_8(results: Sequence[Results]) -> Summary:
    """G's stretches by load, MTBF and part of S_opt; everybody's; and from which part on G gains no more."""
    summary: Summary = {}
    widths: Summary = {}
    for metric in STRETCHES:
        everybody = f"{metric}_by_strategy"
        summary[everybody], widths[everybody] = _by_cell(results[0], metric, STRATEGIES)
        for name, found in ((metric, results[0]), (f"{metric}_{PRINTED}", results[1])):
            means, halves = _by_cell(found, metric, [G])
            summary[name], widths[name] = _of_one(means), _of_one(halves)
    summary["enough"] = {
        load: {years: _enough(summary["max_stretch"][load][years]) for years in YEARS} for load in LOADS
    }
    return {**summary, "interval": widths, "instances": instances(results[0])}


def _by_cell(results: Results, metric: str, strategies: Iterable[str]) -> tuple[Summary, Summary]:
    """{load: {MTBF: {part: {strategy: mean}}}}, and half the widths."""
    means: Summary = {load: {} for load in LOADS}
    halves: Summary = {load: {} for load in LOADS}
    for load in LOADS:
        for years in YEARS:
            found = _stretches(results, metric, cell(load, years), tuple(strategies))
            means[load][years], halves[load][years] = found
    return means, halves


def _of_one(found: Summary) -> Summary:
    """The same for G only, without its name."""
    return {
        load: {years: {part: each[G] for part, each in parts.items()} for years, parts in row.items()}
        for load, row in found.items()
    }


def _stretches(results: Results, metric: str, workload: str, strategies: Sequence[str]) -> tuple[Summary, Summary]:
    """{part: {strategy: mean}}, with what no strategy is below, and half the widths."""
    values = matrix(results, metric, "workload", workload)
    bounds = matrix(results, f"bound_{metric}", "workload", workload)
    means: Summary = {}
    halves: Summary = {}
    for part in PARTS:
        columns = [results.plans.index(_plan(name, part)) for name in strategies]
        rows = np.column_stack([values[:, columns], bounds[:, columns[0]]])
        intervals = dict(zip((*strategies, BOUND), mean_intervals(rows), strict=True))
        means[part] = {name: each.mean for name, each in intervals.items()}
        halves[part] = {name: half_width(each) for name, each in intervals.items()}
    return means, halves


def _enough(curve: Summary) -> float:
    """The smallest part from which on the stretch is as with the largest, or nearly."""
    far = [float(part) for part in PARTS if curve[part] > curve[PARTS[-1]] + CLOSE]
    return min(float(part) for part in PARTS if float(part) > max(far, default=-1.0))


def draw_figure_8(summary: Summary) -> Figure:
    """As in P5, G's stretches with a line for each MTBF, for both wall times; then all strategies at the last MTBF."""
    panels: dict[str, Any] = {}
    widths: dict[str, Any] = {}
    rows = {**STRETCHES, f"max_stretch_{PRINTED}": "max stretch, printed wall times"}
    for key, words in rows.items():
        for load in LOADS:
            for made, part in ((panels, summary), (widths, summary["interval"])):
                made[f"G: {words}, load {load}"] = {f"G, MTBF {years} y": part[key][load][years] for years in YEARS}
    for load in LOADS:
        for made, part in ((panels, summary), (widths, summary["interval"])):
            found = part["max_stretch_by_strategy"][load][YEARS[-1]]
            made[f"all: max stretch, load {load}, MTBF {YEARS[-1]} y"] = {
                _line(name): {size: found[size][name] for size in PARTS} for name in (*STRATEGIES, BOUND)
            }
    y = [word for word in ("max stretch", "mean stretch", "max stretch", "max stretch") for _ in LOADS]
    return lines(panels, x="buffer, in S_opt", y=y, widths=widths, at=1.0)


def _line(name: str) -> str:
    return {G: "G (fair)", BOUND: "no strategy is below"}.get(name, name)


EXPERIMENTS = (
    Experiment(
        id="P5.table2",
        title="smallest buffer with static parts over that with a common one, by load and MTBF",
        campaigns=campaigns_of_table_2,
        summarise=summarise_table_2,
        draw=draw_table_2,
        states="Static parts need a larger buffer; how much is withheld. P5 holds it for a price worth paying.",
        levels=("load", "mtbf", "partition or end"),
    ),
    Experiment(
        id="P5.fig8",
        title="max and mean stretch against the size of the buffer, by load and MTBF, and other strategies than G",
        campaigns=campaigns_of_figure_8,
        summarise=summarise_figure_8,
        draw=draw_figure_8,
        states="The stretch falls with the buffer, up to about 1.5 S_opt; below S_opt it is much above 1. With a large"
        " MTBF and load it stays above 1 however large the buffer is (the most is withheld); below an MTBF of 10 years"
        " it comes close to 1 at every load.",
        levels=("load", "mtbf", "part", "strategy"),
    ),
)
