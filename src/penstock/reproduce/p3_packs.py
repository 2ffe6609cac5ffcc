"""P3 figures 10 to 15: packs that mind the I/O against first-fit, by the I/O load α of the workload (§6.2).

All strategies meet the same workloads, and are compared workload by workload. As in P3 α is what a workload turned out
to have, not what its generation aimed at; workloads are put together with the nearest of P3's 0.5, 0.75, 1, 2, 3, …

P3 generates for α ∈ {0.5, 0.75, 1...10}. That may be the 12 values that figures have here, or go on in quarters, 39 in
all: means over all workloads are given for both (`overall`, `overall_in_quarters`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.campaign import Campaign, Results
from penstock.campaign.statistics import mean_intervals
from penstock.kernels.arrays import Floats
from penstock.report.parts.theme import COLOURS, COMPUTE, FAINT, INK, WAITING, theme
from penstock.reproduce.bins import by_bin, counts, overall
from penstock.reproduce.experiment import Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import lines
from penstock.reproduce.means import instances

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHAS = [0.5, 0.75, *map(float, range(1, 11))]
BETWEEN = [each / 4 for each in range(5, 41) if each % 4]  # what quarters add
INSTANCES = 10  # for each α
FIRST_FIT = "first-fit"
ONE, BY_ALPHA, ONE_LONGEST = "S = 1", "S = alpha", "S = 1, longest remaining"
PLANS: dict[str, dict[str, Any]] = {
    FIRST_FIT: {"sensitivity": "inf"},
    ONE: {"sensitivity": 1.0},
    BY_ALPHA: {"sensitivity": "alpha"},
    ONE_LONGEST: {"sensitivity": 1.0, "sharing": "list-most-remaining"},
}
WITH_FIFO = (FIRST_FIT, ONE, BY_ALPHA)
IO_NODES = (1, 3, 5)
PARTS = {"exec": (COLOURS[0], "white"), "delay": (WAITING, "white"), "idle": (COMPUTE, INK)}  # of bars, of numbers
AXIS = "I/O load α"
QUARTERS = "overall_in_quarters"
WITHIN = 1.2  # P3 §6.2.3: S = 1 is within 20 % of the prediction
FEWEST = 3  # workloads of a load that is drawn


def packs(settings: ExperimentSettings, plans: Sequence[dict[str, Any]]) -> list[Campaign]:
    """P3's workloads, each packed in several ways; then those that quarters of α add."""
    first = _campaign(settings, "P3-packs", ALPHAS, 0, plans)
    return [first, _campaign(settings, "P3-packs-between", BETWEEN, len(ALPHAS), plans)]


def _campaign(
    settings: ExperimentSettings, name: str, alphas: Sequence[float], before: int, plans: Sequence[dict[str, Any]]
) -> Campaign:
    return Campaign.from_document(
        {
            "version": 1,
            "name": name,
            "workloads": [
                {"generate": "packs", "set": {"alpha": alpha}, "seeds": _seeds(settings, before + place)}
                for place, alpha in enumerate(alphas)
            ],
            "plans": [{"task": "pack", "sharing": "list-fifo", **plan} for plan in plans],
            "metrics": ["makespan", "mean_pack_max_stretch"],
        }
    )


def _seeds(settings: ExperimentSettings, place: int) -> str:
    """Others for every α: with the same, workloads would differ in their processors only and count more than once."""
    first = 1000 * place + 1
    return f"{first}-{first + settings.instances(INSTANCES) - 1}"


def on_one_node(settings: ExperimentSettings) -> list[Campaign]:
    """All strategies with a single I/O node."""
    return packs(settings, [{"label": name, "io_nodes": 1, **plan} for name, plan in PLANS.items()])


def on_several_nodes(settings: ExperimentSettings) -> list[Campaign]:
    """First-fit and S = 1 with 1, 3 and 5 I/O nodes."""
    plans = [
        {"label": _on(name, nodes), "io_nodes": nodes, **PLANS[name]} for name in (FIRST_FIT, ONE) for nodes in IO_NODES
    ]
    return packs(settings, plans)


def _on(name: str, nodes: int) -> str:
    return f"{name} on {nodes}"


def nearest(alpha: float) -> str:
    """Which of 0.5, 0.75, 1, 2, 3, … a load is nearest to.

    >>> nearest(0.44), nearest(0.8), nearest(0.9), nearest(11.6)
    ('0.5', '0.75', '1', '12')
    """
    return f"{min((0.5, 0.75, max(1.0, float(round(alpha)))), key=lambda each: abs(each - alpha)):g}"


def _loads(results: Results) -> list[str]:
    return [nearest(alpha) for alpha in np.nanmax(results.matrix("alpha"), axis=1)]


def _relative(results: Results, metric: str) -> Floats:
    """Over the same with first-fit."""
    values = results.matrix(metric)
    return values / values[:, [results.plans.index(FIRST_FIT)]]


Quantity = Callable[[Results], Floats]  # a row for each workload, a column for each plan


def _summary(results: Sequence[Results], quantities: Mapping[str, Quantity]) -> Summary:
    """Every quantity as {strategy: {α: mean}}, and over all workloads as {strategy: mean} in `overall`."""
    found = results[0]
    bins = _loads(found)
    means: Summary = {}
    widths: Summary = {}
    for name, of in quantities.items():
        means[name], widths[name] = by_bin(of(found), found.plans, bins)
    whole, whole_widths = _overall(results[:1], quantities)
    quarters, quarters_widths = _overall(results, quantities)
    return {
        **means,
        "overall": whole,
        QUARTERS: quarters,
        "interval": {**widths, "overall": whole_widths, QUARTERS: quarters_widths},
        "in_bin": counts(bins),
        "instances": instances(found),
    }


def _overall(results: Sequence[Results], quantities: Mapping[str, Quantity]) -> tuple[Summary, Summary]:
    """Every quantity over all workloads of some results as {strategy: mean}, and half the widths."""
    pairs = {
        name: overall(np.concatenate([of(each) for each in results]), results[0].plans)
        for name, of in quantities.items()
    }
    return {name: means for name, (means, _) in pairs.items()}, {name: half for name, (_, half) in pairs.items()}


def makespans(results: Sequence[Results]) -> Summary:
    """The makespan over that of first-fit."""
    return _with_policies(results, {"makespan_ratio": "makespan"})


def stretches(results: Sequence[Results]) -> Summary:
    """P3's stretch, the mean over packs of the largest in each, over that of first-fit; and that of jobs.

    With more packs the first has more of those that hold a single job, which does not wait: the others do not depend on
    how many packs there are.
    """
    metrics = {
        "stretch_ratio": "mean_pack_max_stretch",
        "max_job_stretch_ratio": "max_stretch",
        "mean_job_stretch_ratio": "mean_stretch",
    }
    return _with_policies(results, metrics)


def _with_policies(results: Sequence[Results], metrics: Mapping[str, str]) -> Summary:
    """Metrics over those of first-fit; with S = 1 also those of longest remaining over those of FIFO."""
    summary = _summary(results, {name: _over_first_fit(metric) for name, metric in metrics.items()})
    found = results[0]
    one, other = found.plans.index(ONE_LONGEST), found.plans.index(ONE)
    values = [found.matrix(metric) for metric in metrics.values()]
    ratios = np.stack([each[:, one] / each[:, other] for each in values], axis=1)
    key = "longest_remaining_over_fifo"
    summary[key], summary["interval"][key] = overall(ratios, list(metrics))
    return summary


def _over_first_fit(metric: str) -> Quantity:
    return lambda results: _relative(results, metric)


def numbers_of_packs(results: Sequence[Results]) -> Summary:
    """How many packs, over those of first-fit."""
    return _summary(results, {"packs_ratio": _over_first_fit("packs")})


def predictions(results: Sequence[Results]) -> Summary:
    """The makespan over what it would be if nobody waited for I/O; also the worst, and how many are beyond 20 %."""
    values, plans = _over_ideal(results[0]), results[0].plans
    worst = {plan: float(np.nanmax(values[:, place])) for place, plan in enumerate(plans)}
    beyond = {plan: int((values[:, place] > WITHIN).sum()) for place, plan in enumerate(plans)}
    return {**_summary(results, {"measured_over_ideal": _over_ideal}), "worst": worst, "beyond_20_percent": beyond}


def _over_ideal(results: Results) -> Floats:
    ratio: Floats = results.matrix("makespan") / results.matrix("makespan_alone")
    return ratio


def times(results: Sequence[Results]) -> Summary:
    """What becomes of the time of a processor, as parts of first-fit's makespan: {strategy: {part: mean}}."""
    time, widths = _times(results[:1])
    quarters, quarters_widths = _times(results)
    return {
        "time": time,
        "time_in_quarters": quarters,
        "interval": {"time": widths, "time_in_quarters": quarters_widths},
        "instances": instances(results[0]),
    }


def _times(results: Sequence[Results]) -> tuple[Summary, Summary]:
    """The parts of some results, strategy by strategy."""
    means, widths = _overall(results, {part: _part(part) for part in PARTS})
    plans = results[0].plans
    time = {plan: {part: means[part][plan] for part in PARTS} for plan in plans}
    return time, {plan: {part: widths[part][plan] for part in PARTS} for plan in plans}


def _part(name: str) -> Quantity:
    return lambda results: results.matrix(name) * _relative(results, "makespan")


def several_nodes(results: Sequence[Results]) -> Summary:
    """The makespan of S = 1 over that of first-fit on as many nodes: geometric means, and by α."""
    names = [str(nodes) for nodes in IO_NODES]
    ratios, bins = _by_nodes(results[0]), _loads(results[0])
    means, widths = by_bin(ratios, names, bins)
    geomean, geomean_widths = _geometric(ratios, names)
    quarters, quarters_widths = _geometric(np.concatenate([_by_nodes(each) for each in results]), names)
    return {
        "geomean_makespan": geomean,
        "geomean_makespan_in_quarters": quarters,
        "makespan_ratio": means,
        "interval": {
            "geomean_makespan": geomean_widths,
            "geomean_makespan_in_quarters": quarters_widths,
            "makespan_ratio": widths,
        },
        "in_bin": counts(bins),
        "instances": instances(results[0]),
    }


def _by_nodes(results: Results) -> Floats:
    """The ratio of every workload, a column for each number of nodes."""
    makespan, place = results.matrix("makespan"), results.plans.index
    return np.stack(
        [makespan[:, place(_on(ONE, nodes))] / makespan[:, place(_on(FIRST_FIT, nodes))] for nodes in IO_NODES], axis=1
    )


def _geometric(ratios: Floats, names: Sequence[str]) -> tuple[Summary, Summary]:
    """Geometric means, and half the widths of their intervals."""
    logs = [np.exp(each) for each in mean_intervals(np.log(ratios))]
    means = {name: float(mean) for name, (mean, _, _) in zip(names, logs, strict=True)}
    return means, {name: float(high - low) / 2 for name, (_, low, high) in zip(names, logs, strict=True)}


def _often_enough(summary: Summary, curves: Summary) -> Summary:
    """Without loads that hardly any workload has, unless there are no others: a single one is no mean."""
    often = {load for load, count in summary["in_bin"].items() if count >= FEWEST} or set(summary["in_bin"])
    return {name: {load: value for load, value in curve.items() if load in often} for name, curve in curves.items()}


def draw_loads(summary: Summary, quantity: str, y: str, shown: Sequence[str] = tuple(PLANS)) -> Figure:
    """A line for each strategy, as in P3."""
    panels = {quantity: _often_enough(summary, {name: summary[quantity][name] for name in shown})}
    return lines(panels, x=AXIS, y=y, widths={quantity: summary["interval"][quantity]})


def draw_several(summary: Summary) -> Figure:
    """A line for each number of I/O nodes."""
    curves = _often_enough(summary, summary["makespan_ratio"])
    panels = {"": {_nodes(name): curve for name, curve in curves.items()}}
    widths = {"": {_nodes(name): curve for name, curve in summary["interval"]["makespan_ratio"].items()}}
    return lines(panels, x=AXIS, y="makespan / that of first-fit", widths=widths, at=1.0)


def _nodes(name: str) -> str:
    mark = "I/O node" if name == "1" else "I/O nodes"
    return f"{name} {mark}"


def draw_times(summary: Summary) -> Figure:
    """As in P3: for each strategy what becomes of the time, one part on the other."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - drawing is rare and matplotlib slow to import

    time = summary["time"]
    with theme():
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        below = np.zeros(len(time))
        for part, (colour, text) in PARTS.items():
            height = np.array([time[name][part] for name in time])
            axes.bar(range(len(time)), height, 0.6, below, color=colour, edgecolor=INK, linewidth=0.6, label=part)
            for place, (base, tall) in enumerate(zip(below, height, strict=True)):
                if tall > 0.04:
                    axes.text(place, base + tall / 2, f"{tall:.2f}", color=text, ha="center", va="center")
            below += height
        axes.set_xticks(range(len(time)), [name.replace(", ", ",\n") for name in time])
        axes.set_ylabel("processor time / that of first-fit")
        axes.grid(axis="y", color=FAINT, linewidth=0.6)
        axes.set_axisbelow(True)
        handles, names = axes.get_legend_handles_labels()
        figure.legend(handles[::-1], names[::-1], loc="outside right upper")
        return figure


def _on_one_node(
    figure: int,
    title: str,
    summarise: Callable[[Sequence[Results]], Summary],
    draw: Callable[[Summary], Figure],
    states: str,
    x: str = "I/O load",
) -> Experiment:
    """A figure of all strategies with a single I/O node."""
    return Experiment(f"P3.fig{figure}", title, on_one_node, summarise, draw, states, ("strategy", x))


EXPERIMENTS = (
    _on_one_node(
        10,
        "makespan of packs that mind the I/O against first-fit, by I/O load",
        makespans,
        lambda summary: draw_loads(summary, "makespan_ratio", "makespan / that of first-fit"),
        "With S = 1 the makespan is on average 10 % longer than with first-fit; S = alpha loses less. The I/O policy"
        " does not seem to matter (§6.2.3).",
    ),
    _on_one_node(
        11,
        "stretch in packs that mind the I/O against first-fit, by I/O load",
        stretches,
        lambda summary: draw_loads(summary, "stretch_ratio", "stretch / that of first-fit"),
        "With S = 1 the stretch is much better than with first-fit, and stays close to 1; with S = alpha it is better"
        " most of the time. The I/O policy does not seem to matter.",
    ),
    _on_one_node(
        12,
        "number of packs against first-fit, by I/O load",
        numbers_of_packs,
        lambda summary: draw_loads(summary, "packs_ratio", "packs / those of first-fit", WITH_FIFO),
        "With S = 1 the number of packs grows with the I/O load; with S = alpha it is much smaller and roughly"
        " constant.",
    ),
    _on_one_node(
        13,
        "makespan against what is predicted without contention, by I/O load",
        predictions,
        lambda summary: draw_loads(summary, "measured_over_ideal", "makespan / predicted", WITH_FIFO),
        "With S = 1 the makespan is within 20 % of the one predicted without contention, while first-fit can be off by"
        " 1000 %; S = alpha is close to first-fit.",
    ),
    _on_one_node(
        14,
        "processor time in execution, delay and idleness, relative to first-fit",
        times,
        draw_times,
        "For 10 % of makespan 25 % of the time move from delay, which is lost, to idleness, which others could use;"
        " the additional 10 % are idle, too (§6.2.3).",
        "part",
    ),
    Experiment(
        id="P3.fig15",
        title="makespan of S = 1 against first-fit with 1, 3 and 5 I/O nodes, by I/O load",
        campaigns=on_several_nodes,
        summarise=several_nodes,
        draw=draw_several,
        states="The geometric mean of the makespan of S = 1 over that of first-fit is 1.09, 0.71 and 0.53 with 1, 3 and"
        " 5 I/O nodes, as more and smaller packs, whose length is well predicted, are easier to balance (§6.2.4).",
        levels=("I/O nodes", "I/O load"),
    ),
)
