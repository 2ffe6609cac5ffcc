"""Plots of runs behind a burst buffer: what it holds and who is short of room, and what other capacities would give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from penstock.report.buffers.table import slowest
from penstock.report.parts.groups import GROUP_COLOURS, groups_of
from penstock.report.parts.quantities import fixed, significant
from penstock.report.parts.theme import COLOURS, COMPUTE, FAINT, INK, OTHERS, WAITING, label, theme
from penstock.report.parts.time_axis import time_axis
from penstock.report.sizing.plot import draw_level, thinned
from penstock.report.sizing.table import bytes_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from penstock.kernels.arrays import Floats, Ints
    from penstock.studies.buffers import Buffered, Filling
    from penstock.studies.buffers.sweep import StrategyComparison, Sweep
    from penstock.studies.sizing.traffic import Limits, Traffic

_MOST_ROWS = 32  # applications; of more, those that were stretched most
_COLUMNS = 1000  # of a row of the image
_FULL = 1.0 - 1e-6
_MARKERS = "osD^vPX*"
_SMALL = 7.5
_BEHIND = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 0.6}  # of words that lie on lines


class _Level(NamedTuple):
    """How full one application's part is between neighbouring edges: on average, and what part of the time wholly."""

    mean: Floats
    full: Floats


def run_figure(run: Buffered, traffic: Traffic) -> Figure:
    """What the buffer holds, stacked by application, above how full it is for each of them, and its stretch."""
    filling = _of(run)
    rows = slowest(run.stretch, _MOST_ROWS)
    height = min(max(0.24 * len(rows), 1.2), 6.0)
    begin = min(0.0, float(traffic.release.min()))
    end = run.end
    with theme():
        figure = Figure(figsize=(8.8, 3.3 + height), layout="constrained")
        (upper, aside), (lower, bars) = figure.subplots(2, 2, height_ratios=[2.6, height], width_ratios=[4.6, 1])
        peaks = (filling.output + filling.input).max(axis=0, initial=0.0)
        groups, names = groups_of(run.names, peaks)
        _draw_filling(upper, run, groups, len(names), traffic.limits)
        _draw_rows(lower, run, traffic, rows, groups, np.linspace(begin, end, _COLUMNS + 1))
        _draw_stretch(bars, run, rows, groups)
        for axes in (upper, lower):
            axes.set_xlim(begin, end)
            time_axis(axes, begin, end)
        upper.set_xlabel("")
        upper.tick_params(axis="x", labelbottom=False)
        upper.set_title(
            f"{label(run.strategy, 40)}, {run.partition}: "
            f"max stretch {fixed(run.max_stretch, 3)}, mean {fixed(run.mean_stretch, 3)}"
        )
        _legend(aside, names)
        return figure


def _draw_filling(axes: Axes, run: Buffered, groups: Ints, count: int, limits: Limits) -> None:
    filling = _of(run)
    axes.set_ylabel("held in the buffer")
    if run.capacity <= 0.0:
        axes.set_yticks([])
        axes.annotate("no buffer", (0.5, 0.5), xycoords="axes fraction", ha="center")
        return
    held = filling.output + filling.input
    at = thinned(held.sum(axis=1))
    layers = np.zeros((count, at.size))
    np.add.at(layers, groups, held[at].T)
    scale = bytes_scale(limits, run.capacity)
    axes.stackplot(filling.time[at], layers / scale.divisor, colors=GROUP_COLOURS[:count], linewidth=0)
    draw_level(axes, run.capacity / scale.divisor, f"capacity {scale.show(run.capacity)}")
    axes.set_ylim(0, 1.14 * run.capacity / scale.divisor)
    if scale.unit:
        axes.set_ylabel(f"held in the buffer ({scale.unit})")
    axes.yaxis.set_major_locator(MaxNLocator(6))


def _draw_rows(axes: Axes, run: Buffered, traffic: Traffic, rows: list[int], groups: Ints, at: Floats) -> None:
    """A row per application: the fuller, the darker; red while there is no room for more output."""
    colours = np.array([to_rgb(colour) for colour in GROUP_COLOURS])
    picture = np.zeros((len(rows), 5, at.size - 1, 4))  # of five lines, the last stays empty
    for row, (place, level) in enumerate(zip(rows, _levels(run, rows, at), strict=True)):
        last = run.end if run.cut[place] else run.completion[place]
        running = _overlap(at, float(traffic.release[place]), last)
        picture[row, :4] = _mixed(level, running, colours[groups[place]])
        alone = float(traffic.completion[place])
        axes.plot([alone, alone], [row - 0.42, row + 0.38], color=INK, linewidth=1.4, solid_capstyle="butt")
    axes.imshow(
        np.round(255 * np.clip(picture, 0.0, 1.0)).astype(np.uint8).reshape(-1, at.size - 1, 4),
        extent=(at[0], at[-1], len(rows) - 0.4, -0.4),
        aspect="auto",
        interpolation="nearest",
    )
    axes.set_ylim(len(rows) - 0.4, -0.6)
    names = [label(run.names[place]) for place in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=7 if len(rows) > 16 else 8)
    axes.tick_params(axis="y", length=0)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    if len(rows) < len(run.names):
        axes.set_title(f"The {len(rows)} of {len(run.names):,} that were held up most", fontsize=8, fontweight="normal")


def _mixed(level: _Level, running: Floats, own: Floats) -> Floats:
    """Grey while it runs with nothing in the buffer, its own colour as the buffer fills, red while it is full."""
    grey, red = np.array(COMPUTE[:3]), np.array(to_rgb(WAITING))
    filled = np.clip(level.mean, 0.0, 1.0) * (1.0 - level.full)
    weights = np.stack([COMPUTE[3] * running, filled, level.full])
    alpha = 1.0 - (1.0 - weights[0]) * (1.0 - weights[1]) * (1.0 - weights[2])
    mixed = sum(weight[:, None] * colour for weight, colour in zip(weights, (grey, own, red), strict=True))
    shade = mixed / np.maximum(weights.sum(axis=0), 1e-12)[:, None]
    return np.column_stack([shade, alpha])


def _levels(run: Buffered, rows: Sequence[int], at: Floats) -> list[_Level]:
    """How full the buffer is for each of these: its own part and what is common."""
    filling = _of(run)
    held = filling.output + filling.input
    own = np.zeros(len(run.names)) if run.partition == "dynamic" else np.array(run.shares)
    common = run.common * run.capacity
    beyond = np.maximum(0.0, held - own).sum(axis=1)
    taken = np.full(beyond.size, True) if common <= 0.0 else beyond >= _FULL * common
    found = []
    for place in rows:
        most, mine = own[place] + common, held[:, place]
        if most <= 0.0:
            found.append(_Level(np.zeros(at.size - 1), np.zeros(at.size - 1)))
            continue
        # Full of input is as it should be; full of output is what holds up.
        full = taken & (mine >= _FULL * own[place]) & (filling.output[:, place] > filling.input[:, place])
        found.append(_Level(_means(filling.time, mine / most, at), _full_shares(filling.time, full, at)))
    return found


def _means(time: Floats, height: Floats, at: Floats) -> Floats:
    """The mean between neighbouring edges of what is straight between events; exact."""
    area = np.concatenate([[0.0], np.cumsum(np.diff(time) * (height[1:] + height[:-1]) / 2.0)])
    inside = np.clip(at, time[0], time[-1])
    before = np.clip(np.searchsorted(time, inside, side="right") - 1, 0, time.size - 1)
    reached = np.interp(inside, time, height)
    until = area[before] + (inside - time[before]) * (height[before] + reached) / 2.0
    means: Floats = np.diff(until) / np.diff(at)
    return means


def _full_shares(time: Floats, full: NDArray[np.bool_], at: Floats) -> Floats:
    """The part of the time between neighbouring edges for which it is full at both events around."""
    spent = np.concatenate([[0.0], np.cumsum(np.diff(time) * (full[1:] & full[:-1]))])
    shares: Floats = np.diff(np.interp(at, time, spent)) / np.diff(at)
    return shares


def _overlap(at: Floats, begin: float, end: float) -> Floats:
    """The part of each interval that lies between two instants."""
    inside: Floats = np.clip((np.minimum(at[1:], end) - np.maximum(at[:-1], begin)) / np.diff(at), 0.0, 1.0)
    return inside


def _draw_stretch(axes: Axes, run: Buffered, rows: list[int], groups: Ints) -> None:
    stretch = np.maximum(1.0, np.nan_to_num(np.array(run.stretch)[rows], nan=1.0))
    places = np.arange(len(rows))
    axes.barh(places, stretch - 1.0, left=1.0, height=0.7, color=[GROUP_COLOURS[groups[place]] for place in rows])
    longest = max(run.max_stretch - 1.0, run.bound_max_stretch - 1.0, 0.01)  # less is rounding, or nearly
    for place, value in zip(places, stretch, strict=True):
        axes.annotate(
            "cut off" if run.cut[rows[place]] else fixed(float(value), 3),
            (float(value), float(place)),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7 if len(rows) > 16 else _SMALL,
            bbox=_BEHIND,
        )
    axes.axvline(1.0, color=INK, linewidth=0.8)
    axes.axvline(run.bound_max_stretch, color=INK, linewidth=1, linestyle=":")
    axes.set_xlim(1.0, 1.0 + 1.45 * longest)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: significant(value)))
    axes.set_xlabel("stretch")


def _legend(axes: Axes, names: list[str]) -> None:
    """Beside the stack, the uppermost first, as it is stacked."""
    axes.axis("off")
    handles: list[Patch | Line2D] = [
        *(Patch(facecolor=GROUP_COLOURS[i], label=name) for i, name in reversed(list(enumerate(names)))),
        Patch(facecolor=WAITING, label="full of output"),
        Patch(facecolor=COMPUTE, label="running"),
        Line2D([], [], color=INK, linewidth=1.4, label="end without contention"),
        Line2D([], [], color=INK, linewidth=1, linestyle=":", label="bound on the largest"),
    ]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(-0.1, 1.05), borderaxespad=0.0)


def comparison_figure(comparison: StrategyComparison, limits: Limits) -> Figure:
    """Every application's stretch under each strategy, with the largest, the mean, and what is impossible."""
    runs = comparison.runs
    first = runs[0]
    with theme():
        figure = Figure(figsize=(9, 1.7 + 0.48 * len(runs)), layout="constrained")
        axes = figure.subplots()
        for row, run in enumerate(runs):
            axes.plot(run.stretch, np.full(len(run.stretch), row), "o", color=COLOURS[0], alpha=0.35, markersize=5)
            axes.plot([run.mean_stretch] * 2, [row - 0.3, row + 0.3], color=INK, linewidth=2)
            axes.plot(run.max_stretch, row, "D", color=WAITING, markersize=6)
            axes.annotate(
                f"{fixed(run.max_stretch, 3)}, mean {fixed(run.mean_stretch, 3)}",
                (run.max_stretch, row),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
            )
        widest = max(0.01, *(run.max_stretch - 1.0 for run in runs))
        axes.axvline(first.bound_max_stretch, color=WAITING, linewidth=1, linestyle="--")
        axes.axvline(first.bound_mean_stretch, color=INK, linewidth=1, linestyle=":")
        axes.set_xlim(1.0 - 0.02 * widest, 1.0 + 1.28 * widest)
        axes.set_ylim(len(runs) - 0.5, -0.5)
        axes.set_yticks(range(len(runs)), [label(run.strategy) for run in runs])
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("stretch: run time over run time without contention")
        axes.set_title(f"{bytes_scale(limits, first.capacity).show(first.capacity)}, {first.partition}")
        handles = [
            Line2D([], [], marker="o", linestyle="", color=COLOURS[0], alpha=0.35, label="an application"),
            Line2D([], [], marker="D", linestyle="", color=WAITING, label="largest"),
            Line2D([], [], color=WAITING, linewidth=1, linestyle="--", label="no largest is below"),
            Line2D([], [], color=INK, linewidth=2, label="mean"),
            Line2D([], [], color=INK, linewidth=1, linestyle=":", label="no mean is below"),
        ]
        figure.legend(handles=handles, loc="outside lower left", ncols=5)
        return figure


def sweep_figure(sweep: Sweep, limits: Limits) -> Figure:
    """The maximum and the mean stretch against the capacity, above what no strategy can reach."""
    with theme():
        figure = Figure(figsize=(8.8, 4.6), layout="constrained")
        for axes, what in zip(figure.subplots(1, 2), ("max", "mean"), strict=True):
            _draw_sweep(axes, sweep, what, limits)
        handles: list[Patch | Line2D] = [
            Line2D([], [], **_line(place, len(sweep.points[0].runs)), label=label(run.strategy))
            for place, run in enumerate(sweep.points[0].runs)
        ]
        handles.append(Patch(facecolor=OTHERS, alpha=0.35, label="impossible under any strategy"))
        figure.legend(handles=handles, loc="outside lower left", ncols=6)
        return figure


def _line(place: int, count: int) -> dict[str, Any]:
    """Where lines lie on each other, the later ones are the thinner and smaller."""
    late = place / max(count - 1, 1)
    return {
        "color": GROUP_COLOURS[place % len(COLOURS[:8])],
        "marker": _MARKERS[place % len(_MARKERS)],
        "markersize": 5.5 - 2.0 * late,
        "linewidth": 2.2 - 1.0 * late,
    }


def _draw_sweep(axes: Axes, sweep: Sweep, what: str, limits: Limits) -> None:
    along = [point.factor for point in sweep.points]
    bound = [getattr(point, f"bound_{what}_stretch") for point in sweep.points]
    lines = [
        [getattr(point.runs[place], f"{what}_stretch") for point in sweep.points]
        for place in range(len(sweep.points[0].runs))
    ]
    top = max(map(max, [bound, *lines])) - 1.0 or 0.1
    axes.fill_between(along, 1.0 - top, bound, color=OTHERS, alpha=0.35, linewidth=0)
    for place, values in enumerate(lines):
        axes.plot(along, values, **_line(place, len(lines)), clip_on=False, zorder=3)
    axes.axvline(1.0, color=INK, linewidth=0.8, linestyle="--")
    axes.annotate(
        "S_opt", (1.0, 1.0), xycoords=("data", "axes fraction"), xytext=(4, -9), textcoords="offset points", fontsize=8
    )
    axes.set_ylim(1.0 - 0.05 * top, 1.0 + 1.05 * top)
    axes.set_xlim(along[0], along[-1])
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title("Largest stretch" if what == "max" else "Mean stretch")
    axes.set_xlabel("capacity of the buffer, in S_opt")
    axes.set_ylabel("stretch: run time over run time without contention")
    scale = bytes_scale(limits, along[-1] * sweep.size)
    unit = sweep.size / scale.divisor

    def to_bytes(factor: Any) -> Any:
        return factor * unit

    def to_factor(amount: Any) -> Any:
        return amount / unit

    above = axes.secondary_xaxis("top", functions=(to_bytes, to_factor))
    above.tick_params(labelsize=_SMALL, length=2)
    above.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{significant(value)} {scale.unit}".rstrip()))


def _of(run: Buffered) -> Filling:
    if run.filling is None:
        raise ValueError("a picture of a run needs its filling: run it with timeline=True")
    return run.filling
