"""P1 Table 2: how far strategies can be from the best, by P1's Examples 1 to 6 with more and more applications (§5).

A ratio is the metric of P1's alternative schedule, for which `penstock.workloads.ratios` has closed forms, over what a
strategy is measured to reach. It is a lower bound on the strategy's competitive ratio, and so at least the closed form.

§5.7 bounds some from above: no example may show more than m there. It also says how much better fair sharing is than
best-next-event in Example 6, where both are measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.campaign import Campaign, Results
from penstock.reproduce.experiment import Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import lines
from penstock.reproduce.p1_synthetic import NAMES, STRATEGIES
from penstock.workloads import ratios
from penstock.workloads.ratios import TABLE_2, Ratio

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = [12, 16, 24, 32, 48, 64]  # m; Example 6 needs more than 10, Example 2 an even one
FRESH = "example-1-fresh"  # §5.1's second example, where all are released when the window begins
SIZES_OF_FRESH = [10, 17, 26, 37, 50, 65]  # K² + 1
MOST = {"example-6": 32}  # beyond, its pauses are shorter than what the engine takes for one instant
NO_METRIC = 1e-9  # a metric below this is 0, and the ratio has no limit
ANY = "any strategy"
# Not in P1's table: our own policies, on the example in which most of them once starved the newcomer.
OURS = ("credited-yield", "annealed-credit", "loss-capped-srpt", "reserve-credit", "reserve-srpt", "steady-reserve")

# What each example is about. Example 2 has all three metrics; its efficiency is the one with a finite limit.
EXAMPLES: dict[str, tuple[Sequence[str], Callable[[int], Ratio]]] = {
    "example-1": (["fair-share"], ratios.example_1),
    FRESH: (["fair-share"], ratios.example_1_fresh),
    "example-2": (STRATEGIES, ratios.example_2_efficiency),
    "example-3": ([name for name, row in TABLE_2.items() if row["efficiency"] is ratios.example_3], ratios.example_3),
    "example-4": (["periodic-greedy-yield"], ratios.example_4),
    "example-5": (STRATEGIES, ratios.example_5),
    "example-6": (["best-next-event"], ratios.example_6),
}
# §5.7.1 and §5.7.2: whose ratio is exactly m, and the examples that have an alternative to compare with.
EXACTLY_M: dict[str, tuple[Sequence[str], Sequence[Callable[[int], Ratio]]]] = {
    "min_yield": (
        ["fair-share"],
        [ratios.example_1, ratios.example_2_min_yield, ratios.example_5, ratios.example_6],
    ),
    "efficiency": (
        ["fcfs", "set-10", "greedy-yield", "lookahead-greedy-yield", "periodic-greedy-yield"],
        [ratios.example_2_efficiency, ratios.example_3],
    ),
}


def campaigns(_: ExperimentSettings) -> list[Campaign]:
    """Examples whose plans are the strategies in one; Example 4, whose period depends on m, in one for each m."""
    more: dict[str, dict[str, Any]] = {FRESH: {"fresh": True}, "example-2": {"sharing": list(STRATEGIES)}}
    plain: list[dict[str, Any]] = [
        {"generate": name.removesuffix("-fresh"), "label": name, "set": {"m": sizes(name)} | more.get(name, {})}
        for name in EXAMPLES
        if name != "example-4"
    ]
    fourth = [
        _campaign(f"P1-example-4-{m}", [{"generate": "example-4", "set": {"m": m}}], [_periodic(m)]) for m in SIZES
    ]
    own = _campaign("P1-examples-ours", [{"generate": "example-1", "set": {"m": SIZES}}], list(OURS))
    return [_campaign("P1-examples", plain, list(STRATEGIES)), *fourth, own]


def sizes(example: str) -> list[int]:
    """The numbers of applications that an example is run with."""
    return [m for m in (SIZES_OF_FRESH if example == FRESH else SIZES) if m <= MOST.get(example, m)]


def _campaign(name: str, workloads: list[dict[str, Any]], sharing: list[str]) -> Campaign:
    plans = [{"sharing": sharing, "bounds": False}]
    document = {"version": 1, "name": name, "workloads": workloads, "plans": plans, "metrics": list(NAMES)}
    return Campaign.from_document(document)


def _periodic(m: int) -> str:
    return f"periodic-greedy-yield(delta={1 / m**2!r})"


def summarise(results: Sequence[Results]) -> Summary:
    """The ratio by example and m, by strategy, metric and m, and what P1 proves.

    An example's ratio is that of the strategy, among those it is about, to which it does least harm. What has no limit,
    because the strategy reaches 0, is left empty.
    """
    reached = _Reached(results)
    summary: Summary = {"ratio": {}, "closed_form": {}, "entry": {}}
    for example, (strategies, formula) in EXAMPLES.items():
        proved = {str(m): formula(m) for m in sizes(example)}
        least = {m: min(reached.ratio(proved[m], strategy, int(m)) for strategy in strategies) for m in proved}
        summary["ratio"][example] = {m: _finite(ratio) for m, ratio in least.items()}
        summary["closed_form"][example] = {m: _finite(each.ratio) for m, each in proved.items()}
        summary["entry"][example] = {m: _finite(each.entry) for m, each in proved.items()}
    summary["table"] = {
        strategy: {metric: reached.row(formula, strategy) for metric, formula in row.items()}
        for strategy, row in TABLE_2.items()
    }
    summary["ours"] = {policy: {"min_yield": reached.row(ratios.example_1, policy)} for policy in OURS}
    return {**summary, "exactly_m": _parts_of_m(reached), **_fair_over_best(reached), "instances": len(SIZES)}


def _parts_of_m(reached: _Reached) -> Summary:
    """§5.7.1, §5.7.2: {metric: {strategy: {m: the largest ratio that an example shows, in m}}}, at most 1."""
    return {
        metric: {
            strategy: {
                str(m): max(reached.ratio(each(m), strategy, m) for each in formulas if m in sizes(each(m).example)) / m
                for m in SIZES
            }
            for strategy in strategies
        }
        for metric, (strategies, formulas) in EXACTLY_M.items()
    }


def _fair_over_best(reached: _Reached) -> Summary:
    """§5.7.3: the min yield of fair-share over that of best-next-event in Example 6, and what P1 proves of it."""
    proved = {str(m): ratios.example_6_fair_share(m) for m in sizes("example-6")}
    names = ("fair-share", "best-next-event")
    fair, best = ({m: reached.ratio(each, name, int(m)) for m, each in proved.items()} for name in names)
    return {
        "fair_over_best_next_event": {m: best[m] / fair[m] for m in proved},
        "fair_over_best_next_event_proved": {m: each.ratio for m, each in proved.items()},
        "fair_over_best_next_event_entry": {m: each.entry for m, each in proved.items()},
    }


class _Reached:
    """What strategies were measured to reach, by example, m, strategy and metric."""

    def __init__(self, results: Sequence[Results]) -> None:
        self._values = {key: value for each in results for key, value in _rows(each)}

    def row(self, formula: Callable[[int], Ratio], strategy: str) -> dict[str, float | None]:
        proved = {m: formula(m) for m in sizes(formula(SIZES[0]).example)}
        return {str(m): _finite(self.ratio(each, strategy, m)) for m, each in proved.items()}

    def ratio(self, proved: Ratio, strategy: str, m: int) -> float:
        value = self._values.get((proved.example, m, strategy, proved.metric), math.nan)
        return math.inf if value <= NO_METRIC else proved.alternative / value


def _rows(results: Results) -> Iterator[tuple[tuple[str, int, str, str], float]]:
    """Every run, but those of Example 2 against a strategy other than the one it was labelled for."""
    for metric in NAMES:
        values = results.values(metric)
        for row in np.flatnonzero(results.ended & ~results.failed).tolist():
            point, plan = results.points[results.point[row]], results.plans[results.plan[row]].partition("(")[0]
            if point.get("sharing", plan) == plan:
                yield (point["workload"], point["m"], plan, metric), float(values[row])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def draw(summary: Summary) -> Figure:
    """A panel for each example: what was measured, what P1 proves, and what it states, as m grows."""
    panels = {}
    for example in EXAMPLES:
        named = {"measured": "ratio", "closed form": "closed_form", "P1 states": "entry"}
        panels[_title(example)] = {name: summary[key][example] for name, key in named.items()}
    return lines(panels, x="number of applications m", y="ratio", columns=3)


def _title(example: str) -> str:
    strategies, formula = EXAMPLES[example]
    whose = strategies[0] if len(strategies) == 1 else ANY if len(strategies) == len(STRATEGIES) else "six strategies"
    return f"{example}: {NAMES[formula(SIZES[0]).metric]} of {whose}"


EXPERIMENTS = (
    Experiment(
        id="P1.table2",
        title="the competitive-ratio examples for growing numbers of applications",
        campaigns=campaigns,
        summarise=summarise,
        draw=draw,
        states="No strategy has a competitive ratio better than: 3/2 for the min yield (Example 5), m/4 for the"
        " efficiency and any number for the utilization (Example 2). fair-share has m for the min yield (Example 1),"
        " periodic-greedy-yield 2 (Example 4), best-next-event m/2 - 4 (Example 6), the others any number (Example 2);"
        " fcfs, set-10, best-next-event and those that look at the yield have m for the efficiency (Example 3). With"
        " all released at once fair-share still has √m - 3 (§5.1). m is exact for the min yield of fair-share, and for"
        " the efficiency of all that never leave bandwidth idle; in Example 6 fair-share is m/2 - 6 times better than"
        " best-next-event (§5.7).",
        levels=("example or strategy", "m or metric", "m"),
    ),
)
