"""Measure the orders of P2 and P3 as the site reports them: `python scripts/measure/orders.py`, some minutes.

Prints, as rows of the site's tables, geometric means with their standard error, and draws pictures/orders.svg:

- `chains`, the general case of P2 §5.3: makespan against best effort by I/O weight, without and with noise,
- `uniform`, P2's machine learning case: makespan against hierarchical round-robin,
- `tucan`, P3 §6.1: stretch and makespan of the lists against list-fifo.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from penstock import compare, generate
from penstock.policies.sharing import NAMES
from penstock.report.parts.theme import COLOURS, FAINT, INK, theme
from penstock.report.plots import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from penstock.kernels.arrays import Floats

SEEDS = range(1000)
NOISES = (0.0, 0.2, 0.5)
ORDERS = NAMES[NAMES.index("best-effort") :]
LISTS = tuple(name for name in ORDERS if name.startswith("list-"))
TURNS = tuple(name for name in ORDERS if name not in ("best-effort", *LISTS))
WEIGHTS = {"W < 1": (0, 1), "1–2": (1, 2), "2–3": (2, 3), "3–4": (3, 4), "> 4": (4, 99), "all": (0, 99)}
POINTS = 12  # of a line, each over as many instances
GAP = 0.0085  # between the names of two lines, in units of the axis
BATCHES = (0.02, 0.1, 1.0)
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "orders.svg"


class Runs(NamedTuple):
    """Many instances under several orders: one row per instance, one column per order, the baseline's in front."""

    weight: Floats
    makespan: Floats
    stretch: Floats


def main() -> None:
    """All tables, and the picture."""
    general = {noise: measured("chains", ORDERS, noise) for noise in NOISES}
    counts = [int(np.sum(chosen)) for chosen in by_weight(general[0.0])]
    print("instances", dict(zip(WEIGHTS, counts, strict=True)))
    for noise, runs in general.items():
        print(f"\nchains, noise {noise:g}: makespan / best-effort by W; max stretch / best-effort; done first, worst")
        earliest = runs.makespan.min(axis=1) * (1 + 1e-9)
        for place, name in enumerate(ORDERS):
            cells = [ratio(runs.makespan[chosen], place) for chosen in by_weight(runs)]
            first = np.mean(runs.makespan[:, place] <= earliest)
            print(row(name, [*cells, ratio(runs.stretch, place)]), f"{first:.1%}", worst(runs, place))
    draw(general[0.0])
    print_uniform()
    print_tucan()


def measured(kind: str, orders: Sequence[str], noise: float) -> Runs:
    """Every seed of a generator under every order."""
    results = [compare(generate(kind, seed, noise=noise), orders) for seed in SEEDS]
    return Runs(
        np.array([runs[0].io_weight for runs in results]),
        np.array([[run.makespan for run in runs] for runs in results], dtype=np.float64),
        np.array([[run.max_stretch for run in runs] for runs in results], dtype=np.float64),
    )


def by_weight(runs: Runs) -> Iterator[NDArray[np.bool_]]:
    """Which instances are in each class of I/O weight."""
    return ((low <= runs.weight) & (runs.weight < high) for low, high in WEIGHTS.values())


def ratio(values: Floats, place: int) -> tuple[float, float]:
    """Geometric mean of a column against the first, and its standard error."""
    logs = np.log(values[:, place] / values[:, 0])
    mean = float(np.exp(logs.mean()))
    return mean, mean * float(logs.std(ddof=1)) / len(logs) ** 0.5


def worst(runs: Runs, place: int) -> str:
    """Of all instances, the longest makespan against the baseline."""
    return f"{np.max(runs.makespan[:, place] / runs.makespan[:, 0]):.3f}"


def row(name: str, cells: Sequence[tuple[float, float]]) -> str:
    """One line of a table."""
    return f"| {name} | " + " | ".join(f"{mean:.3f} ± {error:.3f}" for mean, error in cells) + " |"


def print_uniform() -> None:
    """Print how much longer jobs of one rhythm take than in the optimal order; worst instance last."""
    orders = ("hierarchical-round-robin", "list-fifo", "best-effort", "list-most-remaining", "periodic-fifo")
    for noise in (0.0, 0.2):
        runs = measured("uniform", orders, noise)
        print(f"\nuniform, noise {noise:g}: makespan / hierarchical-round-robin by W; worst instance")
        for place, name in enumerate(orders):
            cells = [ratio(runs.makespan[chosen], place) for chosen in by_weight(runs)]
            print(row(name, cells), worst(runs, place))


def print_tucan() -> None:
    """Print the highest and lowest stretch, and the makespan against list-fifo; nothing is drawn, so nothing varies."""
    for batches in BATCHES:
        print(f"\ntucan, {batches:g} batches: max stretch, min stretch, makespan / list-fifo")
        results = compare(generate("tucan", batches=batches), ORDERS)
        fifo = results[ORDERS.index("list-fifo")].end
        for result in results:
            stretch = np.array([job.stretch for job in result.applications], dtype=np.float64)
            print(f"| {result.sharing} | {stretch.max():.3f} | {stretch.min():.3f} | {result.end / fifo:.3f} |")


def draw(runs: Runs) -> None:
    """Draw makespan against best effort over I/O weight: lists on the left, orders that wait on the right."""
    with theme():
        figure = Figure(figsize=(11.0, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        draw_lines(left, runs, LISTS, "Lists")
        draw_lines(right, runs, TURNS, "Orders that wait for a job's turn")
        left.set_ylabel("makespan / best-effort")
        save_figure(figure, PICTURE)


def draw_lines(axes: Axes, runs: Runs, names: Sequence[str], title: str) -> None:
    """One line per order, each point the mean of equally many instances of similar weight."""
    groups = np.array_split(np.argsort(runs.weight), POINTS)
    weight = [runs.weight[group].mean() for group in groups]
    axes.axhline(1.0, color=INK, linewidth=1, linestyle="--")
    axes.annotate("best-effort", (0, 1.0), xytext=(4, 3), textcoords="offset points", fontsize=8)
    lines = [[ratio(runs.makespan[group], ORDERS.index(name))[0] for group in groups] for name in names]
    heights = spread([line[-1] for line in lines], GAP)
    for line, height, name, colour in zip(lines, heights, names, COLOURS, strict=False):
        axes.plot(weight, line, color=colour, linewidth=1.6, marker="o", markersize=3)
        axes.annotate(
            name,
            (weight[-1], line[-1]),
            xytext=(weight[-1] + 0.35, height),
            fontsize=8,
            va="center",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 1, "shrinkB": 2, "relpos": (0, 0.5)},
        )
    axes.set_xlim(0, weight[-1] + 2.4)
    axes.set_title(title)
    axes.set_xlabel("I/O weight W")
    axes.grid(color=FAINT, linewidth=0.6)


def spread(heights: Sequence[float], gap: float) -> Floats:
    """Heights of names near their lines' ends, pushed apart until none covers another."""
    placed = np.array(heights, dtype=np.float64)
    for _ in range(200):
        for lower, upper in pairwise(np.argsort(heights, kind="stable")):
            push = max(0.0, gap - (placed[upper] - placed[lower])) / 2
            placed[lower] -= push
            placed[upper] += push
    return placed


if __name__ == "__main__":
    main()
