"""The plot of a campaign: every plan's mean with its interval, against a setting or side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from penstock.report.parts.theme import FAINT, label, look, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.campaign import Entry

_COLUMNS = 3
_MOST_PANELS = 12
_UNITS = {"capacity": "bytes", "size": "bytes"} | dict.fromkeys(
    ("bound", "elapsed", "end", "interval", "makespan", "makespan_alone", "seconds"), "s"
)
_ROWS_NOTE = "mean; thick: its 95 % interval; thin: 5 % to 95 % of runs"


def campaign_figure(entries: Sequence[Entry], x: str | None = None) -> Figure:
    """One metric: lines over `x` where it is given, else a row for each plan; a panel for each group of the rest."""
    with theme():
        panels = panels_of(entries, x)
        columns = min(_COLUMNS, len(panels))
        rows = math.ceil(len(panels) / columns)
        plans = list(dict.fromkeys(entry.plan for entry in entries))
        height = 3.6 if x else max(2.4, 1.2 + 0.28 * len(plans))
        size = (max(6.5, 4.2 * columns), height * rows + 0.3)
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        for axes, (title, members) in zip(grid, panels.items(), strict=False):
            _draw_lines(axes, members, plans, x) if x else _draw_rows(axes, members, plans)
            axes.set_title(label(title, 60))
            axes.grid(color=FAINT, linewidth=0.6, axis="both" if x else "x")
            axes.set_axisbelow(True)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        if not x:
            note(figure, _ROWS_NOTE)
        else:
            figure.legend(*grid[0].get_legend_handles_labels(), loc="outside right upper", title="mean, 95 % interval")
        return figure


def metric_label(name: str) -> str:
    """A metric in words, with its unit where it has one.

    >>> metric_label("min_yield"), metric_label("makespan")
    ('min yield', 'makespan (s)')
    """
    unit = f" ({_UNITS[name]})" if name in _UNITS else ""
    return label(name.replace("_", " ") + unit, 40)


def note(figure: Figure, words: str) -> None:
    """What all panels have to be read by, once below them."""
    figure.supxlabel(words, fontsize=8, x=0.99, ha="right")


def panels_of(entries: Sequence[Entry], x: str | None) -> dict[str, list[Entry]]:
    """The entries of each group, by its name; what is on the axis does not count."""
    panels: dict[str, list[Entry]] = {}
    for entry in entries:
        title = ", ".join(f"{name} {value}" for name, value in entry.group.items() if name != x)
        panels.setdefault(title, []).append(entry)
    return dict(list(panels.items())[:_MOST_PANELS])


def _draw_lines(axes: Axes, entries: Sequence[Entry], plans: Sequence[str], x: str) -> None:
    places = list(dict.fromkeys(entry.group[x] for entry in entries))
    numeric = all(isinstance(place, int | float) and not isinstance(place, bool) for place in places)
    for number, plan in enumerate(plans):
        own = [entry for entry in entries if entry.plan == plan]
        at = [entry.group[x] if numeric else places.index(entry.group[x]) for entry in own]
        order = sorted(range(len(own)), key=at.__getitem__)
        own, at = [own[i] for i in order], [at[i] for i in order]
        colour, marker = look(number)
        axes.plot(at, [entry.mean.mean for entry in own], color=colour, marker=marker, markersize=4, label=label(plan))
        axes.fill_between(
            at,
            [entry.mean.low for entry in own],
            [entry.mean.high for entry in own],
            color=colour,
            alpha=0.18,
            linewidth=0,
        )
    if not numeric:
        axes.set_xticks(range(len(places)), [label(str(place)) for place in places])
    axes.set_xlabel(label(x))
    axes.set_ylabel(metric_label(entries[0].metric))


def _draw_rows(axes: Axes, entries: Sequence[Entry], plans: Sequence[str]) -> None:
    for number, plan in enumerate(plans):
        for entry in (each for each in entries if each.plan == plan):
            colour, marker = look(number)
            spread = [entry.quantiles[0.05], entry.quantiles[0.95]]
            axes.plot(spread, [number, number], color=colour, linewidth=1, alpha=0.6)
            if not math.isnan(entry.mean.low):
                axes.plot([entry.mean.low, entry.mean.high], [number, number], color=colour, linewidth=4, alpha=0.6)
            axes.plot([entry.mean.mean], [number], color=colour, marker=marker, markersize=6)
    axes.set_yticks(range(len(plans)), [label(plan) for plan in plans])
    axes.set_ylim(len(plans) - 0.5, -0.5)
    axes.set_xlabel(metric_label(entries[0].metric))
