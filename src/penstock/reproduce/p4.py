"""P4 figures 3 to 6: how many targets, and which, by the lowest load that any allocation could have (§4.2).

P4 has "over 100" sets of applications in each scenario, on 20 targets and 480 nodes, and does not say how many
applications they have, nor at which loads Θ. Here each of ten loads has 34 sets of 20, of 40 and of 60 applications,
all drawn apart. Sets are put together by the lowest load, in tenths; those above 1 are left out, as in P4.

Profiles are of the built-in families, or of a file, as that with the patterns of MareNostrum that P4 uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.campaign import Campaign, Results
from penstock.kernels.arrays import Floats
from penstock.reproduce.bins import by_bin, counts, in_order, overall
from penstock.reproduce.experiment import PROFILES, Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import boxes, lines
from penstock.reproduce.means import box

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOADS = [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95]
APPLICATIONS = [20, 40, 60]
SETS = 34  # for each load and number of applications: 102 for each load
APART = 10_000  # seeds between one load and number of applications and the next
GNC, GC, RANDOM = "greedy-non-clairvoyant", "greedy-clairvoyant", "random"
TCPU, BEST, MCKP = "tcpu", "best-bandwidth", "mckp"
PLACED = ("random", "static", BEST, "nsys", TCPU)  # allocations that leave it to another policy which targets it is
ALLOCATIONS = (*PLACED, MCKP)
TOLD = ((TCPU, GNC), (BEST, GNC), (BEST, GC))  # of classes only, in figure 6
CLASS = "class"
BUILT_IN = "built-in families"
SPREAD = (0.1, 0.9)
LEVELS_OF_5 = (0.2, 0.5, 0.8)
AROUND = 0.05
AXIS = "lowest load of the targets, I/O-load(π_sys)"

Pair = tuple[str, str]


def pair_name(allocation: str, placement: str, knowledge: str = "") -> str:
    """How a pair of policies is called; mckp says which targets it is by itself.

    >>> pair_name("tcpu", "random"), pair_name("mckp", "random")
    ('tcpu, random', 'mckp')
    """
    return ", ".join(each for each in (allocation, "" if allocation == MCKP else placement, knowledge) if each)


def campaign(
    settings: ExperimentSettings,
    pairs: Sequence[Pair],
    told: Sequence[Pair] = (),
    name: str = "P4-targets",
    family: str | None = None,
) -> Campaign:
    """All sets under some pairs of policies, and under some that are told the classes of profiles only."""
    built_in = {} if family is None else {"family": family}
    profiles = built_in if settings.profiles is None else {"profiles": str(settings.profiles)}
    points = [(load, applications) for load in LOADS for applications in APPLICATIONS]
    exact = [_plan(pair) for pair in pairs]
    return Campaign.from_document(
        {
            "version": 1,
            "name": name,
            "workloads": [
                {
                    "generate": "targets",
                    "set": {"load": load, "applications": applications, **profiles},
                    "seeds": f"{place * APART + 1}-{place * APART + settings.instances(SETS)}",
                }
                for place, (load, applications) in enumerate(points)
            ],
            "plans": [*exact, *(_plan(pair, knowledge=CLASS) for pair in told)],
            "metrics": ["mean_io_slowdown", "machine_idletime", "least_load"],
        }
    )


def _plan(pair: Pair, **knowledge: str) -> dict[str, str]:
    allocation, placement = pair
    label = pair_name(*pair, *knowledge.values())
    return {"task": "allocate", "label": label, "allocation": allocation, "placement": placement, **knowledge}


class Sets:
    """Results with a row for each set of applications whose lowest load is at most 1, and a column for each plan."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self.plans = results.plans
        loads = results.matrix("least_load")
        load = np.nanmax(np.where(np.isnan(loads).all(axis=1, keepdims=True), np.inf, loads), axis=1)
        self._there = load <= 1.0
        self.load: Floats = load[self._there]
        self.tenth = [f"{(min(int(10 * each), 9) + 0.5) / 10:g}" for each in self.load]
        points = results.scenarios[self._there, 0]
        self.applications = [f"{results.points[point]['applications']:g}" for point in points]

    def of(self, metric: str, plans: Sequence[str] | None = None) -> Floats:
        """A metric, for some plans or all."""
        columns = [self.plans.index(plan) for plan in plans or self.plans]
        values: Floats = self._results.matrix(metric)[self._there][:, columns]
        return values

    def about(self) -> Summary:
        """What summaries say of the sets."""
        point = self._results.points[0]
        profiles, family = point["profiles"], point["family"]
        return {
            "instances": len(self.load),
            "sets": counts(self.tenth),
            "profiles": Path(profiles).name if profiles else f"built-in family {family}" if family else BUILT_IN,
        }


def summary_of(
    quantities: Mapping[str, tuple[Sequence[str], Floats]], bins: Sequence[str], about: Mapping[str, Any]
) -> Summary:
    """For each quantity {pair: {load: mean}}, `interval` in the same shape, `spread` with 10 % and 90 % of the sets."""
    means: Summary = {}
    widths: Summary = {}
    spread: Summary = {}
    for quantity, (names, values) in quantities.items():
        means[quantity], widths[quantity] = by_bin(values, names, bins)
        spread[quantity] = _spread(values, names, bins)
    return {**means, **about, "interval": widths, "spread": spread}


def _spread(values: Floats, names: Sequence[str], bins: Sequence[str]) -> Summary:
    keys = np.array(bins)
    return {
        name: {key: np.nanquantile(column[keys == key], SPREAD).tolist() for key in in_order(bins)}
        for name, column in zip(names, values.T, strict=True)
    }


# ---- figure 3: placements


def summarise_placements(results: Results) -> Summary:
    """What it costs to place otherwise than by stress, in % of the mean slowdown, and how even the targets are."""
    sets = Sets(results)
    slowdown = {plan: sets.of("mean_io_slowdown", [plan])[:, 0] for plan in sets.plans}
    pairs = [(allocation, placement) for placement in (GNC, RANDOM) for allocation in PLACED]
    more = [100 * (slowdown[pair_name(*pair)] / slowdown[pair_name(pair[0], GC)] - 1) for pair in pairs]
    quantities = {
        "relative_slowdown": ([pair_name(*pair) for pair in pairs], np.stack(more, axis=1)),
        "mean_io_slowdown": (sets.plans, sets.of("mean_io_slowdown")),
        "imbalance": (sets.plans, sets.of("imbalance")),
    }
    return summary_of(quantities, sets.tenth, sets.about())


def draw_placements(summary: Summary) -> Figure:
    """As in P4: a panel for each placement, a line for each allocation, with 10 % to 90 % of the sets around it."""
    found, spread = summary["relative_slowdown"], summary["spread"]["relative_slowdown"]
    panels, bands = (
        {
            f"{placement} over {GC}": {name: part[pair_name(name, placement)] for name in PLACED}
            for placement in (GNC, RANDOM)
        }
        for part in (found, spread)
    )
    y = "more mean I/O slowdown, %\n(band: 10 % to 90 % of sets)"
    return lines(panels, x=AXIS, y=y, bands=bands, columns=2, at=0.0)


# ---- figure 4: what slowdowns consist of


def summarise_slowdowns(results: Results) -> Summary:
    """The mean slowdown and its two parts, and the slowdown by the number of applications, on which mckp depends."""
    sets = Sets(results)
    named = {"mean_io_slowdown": "mean_io_slowdown", "rho_io": "mean_rho_io", "rho_con": "mean_rho_con"}
    quantities = {name: (sets.plans, sets.of(metric)) for name, metric in named.items()}
    summary = summary_of(quantities, sets.tenth, sets.about())
    found, widths = by_bin(sets.of("mean_io_slowdown"), sets.plans, sets.applications)
    summary["by_applications"], summary["interval"]["by_applications"] = found, widths
    mckp, sets_of_mckp = [*summary["mean_io_slowdown"][MCKP].values()], sets.of("mean_io_slowdown", [MCKP])
    return summary | {
        "mckp_range": [min(mckp), max(mckp)],
        "mckp_range_of_sets": [float(np.nanmin(sets_of_mckp)), float(np.nanmax(sets_of_mckp))],
    }


def draw_slowdowns(summary: Summary) -> Figure:
    """As in P4: the slowdown and its parts. Where others are the cause, mckp is too far above to be drawn."""
    titles = {"mean_io_slowdown": "slowdown", "rho_io": "by the number of targets", "rho_con": "by others on them"}
    panels, bands = (
        {
            title: {_allocation(pair): curve for pair, curve in part[key].items() if key == "rho_io" or pair != MCKP}
            for key, title in titles.items()
        }
        for part in (summary, summary["spread"])
    )
    return lines(panels, x=AXIS, y=["mean I/O slowdown", "mean ρ_io", "mean ρ_con"], bands=bands)


def _allocation(pair: str) -> str:
    return pair.partition(",")[0]


# ---- figure 5: idle time


def summarise_idle(results: Results) -> Summary:
    """The idle time of the machine near three loads, and how many points it is above that of tcpu."""
    sets = Sets(results)
    level = np.array(LEVELS_OF_5)[np.argmin(np.abs(sets.load[:, None] - LEVELS_OF_5), axis=1)]
    near = np.abs(sets.load - level) <= AROUND
    bins = [f"{each:g}" for each in level[near]]
    idle = sets.of("machine_idletime")[near]
    above = 100 * (idle - idle[:, [sets.plans.index(pair_name(TCPU, GNC))]])
    quantities = {"machine_idletime": (sets.plans, idle), "points_above_tcpu": (sets.plans, above)}
    summary = summary_of(quantities, bins, sets.about() | {"instances": len(bins), "sets": counts(bins)})
    quantiles = {
        plan: {key: box(column[np.array(bins) == key]) for key in in_order(bins)}
        for plan, column in zip(sets.plans, idle.T, strict=True)
    }
    return summary | {"quantiles": {"machine_idletime": quantiles}}


def draw_idle(summary: Summary) -> Figure:
    """As in P4: side by side at three loads."""
    parts = summary["machine_idletime"], summary["quantiles"]["machine_idletime"]
    panels, quantiles = (
        {
            "": {
                _allocation(pair): {f"{key} ± {AROUND}": value for key, value in curve.items()}
                for pair, curve in part.items()
            }
        }
        for part in parts
    )
    return boxes(panels, quantiles, x=AXIS, y="machine idle time")


# ---- figure 6: partial knowledge


def summarise_knowledge(results: Results) -> Summary:
    """What it costs to know the classes of profiles only, in % of the mean slowdown, and the idle time with it."""
    sets = Sets(results)
    names = [pair_name(*pair) for pair in TOLD]
    told = [pair_name(*pair, CLASS) for pair in TOLD]
    lost = 100 * (sets.of("mean_io_slowdown", told) / sets.of("mean_io_slowdown", names) - 1)
    idle, exact = sets.of("machine_idletime", told), sets.of("machine_idletime", names)
    quantities = {
        "slowdown_lost": (names, lost),
        "machine_idletime": (names, idle),
        "machine_idletime_exact": (names, exact),
    }
    summary = summary_of(quantities, sets.tenth, sets.about())
    for name, values in (("slowdown_lost_overall", lost), ("idle_points_lost_overall", 100 * (idle - exact))):
        summary[name], summary["interval"][name] = overall(values, names)
    return summary


def draw_knowledge(summary: Summary) -> Figure:
    """As in P4: the slowdown against that with exact profiles, and the idle time."""
    titles = {"slowdown_lost": "mean I/O slowdown", "machine_idletime": "machine idle time"}
    short = {GNC: "GNC", GC: "GC"}
    panels, widths = (
        {
            title: {f"{name}, {short[placement]}": part[key][pair_name(name, placement)] for name, placement in TOLD}
            for key, title in titles.items()
        }
        for part in (summary, summary["interval"])
    )
    return lines(panels, x=AXIS, y=["% more than with exact profiles", "part of the machine"], widths=widths, columns=2)


def _experiment(
    figure: int, title: str, pairs: Sequence[Pair], told: Sequence[Pair], summarise: Any, draw: Any, states: str
) -> Experiment:
    return Experiment(
        id=f"P4.fig{figure}",
        title=title,
        campaigns=lambda settings: [campaign(settings, pairs, told)],
        summarise=lambda results: summarise(results[0]),
        draw=draw,
        states=states,
        levels=("pair", "load", "end"),
        data=PROFILES,
    )


EXPERIMENTS = (
    _experiment(
        3,
        "mean I/O slowdown with simpler placements over that with greedy-clairvoyant, by load",
        [(allocation, placement) for allocation in PLACED for placement in (RANDOM, GNC, GC)],
        (),
        summarise_placements,
        draw_placements,
        "greedy-non-clairvoyant and greedy-clairvoyant hardly differ in slowdown, but for the random allocation, though"
        " the latter loads targets more evenly; random placement is clearly worse.",
    ),
    _experiment(
        4,
        "mean I/O slowdown of all allocations and its two parts, by load",
        [(allocation, GNC) for allocation in ALLOCATIONS],
        (),
        summarise_slowdowns,
        draw_slowdowns,
        "best-bandwidth has the lowest ρ_io and a ρ_con far above that of nsys and static, which grows linearly with"
        " the load; under nsys and tcpu ρ_con varies little with the load, at the cost of ρ_io; mckp is worse than all"
        " others, from 1.30 to 158.97 (caption of figure 4).",
    ),
    _experiment(
        5,
        "idle time of the machine under all allocations, at three loads",
        [(allocation, GNC) for allocation in ALLOCATIONS],
        (),
        summarise_idle,
        draw_idle,
        "At low load best-bandwidth and tcpu are best; at higher loads tcpu is better than best-bandwidth, though their"
        " slowdowns are alike; static does well at high load.",
    ),
    _experiment(
        6,
        "mean I/O slowdown and idle time when policies know the classes of profiles only, by load",
        TOLD,
        TOLD,
        summarise_knowledge,
        draw_knowledge,
        "All three pairs are much alike; tcpu differs the most, which is still negligible (less than 1 %, says the"
        " text; the ticks of figure 6a go from -0.05 to 0.20, be they percent, as its caption has it, or parts); the"
        " two placements are alike but at extremely low load; tcpu stays the best in idle time.",
    ),
)
