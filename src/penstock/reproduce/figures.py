"""The drawings that the papers' experiments share: lines, boxes and bars by name, in panels, with intervals.

All take what summaries hold: panels by title, in each panel values by name, and for each name numbers by x, the keys
being text. `widths` and `boxes` have the shape of the values. A name has one colour throughout a figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from penstock.report.parts.theme import FAINT, INK, label, look, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = Mapping[str, Mapping[str, Any]]  # name → x → number, or list of numbers
Panels = Mapping[str, Curves]

_GROUP = 0.76  # of the room between two places on the axis that boxes or bars of one place take


def lines(
    panels: Panels,
    *,
    x: str,
    y: str | Sequence[str],
    widths: Panels | None = None,
    bands: Panels | None = None,
    columns: int = 3,
    markers: bool = True,
    log: bool = False,
    at: float | None = None,
    share_y: bool = False,
) -> Figure:
    """A line for each name, with a band: of `widths` to both sides, or between the two ends that `bands` gives.

    `at` is a level worth a line of its own.
    """
    names = _names(panels)

    def draw(axes: Axes, title: str) -> None:
        place = _axis(axes, panels[title].values())
        for name, curve in panels[title].items():
            keys = sorted((key for key, value in curve.items() if _there(value)), key=place.__getitem__)
            across = [place[key] for key in keys]
            colour, marker = look(names.index(name))
            shape: dict[str, Any] = {"marker": marker, "markersize": 3.5} if markers else {}
            axes.plot(across, [curve[key] for key in keys], color=colour, linewidth=1.4, label=label(name), **shape)
            ends = [
                bands[title][name][key] if bands else _around(curve[key], _width(widths, title, name, key))
                for key in keys
            ]
            low, high = [each[0] for each in ends], [each[1] for each in ends]
            axes.fill_between(across, low, high, color=colour, alpha=0.18, linewidth=0)
        if log:
            axes.set_yscale("log")
        if at is not None:
            axes.axhline(at, color=INK, linewidth=0.8, linestyle="--")

    return _figure(panels, draw, x, y, columns=columns, share_y=share_y)


def boxes(panels: Panels, quantiles: Panels, *, x: str, y: str | Sequence[str], columns: int = 1) -> Figure:
    """Box plots side by side at every x (10 %, 25 %, 50 %, 75 %, 90 %), with a line through the means."""
    names = _names(panels)
    step = _GROUP / max(1, len(names))

    def draw(axes: Axes, title: str) -> None:
        keys = _keys(panels[title].values())
        for number, name in enumerate(names):
            colour, marker = look(number)
            shift = (number - (len(names) - 1) / 2) * step
            across = [place + shift for place, key in enumerate(keys)]
            means = [panels[title][name].get(key, math.nan) for key in keys]
            axes.plot(
                across, means, color=colour, linewidth=0.9, marker=marker, markersize=3, label=label(name), zorder=3
            )
            for place, key in zip(across, keys, strict=True):
                _box(axes, place, quantiles[title][name][key], 0.8 * step, colour)
        for place in range(1, len(keys)):
            axes.axvline(place - 0.5, color=FAINT, linewidth=0.6)
        _spread(axes, keys)

    return _figure(panels, draw, x, y, columns=columns, wide=max(4.6, 1.3 * len(_all_keys(panels))))


def bars(
    panels: Panels,
    *,
    x: str,
    y: str | Sequence[str],
    widths: Panels | None = None,
    columns: int = 2,
    at: float | None = None,
    share_y: bool = False,
) -> Figure:
    """A bar for each name at every x, with its interval; `at` is a level worth a line of its own."""
    names = _names(panels)
    step = _GROUP / max(1, len(names))

    def draw(axes: Axes, title: str) -> None:
        keys = _keys(panels[title].values())
        for number, name in enumerate(names):
            curve = panels[title].get(name, {})
            shift = (number - (len(names) - 1) / 2) * step
            axes.bar(
                [place + shift for place in range(len(keys))],
                [curve.get(key, math.nan) for key in keys],
                0.92 * step,
                yerr=[_width(widths, title, name, key) for key in keys] if widths else None,
                error_kw={"elinewidth": 0.8, "ecolor": INK},
                color=look(number)[0],
                label=label(name),
            )
        _spread(axes, keys)
        if at is not None:
            axes.axhline(at, color=INK, linewidth=0.8, linestyle="--")

    return _figure(panels, draw, x, y, columns=columns, share_y=share_y)


def _figure(
    panels: Panels,
    draw: Callable[[Axes, str], None],
    x: str,
    y: str | Sequence[str],
    *,
    columns: int,
    wide: float = 4.0,
    share_y: bool = False,
) -> Figure:
    """Panels row by row, a title on each if there are several, and one legend for all."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - drawing is rare and matplotlib slow to import

    with theme():
        across = min(columns, len(panels))
        down = math.ceil(len(panels) / across)
        figure = Figure(figsize=(max(5.0, wide * across) + 2.0, 2.9 * down + 0.4), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False, sharey=share_y).ravel()
        texts = [y] * len(panels) if isinstance(y, str) else y
        for place, (axes, title, text) in enumerate(zip(grid, panels, texts, strict=False)):
            draw(axes, title)
            if len(panels) > 1:
                axes.set_title(label(title, 60))
            if place + across >= len(panels):
                axes.set_xlabel(x)
            if place % across == 0 or not share_y:
                axes.set_ylabel(text)
            axes.grid(axis="y", color=FAINT, linewidth=0.6)
            axes.set_axisbelow(True)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        _legend(figure, across)
        return figure


def _legend(figure: Figure, across: int) -> None:
    """One for all panels, if there is anything to tell apart; rows that have no name in common have their own."""
    rows = [_handles(figure.axes[first : first + across]) for first in range(0, len(figure.axes), across)]
    whole = {name: handle for row in rows for name, handle in row.items()}
    if len(whole) <= 1:
        return
    if not any(before and after and not before.keys() & after.keys() for before, after in pairwise(rows)):
        figure.legend(whole.values(), whole.keys(), loc="outside right upper")
        return
    for number, row in enumerate(rows):
        if number == 0 or not row.keys() & rows[number - 1].keys():
            beside = figure.axes[min(len(figure.axes), (number + 1) * across) - 1]
            beside.legend(row.values(), row.keys(), loc="upper left", bbox_to_anchor=(1.02, 1.0))


def _handles(panels: Sequence[Axes]) -> dict[str, Any]:
    """What is drawn in some panels, by name."""
    pairs = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in panels]
    return {name: handle for each in pairs for handle, name in each}


def _box(axes: Axes, place: float, quantiles: Sequence[float], width: float, colour: str) -> None:
    line = {"color": colour, "linewidth": 0.8}
    low, first, middle, third, high = quantiles
    axes.bxp(
        [{"whislo": low, "q1": first, "med": middle, "q3": third, "whishi": high, "fliers": []}],
        positions=[place],
        widths=width,
        showfliers=False,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": (*_rgb(colour), 0.25), "edgecolor": colour, "linewidth": 0.8},
        whiskerprops=line,
        capprops=line,
        medianprops=line,
    )


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _axis(axes: Axes, curves: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Where each x is: at its number if all are numbers, else one after the other."""
    keys = _keys(curves)
    try:
        return {key: float(key) for key in keys}
    except ValueError:
        _spread(axes, keys)
        return {key: float(place) for place, key in enumerate(keys)}


def _spread(axes: Axes, keys: Sequence[str]) -> None:
    long = any(len(key) > 8 for key in keys) and len(keys) > 3
    axes.set_xticks(
        range(len(keys)), [label(key) for key in keys], rotation=25 if long else 0, ha="right" if long else "center"
    )
    axes.set_xlim(-0.6, len(keys) - 0.4)


def _keys(curves: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for curve in curves for key in curve))


def _all_keys(panels: Panels) -> list[str]:
    return _keys(curve for curves in panels.values() for curve in curves.values())


def _names(panels: Panels) -> list[str]:
    return list(dict.fromkeys(name for curves in panels.values() for name in curves))


def _around(value: float, width: float) -> tuple[float, float]:
    return value - width, value + width


def _width(widths: Panels | None, title: str, name: str, key: str) -> float:
    found = (widths or {}).get(title, {}).get(name, {}).get(key)
    return float(found) if found is not None and math.isfinite(found) else 0.0


def _there(value: Any) -> bool:
    return value is not None and math.isfinite(value)
