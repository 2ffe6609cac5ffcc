"""Logs as a picture: a row per job with its bytes over time, and below it what all jobs moved together.

Logs of different days leave hours in which nothing ran. These are cut out, with a mark where the axis jumps, and what
ran for seconds only is widened, so that a handful of logs from several years still shows its bursts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

from penstock.kernels.arrays import Floats
from penstock.report.parts.quantities import byte_scale, duration, rate_scale, significant
from penstock.report.parts.theme import COLOURS, COMPUTE, FAINT, INK, WAITING, label, theme
from penstock.report.parts.time_axis import time_axis
from penstock.traces.pieces import curve

if TYPE_CHECKING:
    from penstock.traces.inspecting import Inspected, InspectedJob

MOST_ROWS = 32
BINS = 600
_GRADE = {"A": COLOURS[2], "B": COLOURS[0], "C": COLOURS[1], "D": WAITING, "": INK}
_MAP = "viridis_r"


class Axis(NamedTuple):
    """Time with the idle gaps cut out: instants and where they lie, linear between."""

    instant: Floats
    place: Floats

    def at(self, instants: Floats) -> Floats:
        """Where instants lie."""
        places: Floats = np.asarray(np.interp(instants, self.instant, self.place))
        return places

    def back(self, places: Floats) -> Floats:
        """Which instants lie there."""
        instants: Floats = np.asarray(np.interp(places, self.place, self.instant))
        return instants


def traces_figure(found: Inspected) -> Figure:
    """The figure of what was found."""
    with theme():
        return _draw(found)


def _draw(found: Inspected) -> Figure:
    rows = _chosen(found.rows)
    spans = _busy(found.rows)
    axis, jumps = _axis(spans)
    upper_height = max(1.1, 0.3 + 0.24 * len(rows))  # inches
    figure = Figure(figsize=(9.5, 1.3 + upper_height + 1.9), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[upper_height, 1.9])
    edges = axis.back(np.linspace(axis.place[0], axis.place[-1], BINS + 1))
    _jobs(figure, upper, rows, axis, edges, len(found.rows))
    _together(lower, found, axis, edges)
    for panel in (upper, lower):
        for jump in jumps:
            panel.axvline(jump, color=INK, linewidth=0.8, linestyle=(0, (1, 2)), alpha=0.6)
    if jumps:
        _periods(lower, axis, spans)
    else:
        time_axis(lower, float(axis.place[0]), float(axis.place[-1]))
    return figure


def _chosen(rows: Sequence[InspectedJob]) -> list[InspectedJob]:
    """The jobs that moved most, by start; where some moved bytes, those that moved none are left out."""
    moving = [row for row in rows if row.volume] or rows
    largest = sorted(moving, key=lambda row: -row.volume)[:MOST_ROWS]
    return sorted(largest, key=lambda row: (row.start, row.name))


def _axis(spans: Sequence[tuple[float, float]]) -> tuple[Axis, list[float]]:
    """Where time lies, and where it jumps; periods that follow a gap are as wide as names of their length need."""
    total = sum(end - start for start, end in spans)
    gap, least = 0.02 * total, 0.07 * total if len(spans) > 1 else 0.0
    instant, place, jumps = [], [], []
    here = 0.0
    for number, (start, end) in enumerate(spans):
        if number:
            jumps.append(here + gap / 2.0)
            here += gap
        wide = max(end - start, least)
        instant += [start, end]
        place += [here, here + wide]
        here += wide
    return Axis(np.array(instant), np.array(place)), jumps


def _busy(rows: Sequence[InspectedJob]) -> list[tuple[float, float]]:
    """When jobs ran; breaks shorter than a twentieth of all that time are left in."""
    ordered = sorted((row.start, row.start + row.seconds) for row in rows)
    short = 0.05 * sum(end - start for start, end in ordered)
    spans = [ordered[0]]
    for start, end in ordered[1:]:
        if start > spans[-1][1] + short:
            spans.append((start, end))
        else:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
    return spans


def _jobs(figure: Figure, axes: Axes, rows: Sequence[InspectedJob], axis: Axis, edges: Floats, total: int) -> None:
    boxes, rates = [], []
    for number, row in enumerate(rows):
        left, right = axis.at(np.array([row.start, row.start + row.seconds]))
        axes.add_patch(Rectangle((left, number - 0.36), right - left, 0.72, facecolor=COMPUTE, linewidth=0))
        for start, end, rate in _rates(row, edges):
            ends = axis.at(np.array([start, end]))
            boxes.append(Rectangle((ends[0], number - 0.36), ends[1] - ends[0], 0.72))
            rates.append(rate)
        _margin(axes, row, number)
    if rates:
        scale = rate_scale(max(rates))
        shades = PatchCollection(boxes, cmap=_MAP, norm=LogNorm(max(min(rates), max(rates) / 1e4), max(rates)))
        shades.set_array(np.array(rates))
        shades.set_edgecolor("none")
        axes.add_collection(shades)
        bar = figure.colorbar(shades, ax=axes, pad=0.02, fraction=0.03, aspect=18)
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: significant(value / scale.divisor)))
        bar.set_label(scale.unit)
        bar.outline.set_visible(False)
    for words, right in (("moved", 58), ("grade", 90)):
        _beside(axes, words, -0.85, right, alpha=0.7)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [label(row.name) for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=0, labelbottom=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    few = f"the {len(rows)} of {total:,} jobs that moved most" if total > len(rows) else "jobs"
    axes.set_title(f"What {few} moved when; grey: it ran and moved nothing")


def _rates(row: InspectedJob, edges: Floats) -> list[tuple[float, float, float]]:
    """Mean rates between edges of the picture, where there are any, cut at the job's own start and end."""
    own = np.unique(np.clip(edges, row.start, row.start + row.seconds))
    own = np.unique(np.concatenate([own, [row.start, row.start + row.seconds]]))
    moved = curve(row.pieces.start + row.start, row.pieces.end + row.start, row.pieces.volume)
    volume = np.diff(moved.by(own))
    width = np.diff(own)
    busy = (volume > 1e-9 * max(row.volume, 1e-300)) & (width > 0)
    return list(zip(own[:-1][busy], own[1:][busy], (volume / np.maximum(width, 1e-300))[busy], strict=True))


def _margin(axes: Axes, row: InspectedJob, number: int) -> None:
    """Bytes and grade at the right end of the row."""
    _beside(axes, byte_scale(row.volume, pure=False).show(row.volume), number, 58)
    if row.quality:
        _beside(axes, row.quality, number, 80, color=_GRADE.get(row.quality, INK), fontweight="bold")


def _beside(axes: Axes, words: str, row: float, right: int, **style: Any) -> None:
    """Words that end so many points to the right of a row."""
    axes.annotate(
        words,
        (1.0, row),
        (right, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=8,
        annotation_clip=False,
        **style,
    )


def _together(axes: Axes, found: Inspected, axis: Axis, edges: Floats) -> None:
    start, end, volume = (
        np.concatenate(column)
        for column in zip(
            *((row.pieces.start + row.start, row.pieces.end + row.start, row.pieces.volume) for row in found.rows),
            strict=True,
        )
    )
    moved = curve(start, end, volume)
    rate = np.diff(moved.by(edges)) / np.maximum(np.diff(edges), 1e-300)
    scale = rate_scale(max(float(rate.max()), 1e3))
    places = axis.at(edges)
    axes.fill_between(places, np.append(rate, rate[-1]) / scale.divisor, step="post", color=COLOURS[0], linewidth=0)
    axes.set_ylabel(f"all jobs ({scale.unit})")
    axes.grid(axis="y", color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlim(axis.place[0], axis.place[-1])
    highest = float(rate.max()) / scale.divisor
    line = (found.bandwidth or 0.0) / scale.divisor
    axes.set_ylim(0.0, 1.12 * max(highest, line if line <= 3.0 * highest else 0.0))
    _capacity(axes, found, scale.divisor, float(rate.max()))


def _capacity(axes: Axes, found: Inspected, divisor: float, highest: float) -> None:
    """The bandwidth as a line, or in words where the line would be far above all that moved."""
    if found.bandwidth is None:
        return
    name = "bandwidth" + (", at least" if found.bandwidth_origin == "lower_bound" else "")
    if found.bandwidth <= 3.0 * highest:
        axes.axhline(found.bandwidth / divisor, color=WAITING, linewidth=1.0, linestyle="--")
        axes.annotate(
            name, (0.0, found.bandwidth / divisor), (4, -3), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="top", fontsize=8, color=WAITING,
        )  # fmt: skip
    else:
        words = f"{name} {rate_scale(found.bandwidth).show(found.bandwidth)}: far above this panel"
        axes.annotate(
            words, (0.0, 1.0), (4, -4), xycoords="axes fraction", textcoords="offset points", va="top", fontsize=8
        )


def _periods(axes: Axes, axis: Axis, spans: Sequence[tuple[float, float]]) -> None:
    """How long each period is, below its middle."""
    middles = [float(axis.place[2 * i : 2 * i + 2].mean()) for i in range(len(spans))]
    axes.set_xticks(middles, [duration(end - start) for start, end in spans], rotation=30, ha="right")
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel("periods in which jobs ran, and how long they are; the time between them is cut out")
