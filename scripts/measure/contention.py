"""Measure a link that jobs contend for, as the site reports it: prints the tables and draws the picture.

`python scripts/measure/contention.py [RESULTS.json]`: with a file of `python -m tests.live.link --json FILE` it prints
and draws; without one, it measures first, which needs root, iproute2 and nginx, and takes 17 minutes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from penstock.report.parts.theme import COLOURS, FAINT, INK, theme
from penstock.report.plots import save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "pictures" / "contention.svg"
MEGABYTES, RUNS = 50, 2


def main() -> None:
    """Results from a file, or new ones."""
    sys.path.insert(0, str(ROOT))
    from tests.live.link.__main__ import measure, tables  # noqa: PLC0415 - from the checkout, not from the package

    results = json.loads(Path(sys.argv[1]).read_text()) if len(sys.argv) > 1 else measure(MEGABYTES, RUNS)
    print("\n".join(tables(results)))
    with theme():
        save_figure(drawn(results["runs"]), PICTURE)


def drawn(runs: list[dict[str, Any]]) -> Figure:
    """For each policy the stretch of every application: a line for the prediction, a dot for each run."""
    figure = Figure(figsize=(7.6, 3.4), layout="constrained")
    axes: Axes = figure.add_subplot()
    policies = list(dict.fromkeys(run["policy"] for run in runs))
    for run in runs:
        draw_run(axes, run, policies.index(run["policy"]))
    axes.set_xticks(range(len(policies)), policies)
    axes.set_ylabel("stretch")
    axes.set_ylim(bottom=1.0)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.plot([], [], color=INK, linewidth=1.5, label="simulator")
    handles, names = axes.get_legend_handles_labels()
    firsts = dict(zip(reversed(names), reversed(handles), strict=True))
    shown = sorted(firsts)
    figure.legend([firsts[name] for name in shown], shown, loc="outside lower left", ncols=len(shown))
    return figure


def draw_run(axes: Axes, run: dict[str, Any], place: int) -> None:
    """The applications of one run, side by side."""
    names = list(run["stretch"])
    for number, name in enumerate(names):
        x = place + 0.15 * (number - (len(names) - 1) / 2)
        axes.hlines(run["predicted"][name], x - 0.06, x + 0.06, color=INK, linewidth=1.5)
        axes.plot(x, run["stretch"][name], "o", color=COLOURS[number], markersize=4, alpha=0.8, label=name)


if __name__ == "__main__":
    main()
