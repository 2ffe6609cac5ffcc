"""The plot of one run: who used the bandwidth when, above what each application was doing meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from penstock.report.comparison.summary import node_hours
from penstock.report.parts.bands import Spans, edges, mean_rates, spans
from penstock.report.parts.groups import GROUP_COLOURS, groups_of
from penstock.report.parts.pixels import state_pixels
from penstock.report.parts.quantities import fixed, rate_scale, significant
from penstock.report.parts.theme import COMPUTE, INK, WAITING, WAITING_PALE, label
from penstock.report.parts.time_axis import time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.engine.timeline import Timeline
    from penstock.kernels.arrays import Floats, Ints
    from penstock.metrics.result import Result

MOST_STEPS = 240  # of the stacked bandwidth
MOST_SPANS = 1200  # drawn as shapes; beyond, rows become an image
_COLUMNS = 1200
_THICKNESS = 0.78
_LABELLED_ROWS = 32


def draw_run(result: Result, timeline: Timeline) -> Figure:
    """Bandwidth stacked by application above rows of compute, waiting and transferring."""
    count = len(timeline.names)
    rows = min(max(0.26 * count, 1.0), 6.5)
    figure = Figure(figsize=(9.5, 2.9 + rows), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[2.2, rows])
    moved = timeline.rate * (timeline.stop - timeline.start)
    groups, names = groups_of(timeline.names, np.bincount(timeline.application, moved, count).astype(np.float64))
    _draw_bandwidth(upper, timeline, groups, len(names))
    hatched = _draw_rows(lower, timeline, groups)
    upper.set_title(f"{label(result.sharing, 60)}: min yield {fixed(result.min_yield)}, {node_hours(result)} lost")
    lower.set_xlim(timeline.begin, timeline.end)
    time_axis(lower, timeline.begin, timeline.end)
    _legend(figure, names, hatched=hatched)
    return figure


def _legend(figure: Figure, names: list[str], *, hatched: bool) -> None:
    waiting: dict[str, Any] = {"facecolor": WAITING}
    if hatched:
        waiting = {"facecolor": WAITING_PALE, "edgecolor": WAITING, "hatch": "////"}
    handles = [
        Patch(facecolor=COMPUTE, label="computing"),
        Patch(**waiting, linewidth=0, label="waiting for I/O"),
        *(Patch(facecolor=GROUP_COLOURS[i], label=name) for i, name in enumerate(names)),
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=min(len(handles), 4))


def _draw_bandwidth(axes: Axes, timeline: Timeline, groups: Ints, count: int) -> None:
    at = edges(timeline, MOST_STEPS)
    rates = mean_rates(timeline, at)
    scale = rate_scale(timeline.capacity)
    layers = np.array([rates[groups == group].sum(axis=0) for group in range(count)]) / scale.divisor
    # From the highest layer down, each hiding the lower part of the one before: half the outline of stacked bands.
    steps = [_outline(at, top) for top in np.cumsum(layers, axis=0)[::-1]]
    axes.add_collection(PolyCollection(steps, facecolors=GROUP_COLOURS[:count][::-1], linewidths=0), autolim=False)
    capacity = timeline.capacity / scale.divisor
    axes.axhline(capacity, color=INK, linewidth=1, linestyle="--")
    axes.annotate(
        f"capacity {significant(capacity)} {scale.unit}".rstrip(),
        (1, capacity),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8,
    )
    axes.set_ylim(0, 1.16 * capacity)
    axes.set_ylabel(f"bandwidth ({scale.unit})" if scale.unit else "bandwidth")
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.tick_params(axis="x", labelbottom=False)


def _outline(at: Floats, top: Floats) -> Floats:
    """The area between zero and a step function, as a polygon."""
    across = np.repeat(at, 2)
    up = np.concatenate([[0.0], np.repeat(top, 2), [0.0]])
    return np.column_stack([across, up])


def _draw_rows(axes: Axes, timeline: Timeline, groups: Ints) -> bool:
    """Draw the rows; whether single spans can be told apart, and so are hatched when waiting."""
    count = len(timeline.names)
    states = spans(timeline)
    sparse = len(states.start) + count <= MOST_SPANS
    if sparse:
        _draw_shapes(axes, timeline, states, groups)
    else:
        _draw_image(axes, timeline, groups)
    axes.set_ylim(count - 0.5, -0.5)
    step = -(-count // _LABELLED_ROWS)
    shown = range(0, count, step)
    axes.set_yticks(list(shown), [label(timeline.names[i]) for i in shown], fontsize=7 if count > 12 else 8)
    axes.tick_params(axis="y", length=0 if step == 1 else 3)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    return sparse


def _draw_shapes(axes: Axes, timeline: Timeline, states: Spans, groups: Ints) -> None:
    everyone = np.arange(len(timeline.names))
    axes.add_collection(
        PolyCollection(_boxes(everyone, timeline.started, timeline.stopped), facecolors=[COMPUTE], linewidths=0),
        autolim=False,
    )
    colours = np.array([to_rgba(colour) for colour in GROUP_COLOURS])
    for moving in (False, True):
        chosen = states.moving == moving
        boxes = _boxes(states.application[chosen], states.start[chosen], states.stop[chosen])
        if moving:
            shapes = PolyCollection(boxes, facecolors=colours[groups[states.application[chosen]]], linewidths=0)
        else:
            shapes = PolyCollection(boxes, facecolors=[WAITING_PALE], edgecolors=[WAITING], hatch="////", linewidths=0)
        axes.add_collection(shapes, autolim=False)


def _draw_image(axes: Axes, timeline: Timeline, groups: Ints) -> None:
    """Too many spans to tell apart: every pixel mixes the states' colours by the time spent in each."""
    axes.imshow(
        state_pixels(timeline, groups, _COLUMNS),
        extent=(timeline.begin, timeline.end, len(timeline.names) - 0.4, -0.4),
        aspect="auto",
        interpolation="nearest",
    )


def _boxes(row: Ints, start: Floats, stop: Floats) -> list[Floats]:
    low, high = row - _THICKNESS / 2, row + _THICKNESS / 2
    corners = [(start, low), (start, high), (stop, high), (stop, low)]
    return list(np.stack([np.column_stack(corner) for corner in corners], axis=1))
