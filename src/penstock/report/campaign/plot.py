"""The plot of a campaign: every plan's mean with its interval, against a setting or side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.figure import Figure

from penstock.model.tabular import in_words
from penstock.report.parts.theme import FAINT, OTHERS, label, look, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.campaign import Entry

_COLUMNS = 3
_MOST_PANELS = 12
_UNITS = {"capacity": "bytes", "size": "bytes"} | dict.fromkeys(
    ("bound", "elapsed", "end", "interval", "makespan", "makespan_alone", "seconds"), "s"
)
_ROWS_NOTE = "mean; thick: its 95 % interval; thin: 5 % to 95 % of runs"


class Looks(NamedTuple):
    """What a paper wants otherwise than we would draw it."""

    size: tuple[float, float] | None = None  # inches
    title: str | None = None
    highlight: frozenset[str] = frozenset()  # plans in colour, all others grey; none: all in colour
    best: int | None = None  # sorted by their means, with more (1) or less (-1) being better; None: as in the campaign

    def figure(self, usual: tuple[float, float]) -> Figure:
        """An empty one of that size and with that title."""
        figure = Figure(figsize=self.size or usual, layout="constrained")
        if self.title:
            figure.suptitle(label(self.title, 120), x=0.01, ha="left", fontweight="bold")
        return figure

    def plans(self, entries: Sequence[Entry]) -> dict[str, tuple[str, str]]:
        """Colour and marker of each plan, in the order in which they are drawn; a plan keeps its look when sorted."""
        names = list(dict.fromkeys(entry.plan for entry in entries))
        looks = {name: self._look(name, number) for number, name in enumerate(names)}
        if self.best is None:
            return looks
        means = {name: _mean(entries, name) for name in names}
        best = self.best
        return {name: looks[name] for name in sorted(names, key=lambda name: -best * means[name])}

    def _look(self, plan: str, number: int) -> tuple[str, str]:
        colour, marker = look(number)
        return (colour if not self.highlight or plan in self.highlight else OTHERS), marker


USUAL = Looks()


def _mean(entries: Sequence[Entry], plan: str) -> float:
    """Over all groups; a plan without values comes last."""
    means = [entry.mean.mean for entry in entries if entry.plan == plan and not math.isnan(entry.mean.mean)]
    return sum(means) / len(means) if means else math.inf


def campaign_figure(entries: Sequence[Entry], x: str | None = None, looks: Looks = USUAL) -> Figure:
    """One metric: lines over `x` where it is given, else a row for each plan; a panel for each group of the rest."""
    with theme():
        panels = panels_of(entries, x)
        columns = min(_COLUMNS, len(panels))
        rows = math.ceil(len(panels) / columns)
        plans = looks.plans(entries)
        height = 3.6 if x else max(2.4, 1.2 + 0.28 * len(plans))
        figure = looks.figure((max(6.5, 4.2 * columns), height * rows + 0.3))
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
            handles, labels = _told_apart(grid[0].get_legend_handles_labels(), looks)
            figure.legend(handles, labels, loc="outside right upper", title="mean, 95 % interval")
        return figure


def _told_apart(drawn: tuple[list[Any], list[Any]], looks: Looks) -> tuple[list[Any], list[str]]:
    """What a legend lists: all plans, or those in colour and one line for all others, which would leave no room."""
    named = {label(plan) for plan in looks.highlight}
    shown = [pair for pair in zip(*drawn, strict=True) if not named or pair[1] in named]
    others = [(handle, "others") for handle, text in zip(*drawn, strict=True) if named and text not in named]
    listed = [*shown, *others[:1]]
    return [handle for handle, _ in listed], [text for _, text in listed]


def metric_label(name: str) -> str:
    """A metric in words, with its unit where it has one.

    >>> metric_label("min_yield"), metric_label("makespan")
    ('min yield', 'makespan (s)')
    """
    unit = f" ({_UNITS[name]})" if name in _UNITS else ""
    return label(in_words(name) + unit, 40)


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


def _draw_lines(axes: Axes, entries: Sequence[Entry], plans: Mapping[str, tuple[str, str]], x: str) -> None:
    places = list(dict.fromkeys(entry.group[x] for entry in entries))
    numeric = all(isinstance(place, int | float) and not isinstance(place, bool) for place in places)
    for plan, (colour, marker) in plans.items():
        own = [entry for entry in entries if entry.plan == plan]
        at = [entry.group[x] if numeric else places.index(entry.group[x]) for entry in own]
        order = sorted(range(len(own)), key=at.__getitem__)
        own, at = [own[i] for i in order], [at[i] for i in order]
        drawn: dict[str, Any] = {
            "color": colour,
            "marker": marker,
            "markersize": 4,
            "zorder": 2.0 if colour == OTHERS else 3.0,
        }
        axes.plot(at, [entry.mean.mean for entry in own], **drawn, label=label(plan))
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


def _draw_rows(axes: Axes, entries: Sequence[Entry], plans: Mapping[str, tuple[str, str]]) -> None:
    for number, (plan, (colour, marker)) in enumerate(plans.items()):
        for entry in (each for each in entries if each.plan == plan):
            spread = [entry.quantiles[0.05], entry.quantiles[0.95]]
            axes.plot(spread, [number, number], color=colour, linewidth=1, alpha=0.6)
            if not math.isnan(entry.mean.low):
                axes.plot([entry.mean.low, entry.mean.high], [number, number], color=colour, linewidth=4, alpha=0.6)
            axes.plot([entry.mean.mean], [number], color=colour, marker=marker, markersize=6)
    axes.set_yticks(range(len(plans)), [label(plan) for plan in plans])
    axes.set_ylim(len(plans) - 0.5, -0.5)
    axes.set_xlabel(metric_label(entries[0].metric))
