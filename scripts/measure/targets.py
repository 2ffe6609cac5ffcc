"""Measure targets as the site reports them: `python scripts/measure/targets.py` prints tables and draws pictures.

The evaluation of P4 §4: 100 sets of applications on 20 targets and 480 nodes, twenty in each fifth of the lowest load,
once with the built-in families of profiles and once with the 189 patterns of MareNostrum, if these are at hand. Names
of tables as arguments (pairs, knowledge, sharing, improve) measure those only. All but `improve` take a minute on
two cores; that one searches for 10 s per set and objective, ten minutes in all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import t as student

from penstock import Scenario, generate
from penstock.policies.allocation import NAMES as ALLOCATIONS
from penstock.policies.placement import NAMES as PLACEMENTS
from penstock.report.parts.theme import COLOURS, FAINT, theme
from penstock.report.plots import save_figure
from penstock.report.profiles.plot import profiles_figure
from penstock.studies.profiles import read_profiles
from penstock.studies.targets import Allotment, allocate, compare_allotments, improve
from penstock.studies.targets.site import Site

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.kernels.arrays import Floats

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
PATTERNS = ROOT / ".." / "shared" / "data" / "forge" / "mn4_189_patterns.csv"
SOURCES = {"families": None, "MareNostrum": PATTERNS}
TARGETS = 20
BINS = ("0–0.2", "0.2–0.4", "0.4–0.6", "0.6–0.8", "0.8–1")
PER_BIN = 20
SEARCHED = 6  # sets of each bin that are improved
SEARCH_SECONDS = 10.0
NOISE, NOISE_SEEDS = 0.2, range(5)
GNC, GC = "greedy-non-clairvoyant", "greedy-clairvoyant"
KNOWLEDGE = {"exact": ("exact", 0.0), "shape": ("shape", 0.0), "class": ("class", 0.0)} | {
    f"error {error:g}": ("exact", error) for error in (0.2, 0.5)
}
INFORMED = ("tcpu", "best-bandwidth", "nsys")
SHARING = ("fair-share", "greedy-yield", "lookahead-greedy-yield", "greedy-com", "fcfs", "set-10", "list-fifo")
HALVES = {"load below 0.4": (0, 1), "load above 0.6": (3, 4)}


class Set(NamedTuple):
    """One set of applications: where its profiles come from, its number, and its fifth of the lowest load."""

    source: str
    number: int
    fifth: int


class Fate(NamedTuple):
    """How one allotment fared, means over its applications."""

    slowdown: float
    rho_io: float
    rho_con: float
    idle: float
    imbalance: float
    unmoved: float  # share of applications that moved nothing in the interval


Measured = dict[tuple[str, ...], Fate]
Results = list[tuple[Set, Measured]]


def main() -> None:
    """All tables, or those that are named, for every source of profiles that is there; then the pictures."""
    tables = {"pairs": pairs, "knowledge": knowledge, "sharing": sharing, "improve": improved}
    chosen = sys.argv[1:] or list(tables)
    found = {name: file for name, file in SOURCES.items() if file is None or file.exists()}
    for name in SOURCES.keys() - found.keys():
        print(f"{name}: skipped, {PATTERNS.name} is not there")
    overview = {}
    for source in found:
        sets = list(chosen_sets(source))
        print(f"\n# {source}: {len(sets)} of the first {max(one.number for one in sets) + 1} candidates")
        for title in chosen:
            begun = time.monotonic()
            results = tables[title](sets)
            print(f"({source}, {title}: {time.monotonic() - begun:.0f} s)")
            if title == "pairs":
                overview[source] = results
    if "MareNostrum" in overview:
        draw_by_load(overview["MareNostrum"])
        save_figure(profiles_figure(read_profiles(PATTERNS)), PICTURES / "profiles-marenostrum.svg")


def scenario_of(source: str, number: int) -> Scenario:
    """A candidate: 20 to 60 applications, each with a mean stress of 0.02 to 0.95 on one target."""
    draw = np.random.default_rng([number, TARGETS])
    applications = int(draw.integers(20, 61))
    given = {"applications": applications, "load": float(draw.uniform(0.02, 0.95)) * applications / TARGETS}
    file = SOURCES[source]
    return generate("targets", number, **given, **({} if file is None else {"profiles": str(file)}))


def chosen_sets(source: str) -> Iterator[Set]:
    """The first candidates, until every fifth of the lowest load has enough."""
    held = [0] * len(BINS)
    number = 0
    while min(held) < PER_BIN:
        demand = Site(scenario_of(source, number)).demand
        fifth = int(demand.load(demand.lightest) * len(BINS))
        if fifth < len(BINS) and held[fifth] < PER_BIN:
            held[fifth] += 1
            yield Set(source, number, fifth)
        number += 1


def fate(allotment: Allotment) -> Fate:
    """The figures of one allotment."""
    moved = [each for each in allotment.applications if each.rho_con is not None]
    return Fate(
        slowdown=allotment.mean_io_slowdown,  # type: ignore[arg-type]
        rho_io=fmean(each.rho_io for each in moved),
        rho_con=fmean(each.rho_con for each in moved),  # type: ignore[misc]
        idle=allotment.machine_idletime,
        imbalance=allotment.imbalance,
        unmoved=1 - len(moved) / len(allotment.applications),
    )


def in_two_cores(work: Callable[[Set], Measured], sets: Sequence[Set]) -> Results:
    """The work for every set."""
    with Pool(2) as pool:
        return list(zip(sets, pool.imap(work, sets), strict=True))


# ---- all pairs


def run_pairs(one: Set) -> Measured:
    """Every allocation with every placement."""
    runs = compare_allotments(scenario_of(one.source, one.number), seed=one.number)
    return {(run.allocation, run.placement): fate(run) for run in runs}


def pairs(sets: Sequence[Set]) -> Results:
    """Allocations as P4 compares them, with greedy-non-clairvoyant; then what placement changes."""
    results = in_two_cores(run_pairs, sets)
    for key in ("slowdown", "rho_io", "rho_con", "idle"):
        table(f"{key}, {GNC}", {name: by_bin(results, (name, GNC), key) for name in ALLOCATIONS})
    for key, compared in (("slowdown", ratio), ("idle", difference)):
        rows = {name: paired(results, (name, GNC), ("tcpu", GNC), key, compared) for name in ALLOCATIONS}
        table(f"{key} against tcpu, {compared.__name__}, {GNC}", rows)
    print_best(results)
    for placement in (GNC, "random"):
        for key, compared in (("slowdown", ratio), ("idle", difference)):
            rows = {name: paired(results, (name, placement), (name, GC), key, compared) for name in ALLOCATIONS[:-1]}
            table(f"{key}, {placement} against {GC}, {compared.__name__}", rows)
    for placement in PLACEMENTS:
        rows = {name: by_bin(results, (name, placement), "imbalance") for name in ALLOCATIONS[:-1]}
        table(f"imbalance, {placement}", rows)
    table("moved nothing", {name: by_bin(results, (name, GNC), "unmoved") for name in ALLOCATIONS})
    return results


def print_best(results: Results) -> None:
    """In how many sets of each fifth an allocation is the best, or within 1 % of it."""
    for key in ("slowdown", "idle"):
        rows = {}
        for name in ALLOCATIONS:
            near = [
                [
                    getattr(runs[name, GNC], key) <= 1.01 * best_of(runs, key)
                    for one, runs in results
                    if one.fifth == fifth
                ]
                for fifth in range(len(BINS))
            ]
            rows[name] = [f"{sum(each)}" for each in near]
        table(f"sets where {key} is within 1 % of the best, {GNC}", rows)


def best_of(runs: Measured, key: str) -> float:
    """The lowest value with P4's placement."""
    best: float = min(getattr(runs[name, GNC], key) for name in ALLOCATIONS)
    return best


# ---- what is known


def run_knowledge(one: Set) -> Measured:
    """Three allocations with what they are told."""
    scenario = scenario_of(one.source, one.number)
    return {
        (name, placement, told): fate(
            allocate(scenario, name, placement, knowledge=level, error=error, seed=one.number)
        )
        for name in INFORMED
        for placement in (GNC, GC)
        for told, (level, error) in KNOWLEDGE.items()
    }


def knowledge(sets: Sequence[Set]) -> Results:
    """What is lost against exact profiles, in per cent."""
    results = in_two_cores(run_knowledge, sets)
    for key, compared in (("slowdown", loss), ("idle", difference)):
        rows = {
            f"{name}, {placement}, {told}": paired(
                results, (name, placement, told), (name, placement, "exact"), key, compared, overall=True
            )
            for name in INFORMED
            for placement in (GNC, GC)
            for told in KNOWLEDGE
            if told != "exact"
        }
        table(f"{key} against exact, {compared.__name__}", rows, "all")
    against = {
        f"{name}, {told}": paired(
            results, (name, GNC, told), ("best-bandwidth", GNC, told), "idle", difference, overall=True
        )
        for name in ("tcpu", "nsys")
        for told in KNOWLEDGE
    }
    table("idle against best-bandwidth with the same knowledge, difference", against, "all")
    against = {
        f"tcpu, {told}": paired(
            results, ("tcpu", GNC, told), ("best-bandwidth", GNC, told), "slowdown", ratio, overall=True
        )
        for told in KNOWLEDGE
    }
    table("slowdown against best-bandwidth with the same knowledge, ratio", against, "all")
    return results


# ---- how a target is shared


def run_sharing(one: Set) -> Measured:
    """Every allocation under several sharing policies."""
    scenario = scenario_of(one.source, one.number)
    return {
        (name, policy): fate(allocate(scenario, name, GNC, sharing=policy, seed=one.number))
        for name in ALLOCATIONS
        for policy in SHARING
    }


def sharing(sets: Sequence[Set]) -> Results:
    """Allocation × sharing, at low and at high load. Medians of slowdowns: one who starves makes a mean of anything."""
    results = in_two_cores(run_sharing, sets)
    for words, fifths in HALVES.items():
        part = [runs for one, runs in results if one.fifth in fifths]
        cases = [(name, policy) for name in ALLOCATIONS for policy in SHARING]
        slow = {case: f"{median(values(part, *case)):.2f}" for case in cases}
        sharing_table(f"median slowdown, {words}, {len(part)} sets", slow)
        idle = {case: interval(values(part, *case, "idle"), "idle") for case in cases}
        sharing_table(f"idle, {words}, {len(part)} sets", idle)
        for key in ("slowdown", "idle"):
            near = {case: str(sum(near_best(runs, *case, key) for runs in part)) for case in cases}
            sharing_table(f"{key} within 5 % of the best allocation, {words}", near)
            print_against_fair_share(part, key)
    return results


def sharing_table(title: str, cells: dict[tuple[str, str], str]) -> None:
    """A row per allocation, a column per sharing policy."""
    print(f"\n| {title} |", " | ".join(SHARING), "|")
    print("|", " | ".join(["---"] * (len(SHARING) + 1)), "|")
    for name in ALLOCATIONS:
        print(f"| {name} |", " | ".join(cells[name, policy] for policy in SHARING), "|")


def print_against_fair_share(part: Sequence[Measured], key: str) -> None:
    """Tcpu under each sharing policy against tcpu under fair-share, set by set."""
    changes = [
        [(getattr(runs["tcpu", policy], key), getattr(runs["tcpu", "fair-share"], key)) for runs in part]
        for policy in SHARING
    ]
    compared = ratio if key == "slowdown" else difference
    middle = median if key == "slowdown" else fmean
    cells = [f"{middle([compared(*pair) for pair in each]):.2f}" for each in changes]
    print(f"| tcpu against fair-share, {middle.__name__} {compared.__name__} |", " | ".join(cells), "|")


def values(part: Sequence[Measured], name: str, policy: str, key: str = "slowdown") -> list[float]:
    """One figure of one allocation under one sharing policy, in all sets."""
    return [getattr(runs[name, policy], key) for runs in part]


def near_best(runs: Measured, name: str, policy: str, key: str) -> bool:
    """Whether an allocation is as good as any under this policy, or nearly."""
    best: float = min(getattr(runs[each, policy], key) for each in ALLOCATIONS)
    return bool(getattr(runs[name, policy], key) <= 1.05 * best)


# ---- local search


def run_improved(one: Set) -> Measured:
    """The plan of tcpu with greedy-clairvoyant, improved for either objective; as planned and with noise."""
    scenario = scenario_of(one.source, one.number)
    start = allocate(scenario, "tcpu", GC)
    plans = {"start": start}
    runs = {}
    for objective in ("slowdown", "idle"):
        plans[objective] = improve(scenario, start, seconds=SEARCH_SECONDS, objective=objective, seed=one.number)
        runs[objective] = plans[objective].runs
    found: Measured = {(name, "planned"): fate(plan) for name, plan in plans.items()}
    for name, plan in plans.items():
        own = {each.name: each.targets for each in plan.applications}
        for seed in NOISE_SEEDS:
            disturbed = scenario.model_copy(update={"noise": NOISE, "seed": seed})
            found[name, f"noise {seed}"] = fate(allocate(disturbed, plan=own))
    print(one, runs, file=sys.stderr)
    return found | {("tries", name): Fate(count, 0, 0, 0, 0, 0) for name, count in runs.items()}


def improved(sets: Sequence[Set]) -> Results:
    """What the search gains, and what is left of it with noise."""
    some = [one for fifth in range(len(BINS)) for one in [each for each in sets if each.fifth == fifth][:SEARCHED]]
    results = in_two_cores(run_improved, some)
    for objective in ("slowdown", "idle"):
        compared = loss if objective == "slowdown" else difference
        for key, words in (("slowdown", loss), ("idle", difference)):
            rows = {
                "as planned": paired(results, (objective, "planned"), ("start", "planned"), key, words, overall=True)
            }
            rows[f"noise {NOISE:g}"] = noisy(results, objective, key, words)
            table(f"improved for {objective}: {key}, {words.__name__} against tcpu with {GC}", rows, "all")
        start = by_bin(results, ("start", "planned"), objective)
        table(f"{objective} of the start", {compared.__name__: start})
        tries = [
            median(runs["tries", objective].slowdown for one, runs in results if one.fifth == fifth)
            for fifth in range(5)
        ]
        print("median of the tries:", tries)
    return results


def noisy(results: Results, objective: str, key: str, compared: Callable[[float, float], float]) -> list[str]:
    """What is left of the gain with other noise, the mean over its draws for every set."""
    values = [
        (
            one.fifth,
            fmean(compared(getattr(runs[objective, draw], key), getattr(runs["start", draw], key)) for draw in draws()),
        )
        for one, runs in results
    ]
    cells = [interval([value for place, value in values if place == fifth]) for fifth in range(len(BINS))]
    return [*cells, interval([value for _, value in values])]


def draws() -> list[str]:
    """The names of the disturbed runs."""
    return [f"noise {seed}" for seed in NOISE_SEEDS]


# ---- figures in tables


def ratio(value: float, base: float) -> float:
    """How many times as much."""
    return value / base


def difference(value: float, base: float) -> float:
    """In percentage points."""
    return 100 * (value - base)


def loss(value: float, base: float) -> float:
    """In per cent of the base."""
    return 100 * (value / base - 1)


def by_bin(results: Results, case: tuple[str, ...], key: str) -> list[str]:
    """Mean and interval in every fifth."""
    return [
        interval([getattr(runs[case], key) for one, runs in results if one.fifth == fifth], key)
        for fifth in range(len(BINS))
    ]


def paired(
    results: Results,
    case: tuple[str, ...],
    base: tuple[str, ...],
    key: str,
    compared: Callable[[float, float], float],
    *,
    overall: bool = False,
) -> list[str]:
    """Mean and interval, in every fifth, of a comparison made set by set."""
    values = [(one.fifth, compared(getattr(runs[case], key), getattr(runs[base], key))) for one, runs in results]
    cells = [interval([value for place, value in values if place == fifth]) for fifth in range(len(BINS))]
    return [*cells, interval([value for _, value in values])] if overall else cells


def interval(values: Sequence[float], key: str = "") -> str:
    """Mean and half of its 95 % interval; idle time in per cent."""
    scale = 100 if key in ("idle", "unmoved") else 1
    middle, half = mean_and_half(np.array(values) * scale)
    digits = 0 if abs(middle) >= 100 else 1 if abs(middle) >= 10 or scale == 100 else 2
    return f"{middle:.{digits}f} ± {half:.{digits}f}"


def mean_and_half(values: Floats) -> tuple[float, float]:
    """Mean, and half the width of its 95 % interval by Student's t."""
    if np.ptp(values) == 0:
        return float(values.mean()), 0.0
    quantile = student.ppf(0.975, values.size - 1)
    return float(values.mean()), float(quantile * values.std(ddof=1) / np.sqrt(values.size))


def table(title: str, rows: dict[str, list[str]], *more: str) -> None:
    """A table of the site, by fifths of the lowest load."""
    print(f"\n| {title} |", " | ".join((*BINS, *more)), "|")
    print("|", " | ".join(["---"] * (len(BINS) + len(more) + 1)), "|")
    for name, cells in rows.items():
        print(f"| {name} |", " | ".join(cells), "|")


# ---- pictures


def draw_by_load(results: Results) -> None:
    """Slowdown, its two parts, and idle time against tcpu's, over the lowest load; mckp is far above all of it."""
    titles = {
        "slowdown": "mean I/O slowdown",
        "rho_io": "… by the number (ρ_io)",
        "rho_con": "… by others (ρ_con)",
        "idle": "machine idle, points above tcpu",
    }
    with theme():
        figure = Figure(figsize=(10.5, 3.6), layout="constrained")
        panels = dict(zip(titles, figure.subplots(1, len(titles), sharex=True), strict=True))
        for key, axes in panels.items():
            for place, name in enumerate(ALLOCATIONS[:-1]):
                draw_line(axes, results, name, key, place)
            axes.set_title(titles[key])
            axes.set_xlabel("lowest load, load(nsys)")
            axes.set_xlim(0, 1)
            axes.set_ylim(bottom=None if key == "idle" else 0)
            axes.grid(axis="y", color=FAINT, linewidth=0.6)
            axes.set_axisbelow(True)
        for key in ("rho_io", "rho_con"):
            panels[key].set_ylim(0, 5.4)
        handles, names = panels["idle"].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower left", ncols=len(names))
        save_figure(figure, PICTURES / "targets-by-load.svg")


def draw_line(axes: Axes, results: Results, name: str, key: str, place: int) -> None:
    """One allocation over the load: means with their intervals, side by side so that none hides another."""
    points = []
    for fifth in range(len(BINS)):
        part = [runs for one, runs in results if one.fifth == fifth]
        found = np.array([getattr(runs[name, GNC], key) for runs in part])
        if key == "idle":
            found = 100 * (found - np.array([runs["tcpu", GNC].idle for runs in part]))
        points.append(mean_and_half(found))
    middles, halves = np.array(points).T
    load_at = (np.arange(len(BINS)) + 0.5) / len(BINS) + 0.012 * (place - 2)
    axes.errorbar(load_at, middles, halves, color=COLOURS[place], marker="o", markersize=3, elinewidth=0.8, label=name)


if __name__ == "__main__":
    main()
