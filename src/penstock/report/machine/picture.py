"""The picture of a whole machine: where bytes are, from applications to targets, and what is the bottleneck when.

Above, one row per stage that bytes pass, rates to one scale: what applications move, what the buffer holds, what goes
through I/O nodes and onto targets. So a buffer is seen to flatten the peaks of the first row. Below, how busy every
resource is over time; at the bottom, the resource that is most in use, hour by hour.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from penstock.report.machine.stages import BUSY, FULL, SHADES, Stage, row_labels, stages_of, step_of
from penstock.report.parts.quantities import Scale, byte_scale, percent, rate_scale, significant
from penstock.report.parts.theme import FAINT, INK, WAITING, label
from penstock.report.parts.time_axis import time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.engine.passage import Passage

_LEAST_WORD = 0.045  # of the width, for a name to be written in the strip


def draw_machine(passage: Passage, title: str) -> Figure:
    """All three parts, on one axis of time."""
    stages = stages_of(passage)
    rows = min(max(0.16 * len(passage.names), 0.8), 4.6)
    heights = [0.95] * len(stages) + [rows, 0.34]
    figure = Figure(figsize=(9.5, 1.2 + sum(heights) + 0.12 * len(stages)))
    figure.set_layout_engine("constrained", h_pad=0.02, hspace=0.02)
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    scale = rate_scale(max(float(stage.values.max(initial=0.0)) for stage in stages if not stage.held))
    top = max(float(stage.values.max(initial=0.0)) for stage in stages if not stage.held) / scale.divisor
    for row, stage in zip(axes, stages, strict=False):
        _draw_stage(row, passage, stage, scale, top)
    _draw_use(figure, axes[-2], passage)
    _draw_bottlenecks(axes[-1], passage)
    axes[0].set_title(label(title, 96))
    axes[-1].set_xlim(passage.begin, passage.end)
    time_axis(axes[-1], passage.begin, passage.end)
    return figure


def _draw_stage(axes: Axes, passage: Passage, stage: Stage, scale: Scale, top: float) -> None:
    values, unit, height = stage.values / scale.divisor, scale.unit, top
    if stage.held:
        bytes_ = byte_scale(passage.room, pure=not scale.unit)
        values, unit, height = stage.values / bytes_.divisor, bytes_.unit, passage.room / bytes_.divisor
        axes.axhline(height, color=INK, linewidth=0.8, linestyle="--")
        axes.annotate(
            f"room for {bytes_.show(passage.room)}",
            (1, height),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="right",
            fontsize=7,
        )
    axes.stairs(values, passage.edges, fill=True, color=stage.colour, linewidth=0)
    axes.set_ylim(0, 1.08 * height if height > 0.0 else 1.0)
    axes.set_ylabel(
        _in_two_lines(stage.title), rotation=0, ha="right", va="center", multialignment="right", color=stage.colour
    )
    axes.yaxis.set_label_coords(-0.085, 0.42)
    axes.yaxis.set_major_locator(MaxNLocator(2))
    axes.yaxis.set_major_formatter(lambda value, _: f"{significant(value)} {unit}".rstrip() if value else "0")
    axes.tick_params(axis="x", labelbottom=False, length=0)
    axes.spines["bottom"].set_color(FAINT)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0, labelsize=7)
    mean = float(stage.values.mean()) if stage.values.size else 0.0
    if not stage.held and mean > 0.0:
        axes.axhline(mean / scale.divisor, color=INK, linewidth=0.7, linestyle=":")


def _in_two_lines(title: str) -> str:
    """Broken where the longer of both lines is shortest."""
    words = title.split()
    ways = [(" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words))]
    return "\n".join(min(ways, key=lambda lines: max(map(len, lines))))


def _draw_use(figure: Figure, axes: Axes, passage: Passage) -> None:
    """One line per resource: the darker, the busier; red where it has nothing left to give."""
    cool = LinearSegmentedColormap.from_list("use", ["#f4f6f8", "#c3d5e8", "#7ba3cc", "#4477aa"], N=256)
    full = round(256 * FULL)
    shades = ListedColormap([*cool(np.linspace(0.0, 1.0, full)), *([WAITING] * (256 - full))])
    picture = axes.imshow(
        passage.use,
        extent=(passage.begin, passage.end, len(passage.names), 0),
        aspect="auto",
        interpolation="nearest",
        cmap=shades,
        vmin=0.0,
        vmax=1.0,
    )
    ends = np.cumsum([len(list(group)) for _, group in groupby(passage.kinds)])
    for end in ends[:-1]:
        axes.axhline(end, color="white", linewidth=1.6)
    ticks, words = zip(*row_labels(passage), strict=True) if passage.names else ((), ())
    axes.set_yticks(ticks, words, fontsize=7)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelbottom=False, length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    bar = figure.colorbar(picture, ax=axes, location="right", fraction=0.025, pad=0.01, aspect=18)
    bar.set_ticks([0.0, 0.5, 1.0], labels=["idle", "half", "full"])
    bar.ax.tick_params(length=0, labelsize=7)
    bar.outline.set_visible(False)


def _draw_bottlenecks(axes: Axes, passage: Passage) -> None:
    """Hour by hour (or what suits the length) the resource most in use, if it is busy."""
    stretch = step_of(passage.end - passage.begin)
    for start, stop, name, use, kind in passage.bottlenecks(stretch, BUSY):
        colour = SHADES[kind] if name else FAINT
        axes.barh(0, stop - start, left=start, height=1.0, color=colour, edgecolor="white", linewidth=1.0)
        if name and (stop - start) / (passage.end - passage.begin) >= _LEAST_WORD:
            words = f"{label(name, 18)}\n{percent(use)}".replace("–", "–\n")
            axes.text((start + stop) / 2, 0, words, ha="center", va="center", fontsize=5.5, color="white")
    axes.set_yticks([0], ["bottleneck"], fontsize=7)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.5, 0.5)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
