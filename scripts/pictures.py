"""Draw every picture of the site with penstock's own plotting: `python scripts/pictures.py`."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from penstock import Result, compare, load, simulate
from penstock.policies.sharing import NAMES, find
from penstock.policies.sharing.groups import group_of
from penstock.report.parts.theme import COLOURS, INK, theme
from penstock.report.plots import comparison_figure, run_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ORDERS = [name for name in NAMES if name == "best-effort" or group_of(name) in ("orders", "turns")]
SHARING = [name for name in NAMES if name not in ORDERS]
LARGEST_SVG = 150_000  # bytes; what is larger is kept as PNG
WIDEST = 8.4  # inches: 806 pixels, the width of a page's text, so that no letter is shown smaller than it was drawn


def main() -> None:
    """One picture per policy, those of a kind on the same jobs, and the demo's comparison."""
    for result in compare(load(EXAMPLES / "four-jobs.yaml"), SHARING, timeline=True):
        _save(run_figure(result), result.sharing)
    orders = compare(load(EXAMPLES / "turn-taking.yaml"), ORDERS, timeline=True)
    for result in orders:
        _save(_order_figure(result, max(each.end for each in orders)), result.sharing)
    _save(comparison_figure(_demo()), "comparison")
    _save(_charge_figure(), "charge")
    _save_packs_and_targets()
    _save_machine()
    _save_advice()


def _save_packs_and_targets() -> None:
    """The bundled night, in packs and backfilled; and who has which of the scratch targets."""
    from penstock import allocate, pack  # noqa: PLC0415
    from penstock.report.packs.plot import packing_figure  # noqa: PLC0415
    from penstock.report.targets.plot import allotment_figure  # noqa: PLC0415

    night = load(EXAMPLES / "pack-night.yaml")
    _save(packing_figure(pack(night)), "packs-night")
    _save(packing_figure(pack(night, backfill=True)), "packs-backfill")
    _save(allotment_figure(allocate(load(EXAMPLES / "scratch-targets.yaml"))), "targets")


def _save_machine() -> None:
    """Where the bytes are behind six I/O nodes."""
    _save(run_figure(simulate(load(EXAMPLES / "io-nodes-nvme.yaml"), timeline=True)), "whole-machine")


def _save_advice() -> None:
    """The week that the guide to advice is about."""
    from penstock.advise import advise  # noqa: PLC0415
    from penstock.report.advice.plot import demand_figure, group_figure  # noqa: PLC0415
    from penstock.traces import Options, import_table  # noqa: PLC0415

    traces, options = EXAMPLES / "traces", Options(bandwidth=20e9, node_bandwidth=1e9)
    found = import_table(traces / "week.csv", options, slurm=traces / "week-sacct.txt")
    advice = advise(found, options, buffer=False)
    _save(demand_figure(advice), "advice-demand")
    _save(group_figure(advice.tried, marked=True), "advice-policies")


def _order_figure(result: Result, longest: float) -> Figure:
    """A run on the time axis that all orders share, so that who is done earlier ends further left."""
    figure = run_figure(result)
    upper, lower = figure.axes
    with theme():
        upper.set_title(f"{result.sharing}: makespan {result.end:.0f} s, max stretch {result.max_stretch:.2f}")
    lower.set_xlim(0, longest)
    lower.set_xticks(range(0, int(longest), 25))
    lower.set_xlabel("time (s)")
    lower.xaxis.set_major_formatter("{x:.0f}")
    return figure


def _charge_figure() -> Figure:
    """What one member uses and what it is charged with, through all that can happen to a grant."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    charged = [(0, 0), (1, 40), (5.8, 15), (9, 30), (20.32, 7.5), (24, 7.5)]
    used = [(0, 0), (1.4, 40), (5.4, 15), (9.4, 30), (20, 7.5), (24, 7.5)]
    words = (
        (1, 40, "40 is charged,\nthen sent"),
        (5, 40, "15 is sent:\nnothing is free yet"),
        (5.8, 15, "confirmed:\n25 are free"),
        (13, 30, "the link is lost;\nthe last beat left at 12 s"),
        (20, 30, "12 + 8 s: the lease is over,\nby the member's clock;\na little later for the controller"),
    )
    with theme():
        figure = Figure(figsize=(8, 3.2), layout="constrained")
        axes = figure.subplots()
        axes.step(*zip(*charged, strict=True), where="post", color=INK, linewidth=1.5)
        axes.fill_between(*zip(*used, strict=True), step="post", color=COLOURS[0], alpha=0.35, linewidth=0)
        line = {"arrowstyle": "-", "color": INK}
        for x, y, text in words:
            axes.annotate(text, (x, y), (x + 0.15, y + 3), fontsize=7.5, va="bottom", arrowprops=line)
        axes.text(22.2, 9, "fallback", fontsize=7.5)
        axes.text(2.2, 18, "in use", fontsize=9, color=COLOURS[0])
        axes.text(9.9, 31, "charged", fontsize=9)
        axes.set(xlim=(0, 26), ylim=(0, 58), xlabel="time (s)", ylabel="rate (MB/s)")
    return figure


def _demo() -> Sequence[Result]:
    with as_file(files("penstock") / "workloads" / "data" / "demo.yaml") as scenario:
        return compare(load(scenario), [name for name in NAMES if find(name).source.startswith("P1")])


def for_a_page(figure: Figure) -> Figure:
    """The figure as a page shows it: narrower than in a report, with the same letters."""
    if figure.get_figwidth() > WIDEST:
        figure.set_figwidth(WIDEST)
    return figure


def _save(figure: Figure, name: str) -> None:
    for_a_page(figure)
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "draft.svg"
        save_figure(figure, draft)
        small = draft.stat().st_size <= LARGEST_SVG
        if small:
            (PICTURES / f"{name}.svg").write_bytes(draft.read_bytes())
    if not small:
        save_figure(figure, PICTURES / f"{name}.png")
    print(f"{name}.{'svg' if small else 'png'}")


if __name__ == "__main__":
    main()
