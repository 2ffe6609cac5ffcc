"""P5 Table 2 and figure 8: static parts of a burst buffer against a common one, and what any size gives (§7).

Sets of 30 applications that write checkpoints, at three loads and with four times between failures. Figure 8 is of P5's
strategy G (`fair`, with static parts). Beside it there are our strategies, and G with half or all of the buffer open to
everybody; capacities are parts of the same S_opt, that with static parts.

P5's iterations all end with a write, and it prints wall times that repeat its row of cores. Both can be read otherwise
(see `penstock.workloads.checkpoints`): the summary has P5's words at the top, and G in all four readings below
`readings`, by wall time and end.
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
from penstock.workloads.checkpoints import ENDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOADS = ["0.2", "0.5", "0.8"]
YEARS = ["5", "10", "25", "50"]  # MTBF of a node
SETS_OF_TABLE_2 = 30  # in each cell; P5 does not say how many
SETS_OF_FIGURE_8 = 10  # for each point, as in P5
STATIC, DYNAMIC = "static", "dynamic"
READINGS = {f"{walltime}, {end}": (walltime, end) for walltime in ("printed", "literature") for end in ENDS}
P5_WORDS, *OTHERS = READINGS
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


def campaign(settings: ExperimentSettings, name: str, sets: int, plans: list[dict[str, Any]], reading: str) -> Campaign:
    """P5's workload at all loads and times between failures."""
    walltime, end = READINGS[reading]
    return Campaign.from_document(
        {
            "version": 1,
            "name": f"P5-{name}-{walltime}-{end}",
            "workloads": [
                {
                    "generate": "checkpoints",
                    "label": cell(load, years),
                    "set": {"load": load, "mtbf": years, "walltime": walltime, "end": end},
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
    """The smallest buffers, in all readings."""
    plans = [{"task": "size-buffer", "label": each, "partition": each} for each in (STATIC, DYNAMIC)]
    return [campaign(settings, "sizes", SETS_OF_TABLE_2, plans, each) for each in READINGS]


def summarise_table_2(results: Sequence[Results]) -> Summary:
    """The mean ratio by load and MTBF, its least and largest, and the sizes in bytes; the ratio in all readings."""
    tables = [_table_of_ratios(each) for each in results]
    means, widths = (dict(zip(READINGS, part, strict=True)) for part in zip(*tables, strict=True))
    return {
        "ratio": means[P5_WORDS],
        **_sizes(results[0]),
        "readings": means,
        "interval": {"ratio": widths[P5_WORDS], "readings": widths},
        "instances": instances(results[0]),
    }


def _table_of_ratios(results: Results) -> tuple[Summary, Summary]:
    """{load: {MTBF: mean ratio}}, and half the widths."""
    means: Summary = {load: {} for load in LOADS}
    widths: Summary = {load: {} for load in LOADS}
    for load in LOADS:
        for years in YEARS:
            (mean,) = mean_intervals(_ratio(matrix(results, "size", "workload", cell(load, years)))[:, None])
            means[load][years], widths[load][years] = mean.mean, half_width(mean)
    return means, widths


def _sizes(results: Results) -> Summary:
    """The least and the largest ratio, and the mean sizes, by load and MTBF."""
    found: Summary = {name: {load: {} for load in LOADS} for name in ("range", "size")}
    for load in LOADS:
        for years in YEARS:
            sizes = matrix(results, "size", "workload", cell(load, years))
            ratio = _ratio(sizes)
            found["range"][load][years] = [float(np.nanmin(ratio)), float(np.nanmax(ratio))]
            found["size"][load][years] = dict(zip(results.plans, np.nanmean(sizes, axis=0).tolist(), strict=True))
    return found


def _ratio(sizes: Floats) -> Floats:
    """Static over dynamic; sets that need no buffer at all have none."""
    static, dynamic = sizes.T
    ratio: Floats = np.divide(static, dynamic, out=np.full_like(static, np.nan), where=dynamic > 0.0)
    return ratio


def draw_table_2(summary: Summary) -> Figure:
    """The table as bars, in all readings."""
    panels, widths = (
        {
            _title(reading): {f"MTBF {years} y": {load: table[load][years] for load in LOADS} for years in YEARS}
            for reading, table in part["readings"].items()
        }
        for part in (summary, summary["interval"])
    )
    return bars(panels, x="I/O load", y="static size / dynamic size", widths=widths, at=1.0, share_y=True)


def _title(reading: str) -> str:
    """A reading in words."""
    walltime, end = READINGS[reading]
    return f"wall times {'as printed' if walltime == 'printed' else 'of the literature'}, ends with {end}"


# ---- figure 8


def campaigns_of_figure_8(settings: ExperimentSettings) -> list[Campaign]:
    """Every strategy with every capacity; in the other readings G only."""
    plans = [
        {"task": "buffer", "label": _plan(name, part), "part": float(part), **options}
        for part in PARTS
        for name, options in STRATEGIES.items()
    ]
    ours = [plan for plan in plans if plan["label"] in {_plan(G, part) for part in PARTS}]
    return [
        campaign(settings, "buffers", SETS_OF_FIGURE_8, plans if reading == P5_WORDS else ours, reading)
        for reading in READINGS
    ]


def _plan(name: str, part: str) -> str:
    return f"{name}, {part} S_opt"


def summarise_figure_8(results: Sequence[Results]) -> Summary:
    """G's stretches by load, MTBF and part of S_opt; everybody's; from which part on G gains no more; all readings."""
    summary: Summary = {"readings": {reading: {} for reading in READINGS}}
    widths: Summary = {"readings": {reading: {} for reading in READINGS}}
    for metric in STRETCHES:
        everybody = f"{metric}_by_strategy"
        summary[everybody], widths[everybody] = _by_cell(results[0], metric, STRATEGIES)
        for reading, found in zip(READINGS, results, strict=True):
            means, halves = _by_cell(found, metric, [G])
            summary["readings"][reading][metric] = _of_one(means)
            widths["readings"][reading][metric] = _of_one(halves)
        summary[metric], widths[metric] = (each["readings"][P5_WORDS][metric] for each in (summary, widths))
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
    """As in P5, G's stretches with a line for each MTBF, in all readings; then all strategies at the last MTBF."""
    panels: dict[str, Any] = {}
    widths: dict[str, Any] = {}
    rows = [(P5_WORDS, metric) for metric in STRETCHES] + [(reading, "max_stretch") for reading in OTHERS]
    for made, part in ((panels, summary), (widths, summary["interval"])):
        for reading, metric in rows:
            found = part["readings"][reading][metric]
            for load in LOADS:
                title = f"G: {STRETCHES[metric]}, load {load} ({reading})"
                made[title] = {f"G, MTBF {years} y": found[load][years] for years in YEARS}
        for load in LOADS:
            each = part["max_stretch_by_strategy"][load][YEARS[-1]]
            made[f"all: max stretch, load {load}, MTBF {YEARS[-1]} y"] = {
                _line(name): {size: each[size][name] for size in PARTS} for name in (*STRATEGIES, BOUND)
            }
    y = [STRETCHES[metric] for _, metric in [*rows, ("", "max_stretch")] for _ in LOADS]
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
        states="Table 2, for an MTBF of 5, 10, 25 and 50 years: 1.32, 1.31, 1.42, 1.67 at load 0.2; 1.33, 1.28, 1.26,"
        " 1.47 at 0.5; 1.23, 1.26, 1.25, 1.35 at 0.8. An overhead of 25 to 40 % for most settings (§7.2).",
        levels=("load or reading", "mtbf or load", "partition, end or mtbf"),
    ),
    Experiment(
        id="P5.fig8",
        title="max and mean stretch against the size of the buffer, by load and MTBF, and other strategies than G",
        campaigns=campaigns_of_figure_8,
        summarise=summarise_figure_8,
        draw=draw_figure_8,
        states="The stretch falls with the buffer, up to about 1.5 S_opt; below S_opt it is much above 1. With a large"
        " MTBF and load its limit is above 1, up to 1.15 for the maximum at load 0.8 with 50 years; below an MTBF of 10"
        " years it comes close to 1 at every load (§7.2).",
        levels=("load or reading", "mtbf or metric", "part or load", "strategy or mtbf", "part"),
    ),
)
