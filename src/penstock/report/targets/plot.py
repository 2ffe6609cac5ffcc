"""Plots of targets given out: who uses which and how hard, how full they are, and what the I/O of each costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator, PercentFormatter

from penstock.report.parts.quantities import fixed, percent
from penstock.report.parts.theme import COLOURS, FAINT, INK, OTHERS, WAITING, WAITING_PALE, label, theme
from penstock.report.targets.table import IDLE, LOST, SLOWDOWN, allotment_words, comparison_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.kernels.arrays import Floats
    from penstock.report.comparison.summary import Measure
    from penstock.studies.targets.result import Allotment

# From a target that an application hardly uses to one it keeps busy: one hue, readable in grey too.
_STRESS = LinearSegmentedColormap.from_list("stress", ["#dfe9f3", "#88b0d4", "#4477aa", "#1c3f66"])
_NAMED = 60  # rows or columns; more are numbered
_MOST_CELLS = 400  # each way; more would be lost between the dots of a screen
_BY_COUNT = COLOURS[1]
# Round numbers for a log axis from 1, the widest steps first.
_STEPS: tuple[tuple[float, ...], ...] = (
    (10, 100, 1e3, 1e4, 1e5, 1e6),
    (2, 5, 10, 20, 50, 100, 200, 500),
    (1.5, 2, 3, 4, 6, 8, 10),
    (1.25, 1.5, 1.75, 2, 2.5),
    (1.05, 1.1, 1.15, 1.2, 1.25, 1.3),
)
_MARKERS = "osD^vP"


def allotment_figure(allotment: Allotment) -> Figure:
    """Applications × targets by stress; above it how full each target is, beside it every slowdown in its two parts."""
    rows, columns = len(allotment.applications), len(allotment.targets)
    wide, high = _inches(columns, 0.3, 3.4), _inches(rows, 0.24, 1.1)
    with theme():
        figure = Figure(figsize=(wide + 5.6, high + 3.3), layout="constrained")
        grid = figure.subplots(2, 2, width_ratios=[wide, 3.8], height_ratios=[1.4, high])
        (above, corner), (matrix, beside) = grid
        corner.axis("off")
        _draw_matrix(matrix, allotment)
        _draw_targets(above, allotment)
        _draw_slowdowns(beside, allotment)
        _mark_out_of_service([above, matrix], allotment)
        figure.suptitle(_title(allotment), x=0.01, ha="left", fontsize=10, fontweight="bold")
        _explain(corner, allotment)
        return figure


def comparison_figure_of_allotments(allotments: Sequence[Allotment]) -> Figure:
    """A row per allocation, a dot per placement: mean I/O slowdown, and idle time or, for whole lives, what is lost."""
    allocations = list(dict.fromkeys(each.allocation for each in allotments))
    placements = list(dict.fromkeys(each.placement for each in allotments))
    with theme():
        figure = Figure(figsize=(9.0, 1.9 + 0.5 * len(allocations)), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        in_time = allotments[0].until == "all"
        for axes, measure in ((left, SLOWDOWN), (right, LOST if in_time else IDLE)):
            _draw_dots(axes, allotments, measure, allocations, placements)
        left.set_yticks(range(len(allocations)), [label(name) for name in allocations])
        left.set_ylim(len(allocations) - 0.5, -0.5)
        left.set_xlabel("mean I/O slowdown")
        right.set_xlabel("node-hours lost" if in_time else "machine idle time")
        if not in_time:
            right.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=_decimals(np.ptp(right.get_xlim()))))
        right.tick_params(axis="y", length=0)
        figure.suptitle(label(comparison_words(allotments), 110), x=0.01, ha="left", fontsize=10, fontweight="bold")
        handles = [
            Line2D([], [], linestyle="", marker=_MARKERS[i % 6], color=COLOURS[i], label=f"placement {label(name)}")
            for i, name in enumerate(placements)
        ]
        figure.legend(handles=handles, loc="outside lower left", ncols=len(handles))
        return figure


def stress_matrix(allotment: Allotment) -> Floats:
    """How much of each target's time each application takes, NaN where it does not use it."""
    matrix = np.full((len(allotment.applications), len(allotment.targets)), np.nan)
    for row, each in enumerate(allotment.applications):
        matrix[row, list(each.targets)] = each.shares
    return matrix


def coarse(matrix: Floats, most: int = _MOST_CELLS) -> Floats:
    """At most so many rows and columns, each cell the highest of those that it stands for, so that none is lost."""
    for axis in (0, 1):
        size = matrix.shape[axis]
        if size > most:
            starts = np.arange(0, size, math.ceil(size / most))
            matrix = np.fmax.reduceat(matrix, starts, axis=axis)
    return matrix


def _inches(count: int, each: float, least: float) -> float:
    """The size of so many rows or columns: room for their names, as long as they have them."""
    return min(max(each * count, least), 10.5) if count <= _NAMED else 8.0


def _decimals(span: float) -> int:
    """Of percentages on an axis of that length."""
    return 0 if span >= 0.04 else 1


def _draw_matrix(axes: Axes, allotment: Allotment) -> None:
    matrix = stress_matrix(allotment)
    rows, columns = matrix.shape
    top = _top(matrix)
    if max(rows, columns) <= _NAMED:
        axes.pcolormesh(
            np.ma.masked_invalid(matrix), cmap=_STRESS, vmin=0.0, vmax=top, edgecolors="white", linewidth=0.6
        )
    else:
        axes.imshow(
            np.ma.masked_invalid(coarse(matrix)),
            cmap=_STRESS,
            vmin=0.0,
            vmax=top,
            aspect="auto",
            interpolation="nearest",
            extent=(0, columns, rows, 0),
        )
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    _name_rows(axes, [each.name for each in allotment.applications])
    _name_columns(axes, [target.name for target in allotment.targets])


def _top(matrix: Floats) -> float:
    return float(np.nanmax(matrix)) or 1.0


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    if len(names) <= _NAMED:
        axes.set_yticks(np.arange(len(names)) + 0.5, [label(name) for name in names], fontsize=_font(len(names)))
        axes.tick_params(axis="y", length=0)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.set_ylabel(f"{len(names):,} applications, in the order of the scenario")


def _name_columns(axes: Axes, names: Sequence[str]) -> None:
    if len(names) <= _NAMED:
        short = max(map(len, names)) <= 2
        axes.set_xticks(
            np.arange(len(names)) + 0.5,
            [label(name, 18) for name in names],
            rotation=0 if short else 90,
            fontsize=_font(len(names)),
        )
        axes.tick_params(axis="x", length=0)
        if short:
            axes.set_xlabel("target")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.set_xlabel(f"{len(names):,} targets, by place")


def _font(count: int) -> float:
    return 8.0 if count <= 40 else 7.0


def _draw_targets(axes: Axes, allotment: Allotment) -> None:
    stress = np.array([target.stress for target in allotment.targets])
    calm, over = np.minimum(stress, 1.0), stress > 1.0 + 1e-9
    for values, base, colour in ((calm, 0.0, COLOURS[0]), (np.where(over, stress, 1.0), 1.0, WAITING)):
        if stress.size <= _NAMED:
            axes.bar(np.arange(stress.size) + 0.5, values - base, 0.8, bottom=base, color=colour)
        else:
            axes.stairs(values, baseline=base, fill=True, color=colour, rasterized=stress.size > _MOST_CELLS)
    axes.axhline(1.0, color=INK, linestyle="--", linewidth=1)
    axes.set_xlim(0, stress.size)
    axes.set_ylim(0, max(1.25, 1.08 * float(stress.max())))
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_locator(NullLocator())
    most = "highest stress" if allotment.until == "all" else "stress"
    axes.set_ylabel(f"{most} of a target\n(1 is saturated)")


def _draw_slowdowns(axes: Axes, allotment: Allotment) -> None:
    """Bars on a log axis: there the two factors are lengths, and the lengths add up to their product."""
    applications = allotment.applications
    rows = len(applications)
    whole = np.array([1.0 if each.io_slowdown is None else each.io_slowdown for each in applications])
    part = np.array([1.0 if each.io_slowdown is None else each.rho_io for each in applications])
    middle = np.arange(rows) + 0.5
    if rows <= _NAMED:
        axes.barh(middle, part - 1.0, 0.72, left=1.0, color=_BY_COUNT)
        axes.barh(middle, whole - part, 0.72, left=part, **_contended(allotment))
        for y, value, each in zip(middle, whole, applications, strict=True):
            text = "moved nothing" if each.io_slowdown is None else fixed(each.io_slowdown, 2)
            axes.annotate(
                text, (max(value, 1.0), y), xytext=(3, 0), textcoords="offset points", va="center",
                fontsize=_font(rows) - 0.5,
            )  # fmt: skip
    else:
        dense = rows > _MOST_CELLS
        axes.stairs(part, baseline=1.0, orientation="horizontal", fill=True, color=_BY_COUNT, rasterized=dense)
        axes.stairs(whole, baseline=part, orientation="horizontal", fill=True, color=WAITING, rasterized=dense)
    most = max(1.25, float(whole.max()))
    axes.set_xscale("log")
    axes.set_xlim(1.0, most ** (1.22 if rows <= _NAMED else 1.04))
    axes.set_ylim(rows, 0)
    axes.yaxis.set_major_locator(NullLocator())
    _log_ticks(axes, most)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("I/O slowdown (log scale: the lengths of the parts add up)")


def _log_ticks(axes: Axes, most: float) -> None:
    """The widest steps that give an axis up to `most` at least three ticks beside 1."""
    fitting = [[tick for tick in steps if tick <= most * 1.02] for steps in _STEPS]
    ticks = next((found for found in fitting if len(found) >= 3), fitting[-1])
    axes.xaxis.set_major_locator(FixedLocator([1.0, *ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _mark_out_of_service(panels: Sequence[Axes], allotment: Allotment) -> None:
    look = _absent(allotment)
    for place, target in enumerate(allotment.targets):
        if not target.in_service:
            for axes in panels:
                low, high = sorted(axes.get_ylim())
                axes.add_patch(Rectangle((place, low), 1, high - low, **look))


def _absent(allotment: Allotment) -> dict[str, Any]:
    """The look of a target that is out of service: hatched, or grey where hatching would be too fine to see."""
    if len(allotment.targets) > _NAMED:
        return {"facecolor": OTHERS, "linewidth": 0}
    return {"facecolor": "none", "edgecolor": OTHERS, "hatch": "xxxx", "linewidth": 0}


def _contended(allotment: Allotment) -> dict[str, Any]:
    """The look of what is lost to others, hatched as waiting is everywhere, if there is room."""
    if len(allotment.applications) > _NAMED:
        return {"facecolor": WAITING, "linewidth": 0}
    return {"facecolor": WAITING_PALE, "edgecolor": WAITING, "hatch": "////", "linewidth": 0}


def _explain(corner: Axes, allotment: Allotment) -> None:
    handles = [
        Patch(color=_BY_COUNT, label="ρ_io: by the number of targets"),
        Patch(**_contended(allotment), label="ρ_con: by others on the same targets"),
    ]
    if not all(target.in_service for target in allotment.targets):
        handles.append(Patch(**_absent(allotment), label="target out of service"))
    corner.legend(handles=handles, loc="lower left", borderaxespad=0)
    matrix = stress_matrix(allotment)
    top = _top(matrix)
    scale = corner.inset_axes((0.02, 0.72, 0.7, 0.08))
    corner.figure.colorbar(
        ScalarMappable(Normalize(0.0, top), _STRESS),
        cax=scale,
        orientation="horizontal",
        ticks=MaxNLocator(5),
        format=PercentFormatter(1.0, decimals=_decimals(top)),
    )
    coarser = "the highest of several" if max(matrix.shape) > _MOST_CELLS else "white: not used"
    scale.set_title(f"share of a target's time ({coarser})", fontsize=8, fontweight="normal")


def _title(allotment: Allotment) -> str:
    outcome = f"load {fixed(allotment.load, 3)}, mean I/O slowdown {fixed(allotment.mean_io_slowdown, 2)}, "
    outcome += f"machine idle {percent(allotment.machine_idletime)}"
    if allotment.until == "all":
        outcome += f", {allotment.node_hours_lost:,.1f} node-hours lost"
    return f"{label(allotment_words(allotment), 100)}\n{outcome}"


def _draw_dots(
    axes: Axes, allotments: Sequence[Allotment], measure: Measure, rows: Sequence[str], placements: Sequence[str]
) -> None:
    found: list[float] = []
    for each in allotments:
        value: float | None = getattr(each, measure.name)
        if value is None:
            continue
        found.append(value)
        kind = placements.index(each.placement)
        # Side by side within the row, so that equal values stay visible.
        offset = 0.24 * (kind - (len(placements) - 1) / 2)
        axes.plot(value, rows.index(each.allocation) + offset, _MARKERS[kind % 6], color=COLOURS[kind], markersize=6)
    for edge in range(1, len(rows)):
        axes.axhline(edge - 0.5, color=FAINT, linewidth=0.6)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    if found:
        spare = max(0.06 * (max(found) - min(found)), 0.01)
        axes.set_xlim(min(found) - spare, max(found) + spare)
