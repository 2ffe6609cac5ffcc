"""The growth of decisions as a picture: time against active applications, both logarithmic, one line per policy."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.growth import Growth
from penstock.report.parts.theme import FAINT, INK, look, theme

_LABEL_GAP = 0.05  # of the axis: what two lines of text need


def draw_growth(growth: Growth, files: list[Path]) -> None:
    """Write the plot to each file, in the format its name asks for."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import, and only needed here

    with theme():
        figure = Figure(figsize=(11.0, 5.2), layout="constrained")
        panels = figure.subplots(1, len(growth.seconds), sharey=True)
        for panel, (cap, lines) in zip(panels, growth.seconds.items(), strict=True):
            _draw_lines(panel, growth.sizes, lines)
            panel.set_title(f"Everyone could use {cap}")
        _draw_slopes(panels, growth.sizes)
        # Where names go depends on the axes, so they come last.
        for panel, lines in zip(panels, growth.seconds.values(), strict=True):
            _label_ends(panel, lines)
        panels[0].set_ylabel("time of one decision")
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(file, dpi=160)


def time_text(seconds: float) -> str:
    """A time with its unit, three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _draw_lines(panel: Any, sizes: list[int], lines: dict[str, list[float]]) -> None:
    for number, seconds in enumerate(lines.values()):
        colour, marker = look(number)
        panel.plot(sizes, seconds, color=colour, marker=marker, markevery=(1, 2), markersize=3.5, linewidth=1.6)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
    panel.set_xlabel("active applications")
    panel.minorticks_off()
    panel.yaxis.set_major_formatter(lambda seconds, _: time_text(seconds))
    panel.grid(color=FAINT, linewidth=0.5)


def _draw_slopes(panels: Any, sizes: list[int]) -> None:
    """Two guides in the empty corner above the lines: proportional to n, and to n²."""
    lowest, highest = panels[0].get_ylim()
    reach = np.array(sizes[:4], dtype=float)
    for panel in panels:
        for power, name in ((1, "~ n"), (2, "~ n²")):
            guide = highest / 4e2 * (reach / reach[0]) ** power
            panel.plot(reach, guide, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.6)
            panel.annotate(name, (reach[-1], guide[-1]), (3, 0), textcoords="offset points", va="center", fontsize=8)
        panel.set_ylim(lowest, highest)


def _label_ends(panel: Any, lines: dict[str, list[float]]) -> None:
    """Names right of the ends of their lines, moved apart where they would overlap."""
    lowest, highest = np.log(panel.get_ylim())
    ends = [seconds[-1] for seconds in lines.values()]
    heights = _apart((np.log(ends) - lowest) / (highest - lowest))
    for number, (name, end, height) in enumerate(zip(lines, ends, heights, strict=True)):
        place = {"xycoords": "axes fraction", "va": "center", "annotation_clip": False}
        panel.annotate(f"{name}  {time_text(end)}", (1.02, height), color=look(number)[0], fontsize=8, **place)


def _apart(heights: np.ndarray) -> np.ndarray:
    """The heights, pushed apart from the lowest up until no two are closer than a line of text; down from the top."""
    placed: np.ndarray = np.minimum(heights, 1.0)
    order = np.argsort(heights)
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + _LABEL_GAP)
    placed[order[-1]] = min(placed[order[-1]], 1.0)
    for after, before in pairwise(order[::-1]):
        placed[before] = min(placed[before], placed[after] - _LABEL_GAP)
    return placed
