"""The plot of a comparison: how yields are spread under each policy, and what a good minimum costs in node-hours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from penstock.report.comparison.summary import best_bound
from penstock.report.parts.quantities import fixed, hours_scale
from penstock.report.parts.theme import COLOURS, FAINT, INK, label
from penstock.report.recommendation.plot import draw_recommendation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

    from penstock.campaign.recommendation import Recommendation
    from penstock.kernels.arrays import Floats
    from penstock.metrics.result import Result

_BOX_FROM = 5  # applications; fewer say more as dots alone
_MOST_DOTS = 3000  # beyond, dots become pixels
_POINT = 7.0  # room around a marker, in pixels
_SAME_PIXELS = 3.0  # points closer than this, in pixels, are one to the eye
_NEAR = 16.0  # a label further away than this gets a leader


def draw_comparison(results: Sequence[Result], recommendation: Recommendation | None = None) -> Figure:
    """Yields per policy; min yield against node-hours lost beside them; and a recommendation, if there is one."""
    widths = [1.15, 1.0] if recommendation is None else [1.15, 1.0, 0.9]
    rows = max(len(results), len(recommendation.policies) if recommendation else 0)
    figure = Figure(
        figsize=(11.0 if recommendation is None else 16.0, max(3.8, 1.5 + 0.36 * rows)), layout="constrained"
    )
    left, right, *third = figure.subplots(1, len(widths), width_ratios=widths)
    _draw_yields(left, results)
    if recommendation:
        draw_recommendation(third[0], recommendation)
    _name_points(figure, right, results, _draw_trade(right, results))
    return figure


def _colour(position: int) -> str:
    return COLOURS[position % len(COLOURS)]


def _draw_yields(axes: Axes, results: Sequence[Result]) -> None:
    dense = sum(len(result.applications) for result in results) > _MOST_DOTS
    for i, result in enumerate(results):
        yields = np.array([application.yield_ for application in result.applications])
        size = 9 if len(yields) >= _BOX_FROM else 36
        axes.scatter(
            yields, i + _jitter(len(yields)), s=size, color=_colour(i), alpha=0.7, linewidths=0, rasterized=dense
        )
        if len(yields) >= _BOX_FROM:
            _draw_box(axes, yields, i)
    lowest = min((application.yield_ for result in results for application in result.applications), default=0.0)
    axes.set_xlim(max(0.0, math.floor((lowest - 0.02) * 20) / 20), 1.01)
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.set_yticks(range(len(results)), [label(result.sharing) for result in results])
    boxed = any(len(result.applications) >= _BOX_FROM for result in results)
    axes.set_xlabel("yield (box: quartiles and median; whiskers: extremes)" if boxed else "yield")
    axes.set_title("Yield of every application", pad=18)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    bound = best_bound(results)
    axes.axvline(bound, color=INK, linestyle="--", linewidth=1)
    axes.annotate(
        f"bound on the minimum {fixed(bound)}",
        (bound, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha=_side(bound, axes.get_xlim()),
        fontsize=8,
    )


def _draw_box(axes: Axes, yields: Floats, row: int) -> None:
    line = {"color": INK, "linewidth": 0.9}
    axes.boxplot(
        [yields],
        positions=[row],
        orientation="horizontal",
        widths=0.62,
        showfliers=False,
        whis=(0, 100),
        boxprops=line,
        whiskerprops=line,
        capprops=line,
        medianprops={"color": INK, "linewidth": 2},
    )


def _side(value: float, limits: tuple[float, float]) -> str:
    """Where a label at a line goes so that it stays over the axes."""
    share = (value - limits[0]) / (limits[1] - limits[0])
    return "right" if share > 0.7 else "left" if share < 0.3 else "center"


def _jitter(count: int) -> Floats:
    """Even, repeatable scatter across a row: multiples of the golden ratio never pile up."""
    return 0.46 * ((np.arange(count, dtype=np.float64) * 0.6180339887498949) % 1.0 - 0.5)


def _draw_trade(axes: Axes, results: Sequence[Result]) -> list[Annotation]:
    """Draw all but the names of the points; what these must not cover."""
    lost, unit = _lost(results)
    lowest = [result.min_yield for result in results]
    bound = best_bound(results)
    shown = bound - max(lowest) <= max(2 * (max(lowest) - min(lowest)), 0.05)
    axes.scatter(lost, lowest, s=42, color=[_colour(i) for i in range(len(results))], zorder=3)
    left, right = _room(lost, least=0.01 * max(*lost, 1e-9))
    axes.set_xlim(max(left, -0.06 * right), right)  # nobody loses less than nothing
    bottom, top = _room([*lowest, bound] if shown else lowest)
    axes.set_ylim(max(bottom, -0.06), min(top, 1.04))  # no yield lies above 1 or below 0
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_locator(MaxNLocator(7))
    axes.set_xlabel(f"node-hours lost{unit}")
    axes.set_ylabel("min yield")
    axes.set_title("Min yield against node-hours lost", pad=18)
    return [_better(axes), _bound_line(axes, bound, shown=shown)]


def _lost(results: Sequence[Result]) -> tuple[list[float], str]:
    """Node-hours lost, in the unit that fits, and what the axis says of it."""
    scale = hours_scale(max(result.node_hours_lost for result in results))
    unit = {"M": " (millions)", "k": " (thousands)"}.get(scale.unit, "")
    return [result.node_hours_lost / scale.divisor for result in results], unit


def _better(axes: Axes) -> Annotation:
    return axes.annotate(
        "↖ better",
        (0, 1),
        xytext=(0, 3),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="left",
        fontsize=8,
        style="italic",
    )


def _bound_line(axes: Axes, bound: float, *, shown: bool) -> Annotation:
    """The bound as a line, or a word on where it is when showing it would squeeze the points together."""
    if shown:
        axes.axhline(bound, color=INK, linestyle="--", linewidth=1)
    return axes.annotate(
        f"bound {fixed(bound)}" if shown else f"bound {fixed(bound)}, above this range",
        (1, bound if shown else axes.get_ylim()[1]),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8,
    )


def _room(values: Sequence[float], least: float = 0.01) -> tuple[float, float]:
    """Limits that leave space for labels, also when all values are the same."""
    low, high = min(values), max(values)
    spare = max(0.22 * (high - low), least)
    return low - spare, high + spare


def _name_points(figure: Figure, axes: Axes, results: Sequence[Result], taken: Sequence[Annotation]) -> None:
    """Write every policy beside its point, at the nearest place that nothing else covers."""
    figure.draw_without_rendering()
    lost, _ = _lost(results)
    points = axes.transData.transform([(x, result.min_yield) for x, result in zip(lost, results, strict=True)])
    covered = [Bbox.from_bounds(x - _POINT, y - _POINT, 2 * _POINT, 2 * _POINT) for x, y in points]
    covered += [text.get_window_extent() for text in taken]
    pixels = figure.dpi / 72
    for members in _together(points):
        first = results[members[0]]
        text = axes.annotate(
            "\n".join(label(results[i].sharing) for i in members),
            (lost[members[0]], first.min_yield),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=8,
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 0.5, "alpha": 0.6, "shrinkA": 0, "shrinkB": 3},
        )
        text.set_in_layout(False)
        size = Text.get_window_extent(text)  # the label alone; an annotation would count its leader
        box, shift = _free_place(points[members[0]], size.width, size.height, covered, axes.bbox)
        covered.append(box)
        text.xyann = (shift[0] / pixels, shift[1] / pixels)
        gap = math.hypot(max(0, abs(shift[0]) - size.width / 2), max(0, abs(shift[1]) - size.height / 2))
        if text.arrow_patch is not None:
            text.arrow_patch.set_visible(gap > _NEAR)


def _together(points: Floats) -> list[list[int]]:
    """Points by position, those that the eye cannot tell apart under one label."""
    groups: list[list[int]] = []
    for i, point in enumerate(points):
        home = next((group for group in groups if math.dist(points[group[0]], point) < _SAME_PIXELS), None)
        if home is None:
            groups.append([i])
        else:
            home.append(i)
    return groups


def _free_place(
    point: Sequence[float], width: float, height: float, covered: Sequence[Bbox], inside: Bbox
) -> tuple[Bbox, tuple[float, float]]:
    """The first place, going outwards, where a label covers nothing and stays inside; the last if there is none."""
    for shift in _places(width, height):
        x, y = point[0] + shift[0], point[1] + shift[1]
        box = Bbox.from_bounds(x - width / 2, y - height / 2, width, height)
        held = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        if held and not any(box.overlaps(other) for other in covered):
            break
    return box, shift


def _places(width: float, height: float) -> Iterator[tuple[float, float]]:
    """Centres of a label around its point: right, left, above, below, then wider and wider circles."""
    for ring in range(24):
        away = _POINT + 3 + ring * height * 0.6
        for angle in (0, 180, 90, 270, 30, 150, 210, 330, 60, 120, 240, 300):
            across, up = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            yield across * (away + width / 2), up * (away + height / 2)
