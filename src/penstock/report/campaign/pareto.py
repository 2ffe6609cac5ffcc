"""Two metrics of a campaign against each other: who is better in one only by being worse in the other.

A point for each plan, with the intervals of both means. A line joins the plans that nobody beats in both means at once.
Plans far from the others would squeeze all the rest into a corner: they are drawn at the edge, with their values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.report.campaign.labels import Label, place_labels
from penstock.report.campaign.plot import USUAL, Looks, metric_label, note, panels_of
from penstock.report.parts.theme import FAINT, OTHERS, label, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from penstock.campaign import Entry
    from penstock.campaign.statistics import Interval

COLUMNS = 2
FAR = 10.0  # median distances from the median beyond which a value is drawn at the edge
MARGIN = 0.08  # of the axes, around what is shown
REACH = 1.0  # how far beyond the outermost means intervals are followed, times the distance between those


class PlanPoint(NamedTuple):
    """A plan: its colour and marker, and its mean and interval in both metrics."""

    look: tuple[str, str]
    plan: str
    x: Interval
    y: Interval


def pareto_figure(entries: Sequence[Entry], best: tuple[int, int], looks: Looks = USUAL) -> Figure:
    """The first metric of `entries` upwards and the last to the right; `best`: whether more (1) or less (-1) is better.

    A panel for each group. If neither more nor less of a metric is better (0), no line is drawn.
    """
    upwards, across = entries[0].metric, entries[-1].metric
    plans = looks.plans([entry for entry in entries if entry.metric == upwards])
    with theme():
        panels = panels_of(entries, None)
        columns = min(COLUMNS, len(panels))
        rows = math.ceil(len(panels) / columns)
        figure = looks.figure((max(7.0, 5.2 * columns), (5.0 if rows == 1 else 4.2) * rows))
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        drawn = []
        for axes, (title, members) in zip(grid, panels.items(), strict=False):
            points = _points(members, plans, upwards, across)
            axes.set_title(label(title, 60))
            axes.set_xlabel(metric_label(across))
            axes.set_ylabel(metric_label(upwards))
            axes.grid(color=FAINT, linewidth=0.6)
            axes.set_axisbelow(True)
            drawn.append((axes, points, _draw(axes, points, best)))
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        note(figure, _note(best, any(_is_outside(axes, point) for axes, points, _ in drawn for point in points)))
        # Labels need to know where everything is, and must not move it.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for axes, points, lines in drawn:
            place_labels(axes, [_label(axes, point) for point in points], lines)
        return figure


def _points(
    entries: Sequence[Entry], plans: Mapping[str, tuple[str, str]], upwards: str, across: str
) -> list[PlanPoint]:
    """The plans that have both metrics."""
    found = {(entry.plan, entry.metric): entry.mean for entry in entries}
    every = [PlanPoint(look, plan, found[plan, across], found[plan, upwards]) for plan, look in plans.items()]
    return [point for point in every if not math.isnan(point.x.mean + point.y.mean)]


def unbeaten(points: Sequence[tuple[float, float]], best: tuple[int, int]) -> list[int]:
    """Which of some (x, y) no other beats in both, by rising x; `best` is for y, then x.

    >>> unbeaten([(0.9, 0.5), (0.8, 0.7), (0.7, 0.6)], (1, 1))
    [1, 0]
    """
    good = [(best[1] * x, best[0] * y) for x, y in points]
    free = [
        i
        for i, (x, y) in enumerate(good)
        if not any(a >= x and b >= y and (a, b) != (x, y) for j, (a, b) in enumerate(good) if j != i)
    ]
    return sorted(free, key=lambda i: points[i])


def limits(values: Sequence[Interval]) -> tuple[float, float]:
    """Ends of an axis that show all means but those far from the rest, and intervals that are not too long."""
    near = _near(values)
    low, high = min(each.mean for each in near), max(each.mean for each in near)
    reach = REACH * (high - low) or math.inf
    lowest = max(low - reach, min([low, *(each.low for each in near if each.low < low)]))
    highest = min(high + reach, max([high, *(each.high for each in near if each.high > high)]))
    margin = MARGIN * (highest - lowest) or 0.01 * max(abs(high), 1e-9)
    return lowest - margin, highest + margin


def _near(values: Sequence[Interval]) -> list[Interval]:
    """Those whose means are not far from the rest."""
    means = np.array([each.mean for each in values])
    away = np.abs(means - np.median(means))
    usual = float(np.median(away))
    return [each for each, far in zip(values, away > FAR * usual, strict=True) if usual == 0.0 or not far]


def _draw(axes: Axes, points: Sequence[PlanPoint], best: tuple[int, int]) -> list[list[tuple[float, float]]]:
    """Points, bars and the line; all lines that labels keep clear of."""
    if not points:
        return []
    axes.set_xlim(*limits([point.x for point in points]))
    axes.set_ylim(*limits([point.y for point in points]))
    lines = []
    if all(best):
        means = [(point.x.mean, point.y.mean) for point in points]
        front = [means[i] for i in unbeaten(means, best)]
        axes.plot(*zip(*front, strict=True), color=OTHERS, linewidth=1.2, zorder=1)
        lines.append([_inside(axes, x, y) for x, y in front])
    for point in points:
        colour, marker = point.look
        x, y = _inside(axes, point.x.mean, point.y.mean)
        if _is_outside(axes, point):
            axes.plot(x, y, marker=_arrow(axes, point), color=colour, markersize=7, clip_on=False, zorder=3)
            continue
        across, up = _bar(point.x), _bar(point.y)
        axes.errorbar(x, y, xerr=across, yerr=up, color=colour, marker=marker, markersize=5, linewidth=1, zorder=2)
        lines += [[(x - across[0, 0], y), (x + across[1, 0], y)], [(x, y - up[0, 0]), (x, y + up[1, 0])]]
    return lines


def _note(best: tuple[int, int], arrows: bool) -> str:
    """What the marks mean, of those that there are."""
    pieces = ["mean and 95 % interval of each plan"]
    pieces += ["line: no other is better in both"] if all(best) else []
    pieces += ["arrow: further out, at the value in brackets"] if arrows else []
    return "; ".join(pieces)


def _bar(interval: Interval) -> Floats:
    """How far an interval reaches below and above its mean; nowhere if there is none."""
    reach: Floats = np.nan_to_num(np.array([[interval.mean - interval.low], [interval.high - interval.mean]]))
    return reach


def _inside(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """The place nearest to a point that the axes show."""
    return float(np.clip(x, *axes.get_xlim())), float(np.clip(y, *axes.get_ylim()))


def _is_outside(axes: Axes, point: PlanPoint) -> bool:
    return _inside(axes, point.x.mean, point.y.mean) != (point.x.mean, point.y.mean)


def _arrow(axes: Axes, point: PlanPoint) -> str:
    """A marker that points to where a point is."""
    x, y = _inside(axes, point.x.mean, point.y.mean)
    if y == point.y.mean:
        return "<" if point.x.mean < x else ">"
    return "v" if point.y.mean < y else "^"


def _label(axes: Axes, point: PlanPoint) -> Label:
    x, y = _inside(axes, point.x.mean, point.y.mean)
    far = [f"{value:.3g}" for value, shown in ((point.x.mean, x), (point.y.mean, y)) if value != shown]
    words = f" ({', '.join(far)})" if far else ""
    return Label(label(point.plan) + words, x, y, point.look[0])
