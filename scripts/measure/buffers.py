"""Measure burst buffers as the site reports them: `python scripts/measure/buffers.py` prints tables and draws pictures.

P5's workload (§7.1): 30 sets of applications for each of three sites, behind buffers of a quarter, a half, three
quarters and all of the smallest one with static parts. Names of tables as arguments (strategies, sharing, fresh,
sizes, example, program, pictures) measure those only; `strategies` takes most of the time.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from scipy.stats import t as student

from penstock import Scenario, generate, load, sharing
from penstock.cli.group import app
from penstock.policies.buffering import NAMES
from penstock.report.parts.theme import COLOURS, FAINT, OTHERS, theme
from penstock.report.plots import save_figure
from penstock.studies.buffers import buffer
from penstock.studies.buffers.bound import alone_stretch
from penstock.studies.buffers.split import Split, split
from penstock.studies.sizing import size_buffer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.kernels.arrays import Floats

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SITES = {"MTBF 10, load 0.5": (10, 0.5), "MTBF 10, load 0.8": (10, 0.8), "MTBF 50, load 0.8": (50, 0.8)}
SEEDS = range(1, 31)
FRESH = range(101, 131)  # had no part in what the page recommends
PARTS = (0.25, 0.5, 0.75, 1.0)
LARGER = (1.5, 3.0)  # P5 looks this far
DIVISIONS = {"static parts": ("static", 0.0), "half common": ("static", 0.5), "all common": ("dynamic", None)}
POLICIES = ("fair-share", "fcfs", "greedy-yield", "greedy-com")
STRATEGIES = (*NAMES, "greedy-yield")  # and the best of P1's policies, which knows nothing of the buffer
BOUND = "bound"
G = "static parts, fair"
EXAMPLE = (
    "generate checkpoints --seed 4 --set applications=8 mtbf=50 load=0.8 walltime=literature end=compute -o site.yaml"
)
DRAWN = {  # the commands of the page
    "buffers-curve.svg": "size-buffer site.yaml --curve --plot",
    "buffers-split.png": "buffer site.yaml --capacity 100% --strategy planned --plot",
    "buffers-bursts.png": "size-buffer site.yaml --explain --plot",
    "buffers-half.png": "buffer site.yaml --capacity 50% --plot",
    "buffers-sweep.svg": "buffer site.yaml --sweep --compare --plot",
}
JOINT = (3_000, 6_000)  # events of the linear programs that are timed


class Fate(NamedTuple):
    """How a set of applications fared."""

    max: float
    mean: float


class Sizes(NamedTuple):
    """The smallest buffers of a set, bytes."""

    static: float
    dynamic: float
    isolated: float
    printed: float  # static, with the wall times that P5 prints
    events: int
    seconds: float
    alone: float  # the largest stretch behind half of it, each application with all to itself
    who: str  # whose


T = TypeVar("T")
Case = tuple[str, float]  # who divides what, and the part of the smallest buffer
Measured = dict[Case, Fate]
Results = dict[str, list[Measured]]  # of each site, set by set


def main() -> None:
    """All tables, or those that are named."""
    tables = {
        "strategies": strategies,
        "sharing": policies,
        "fresh": fresh,
        "sizes": sizes,
        "example": example,
        "program": program,
        "pictures": pictures,
    }
    for name in sys.argv[1:] or tables:
        begun = time.monotonic()
        tables[name]()
        print(f"({name}: {time.monotonic() - begun:.0f} s)", flush=True)


def workload(site: str, seed: int, walltime: str = "literature") -> Scenario:
    """A set of 30 applications."""
    mtbf, load_ = SITES[site]
    return generate("checkpoints", seed, mtbf=mtbf, load=load_, walltime=walltime, end="compute")


def in_two_cores(work: Callable[[tuple[str, int]], T], seeds: Sequence[int] = SEEDS) -> dict[str, list[T]]:
    """The work for every set of every site."""
    sets = [(site, seed) for site in SITES for seed in seeds]
    with Pool(2) as pool:
        done = pool.map(work, sets, chunksize=1)
    return {site: [each for (where, _), each in zip(sets, done, strict=True) if where == site] for site in SITES}


def divided(scenario: Scenario) -> tuple[float, dict[str, Split]]:
    """The smallest buffer with static parts, and all ways to divide a buffer."""
    splits = {name: split(scenario, *how) for name, how in DIVISIONS.items()}
    return splits["static parts"].size, splits


# ---- strategies


def chosen(name: str) -> str | sharing.Sharing:
    """A strategy by name, or one of P1's policies."""
    return name if name in NAMES else sharing.find(name)


def run_strategies(one: tuple[str, int]) -> Measured:
    """Every strategy with every division and every part."""
    scenario = workload(*one)
    size, splits = divided(scenario)
    found: Measured = {}
    for name, shared in splits.items():
        for strategy in STRATEGIES:
            larger = LARGER if strategy == "fair" else ()
            for part in (*PARTS, *larger):
                run = buffer(scenario, part * size, strategy=chosen(strategy), split=shared)
                found[f"{name}, {strategy}", part] = Fate(run.max_stretch, run.mean_stretch)
                found[BOUND, part] = Fate(run.bound_max_stretch, run.bound_mean_stretch)
    return found


def strategies() -> None:
    """Stretches, what is saved of G's, how often, and the picture of it."""
    results = in_two_cores(run_strategies)
    rows = [f"{name}, {strategy}" for name in DIVISIONS for strategy in STRATEGIES]
    for site, sets in results.items():
        for key in Fate._fields:
            print(f"\n{site}: {key} stretch")
            table(PARTS, {row: [level(sets, (row, part), key) for part in PARTS] for row in [*rows, BOUND]})
        for key in Fate._fields:
            print(f"\n{site}: {key} stretch, points (% of run time without contention) below G's, paired")
            table(PARTS, {row: [saved(sets, (row, part), (G, part), key) for part in PARTS] for row in rows[1:]})
        for name, other in (("all common", "planned"), ("all common", "earliest-burst"), ("half common", "planned")):
            ours, theirs = f"{name}, {other}", f"{name}, greedy-yield"
            print(f"\n{site}: {theirs}, points below {other}:", end=" ")
            print({part: saved(sets, (theirs, part), (ours, part), "max") for part in PARTS})
        print(f"\n{site}: sets (of {len(sets)}) in which the largest stretch is below G's")
        table(PARTS, {row: [str(wins(sets, (row, part), (G, part))) for part in PARTS] for row in rows[1:]})
        for name in DIVISIONS:
            fair = f"{name}, fair"
            print(f"{fair}: max", {part: level(sets, (fair, part), "max") for part in (1.0, *LARGER)})
        for name in DIVISIONS:
            largest = [found[f"{name}, planned", 1.0].max for found in sets]
            off = sum(value > 1.0 + 1e-9 for value in largest)
            print(f"{name}, planned at S_opt: 1 + {max(largest) - 1.0:.1e} at most, above 1 in {off} sets")
    draw_found(results)


def wins(sets: Sequence[Measured], case: Case, base: Case) -> int:
    """In how many sets the largest stretch is smaller, by more than rounding."""
    return sum(found[case].max < found[base].max - 1e-6 for found in sets)


# ---- sharing policies behind the buffer


def run_policies(one: tuple[str, int]) -> Measured:
    """Policies that know nothing of the buffer, behind half of the smallest one; and G."""
    scenario = workload(*one)
    size, splits = divided(scenario)
    found: Measured = {}
    for name, shared in splits.items():
        for policy in ("fair", *POLICIES):
            run = buffer(scenario, 0.5 * size, strategy=chosen(policy), split=shared)
            found[f"{name}, {policy}", 0.5] = Fate(run.max_stretch, run.mean_stretch)
    return found


def policies() -> None:
    """P1's policies behind half of the smallest buffer."""
    results = in_two_cores(run_policies)
    for key in Fate._fields:
        print(f"\n{key} stretch behind half of the smallest buffer")
        rows = [f"{name}, {policy}" for name in DIVISIONS for policy in ("fair", *POLICIES)]
        table(SITES, {row: [level(sets, (row, 0.5), key) for sets in results.values()] for row in rows})
        print(f"\n{key} stretch, points below fair's with the same parts, paired")
        table(
            SITES,
            {
                f"{name}, {policy}": [
                    saved(sets, (f"{name}, {policy}", 0.5), (f"{name}, fair", 0.5), key) for sets in results.values()
                ]
                for name in DIVISIONS
                for policy in POLICIES
            },
        )


def run_fresh(one: tuple[str, int]) -> Measured:
    """What the page recommends, and what it is held against, behind half of the smallest buffer."""
    scenario = workload(*one)
    size, splits = divided(scenario)
    found: Measured = {}
    for name, names in (("static parts", ("fair", "earliest-burst")), ("all common", (*STRATEGIES, "fcfs"))):
        for strategy in names:
            run = buffer(scenario, 0.5 * size, strategy=chosen(strategy), split=splits[name])
            found[f"{name}, {strategy}", 0.5] = Fate(run.max_stretch, run.mean_stretch)
    return found


def fresh() -> None:
    """The recommendations on sets that had no part in them."""
    results = in_two_cores(run_fresh, FRESH)
    print("\nmax stretch on fresh sets")
    rows = [row for row, _ in results[next(iter(SITES))][0]]
    table(SITES, {row: [level(sets, (row, 0.5), "max") for sets in results.values()] for row in rows})
    print("\npoints above all common, greedy-yield, paired")
    best = "all common, greedy-yield", 0.5
    table(SITES, {row: [saved(sets, best, (row, 0.5), "max") for sets in results.values()] for row in rows})


# ---- sizes


def run_sizes(one: tuple[str, int]) -> Sizes:
    """The smallest buffers."""
    scenario = workload(*one)
    static, dynamic = size_buffer(scenario, "static"), size_buffer(scenario, "dynamic")
    printed = size_buffer(workload(*one, walltime="printed"), "static").size
    isolated = size_buffer(scenario, "isolated").size
    alone = alone_stretch(scenario, static.traffic, 0.5 * static.size)
    who = scenario.applications[int(alone.argmax())].name
    return Sizes(static.size, dynamic.size, isolated, printed, static.events, static.seconds, float(alone.max()), who)


def sizes() -> None:
    """How large, how much larger with static parts, and with the other wall times."""
    for site, sets in in_two_cores(run_sizes).items():
        print(f"\n{site}: events {min(each.events for each in sets):,} to {max(each.events for each in sets):,}")
        print(f"seconds for static parts: median {np.median([each.seconds for each in sets]):.2f}, ", end="")
        print(f"at most {max(each.seconds for each in sets):.2f}")
        print("static, PB:", interval([each.static / 1e15 for each in sets]))
        ratios = [each.static / each.dynamic for each in sets]
        print(f"static / dynamic: {interval(ratios)}, {min(ratios):.2f} to {max(ratios):.2f}")
        equal = sum(ratio < 1.001 for ratio in ratios)
        single = sum(each.static < 1.001 * each.isolated for each in sets)
        print(f"static and dynamic alike in {equal} sets; one application alone needs all of it in {single}")
        held_up = [each.who.partition("-")[0] for each in sets if each.alone > 1.001]
        print(f"behind half of it somebody waits with all to itself in {len(held_up)} sets:", Counter(held_up))
        other = [each.printed / each.static for each in sets]
        print(f"printed / literature: {interval(other)}, {min(other):.2f} to {max(other):.2f}")


# ---- single figures of the page


def example() -> None:
    """The site of the page, and the first set at MTBF 50 and load 0.8."""
    with tempfile.TemporaryDirectory() as folder:
        penstock(EXAMPLE, folder)
        scenario = load(Path(folder) / "site.yaml")
    size, splits = show_half("example", scenario)
    show_half("MTBF 50, load 0.8, seed 1", workload("MTBF 50, load 0.8", 1))
    run = buffer(scenario, 3.0 * size, split=splits["static parts"])
    worst = run.names[run.stretch.index(run.max_stretch)]
    own = dict(zip(run.names, run.shares, strict=True))[worst]
    print(f"G at 3 × S_opt: {worst} has {run.max_stretch:.3f}, own part {own / 1e12:.1f} TB")
    both = load(ROOT / "examples" / "burst-buffer.yaml")
    parts = split(both, "static")
    for strategy in NAMES:
        run = buffer(both, parts.size, strategy=strategy, split=parts)
        print(f"reads and writes at S_opt, {strategy}: {run.max_stretch:.3f}, bound {run.bound_max_stretch:.3f}")


def show_half(title: str, scenario: Scenario) -> tuple[float, dict[str, Split]]:
    """What half of the smallest buffer gives."""
    size, splits = divided(scenario)
    print(f"\n{title}: {size / 1e15:.3f} PB, dynamic {splits['all common'].size / 1e15:.3f} PB")
    for name, shared in splits.items():
        for strategy in STRATEGIES:
            run = buffer(scenario, 0.5 * size, strategy=chosen(strategy), split=shared)
            print(f"half, {name}, {strategy}: {run.max_stretch:.3f}, {run.mean_stretch:.3f}")
    return size, splits


# ---- the linear program of reads and writes under a joint limit


def reading_and_writing(events: int) -> Scenario:
    """Ten applications that read, compute and write, behind one limit for both."""
    draw = np.random.default_rng(1)
    rounds = events // (10 * 4)
    jobs = []
    for index in range(10):
        phases = []
        for _ in range(rounds):
            read, compute, write = draw.uniform(1, 3), draw.uniform(60, 180), draw.uniform(4, 12)
            phases += [
                {"read": f"{read} TB"},
                {"compute": compute * 10},
                {"write": f"{write} TB"},
                {"compute": compute},
            ]
        jobs.append({"name": f"job-{index}", "bandwidth": "200 GB/s", "phases": phases})
    return Scenario.from_document({"version": 1, "platform": {"bandwidth": "120 GB/s"}, "applications": jobs})


def program() -> None:
    """How long the linear programs take."""
    for events in JOINT:
        scenario = reading_and_writing(events)
        for partition in ("dynamic", "static"):
            found = size_buffer(scenario, partition)
            gap = 1.0 - found.proof.size / found.size
            print(
                f"{partition}, {found.method}, {found.events:,} events: {found.seconds:.1f} s, "
                f"{found.size / 1e12:.3f} TB, unproved {gap:.1e}",
                flush=True,
            )


# ---- figures in tables


def level(sets: Sequence[Measured], case: Case, key: str) -> str:
    """Mean and half of its interval."""
    return interval([getattr(found[case], key) for found in sets])


def saved(sets: Sequence[Measured], case: Case, base: Case, key: str) -> str:
    """How many points of stretch fewer than the base, set by set."""
    return interval([100.0 * (getattr(found[base], key) - getattr(found[case], key)) for found in sets], 1)


def interval(values: Sequence[float], digits: int = 3) -> str:
    """Mean and half of its 95 % interval."""
    middle, half = mean_and_half(np.array(values))
    return f"{middle:.{digits}f} ± {half:.{digits}f}".replace("-", "−")


def mean_and_half(values: Floats) -> tuple[float, float]:
    """Mean, and half the width of its 95 % interval by Student's t."""
    quantile = student.ppf(0.975, values.size - 1)
    return float(values.mean()), float(quantile * values.std(ddof=1) / np.sqrt(values.size))


def table(headings: Iterable[object], rows: dict[str, list[str]]) -> None:
    """A table of the site."""
    columns = [str(heading) for heading in headings]
    print("| |", " | ".join(columns), "|")
    print("|", " | ".join(["---"] * (len(columns) + 1)), "|")
    for name, cells in rows.items():
        print(f"| {name} |", " | ".join(cells), "|")


# ---- pictures


def penstock(command: str, folder: str) -> None:
    """A command as on the page, without what it prints."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        app(command.split(), standalone_mode=False)


def pictures() -> None:
    """What the commands of the page draw; dense ones as PNG, in as few colours as they have."""
    with tempfile.TemporaryDirectory() as folder:
        penstock(EXAMPLE, folder)
        for name, command in DRAWN.items():
            penstock(f"{command} {name}", folder)
            file = Path(folder) / name
            if file.suffix == ".png":
                Image.open(file).convert("RGB").quantize(256).save(file, optimize=True)
            (PICTURES / name).write_bytes(file.read_bytes())
            print(name, os.path.getsize(PICTURES / name))


def draw_found(results: Results) -> None:
    """Largest stretch against the part of the smallest buffer, for each site."""
    lines = (G, "static parts, earliest-burst", "half common, fair", "all common, fair", "all common, greedy-yield")
    with theme():
        figure = Figure(figsize=(10.5, 3.6), layout="constrained")
        for axes, (site, sets) in zip(figure.subplots(1, len(results), sharey=True), results.items(), strict=True):
            for place, row in enumerate(lines):
                draw_line(axes, sets, row, COLOURS[place], 0.008 * (place - 2))
            draw_line(axes, sets, BOUND, OTHERS, 0.0)
            axes.set_title(site)
            axes.set_xlabel("capacity, in S_opt with static parts")
            axes.set_xticks(PARTS)
            axes.grid(axis="y", color=FAINT, linewidth=0.6)
            axes.set_axisbelow(True)
        figure.axes[0].set_ylabel("largest stretch")
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower left", ncols=len(names))
        save_figure(figure, PICTURES / "buffers-found.svg")


def draw_line(axes: Axes, sets: Sequence[Measured], row: str, colour: str, aside: float) -> None:
    """Means with their intervals, side by side so that none hides another."""
    middles, halves = np.array([mean_and_half(np.array([found[row, part].max for found in sets])) for part in PARTS]).T
    name = "no strategy is below" if row == BOUND else row
    axes.errorbar(
        np.array(PARTS) + aside, middles, halves, color=colour, marker="o", markersize=3, elinewidth=0.8, label=name
    )


if __name__ == "__main__":
    main()
