"""The plots of advice, one for each answer: demand over time, the groups, sizes of a buffer, and what is unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

from penstock.report.advice.words import value_words
from penstock.report.parts.quantities import duration
from penstock.report.parts.theme import COLOURS, FAINT, INK, OTHERS, WAITING, label, theme
from penstock.report.parts.time_axis import time_axis

if TYPE_CHECKING:
    from penstock.advise import Advice
    from penstock.advise.buffers import BufferAnswer
    from penstock.advise.estimate import Estimate
    from penstock.advise.policies import PolicyGain, TieGroup

_GROUP, _PLAIN = COLOURS[2], COLOURS[0]
_HOUR = 3600.0


def demand_figure(advice: Advice) -> Figure:
    """What jobs ask for by the hour against the bandwidth, and who loses most."""
    with theme():
        figure = Figure(figsize=(9.5, 3.0), layout="constrained")
        losers = advice.contention.losers
        if losers:
            left, right = figure.subplots(1, 2, width_ratios=[2.6, 1.0])
            _losers(right, losers, advice.contention.node_hours is not None)
        else:
            left = figure.subplots()
        _demand(left, advice)
        return figure


def group_figure(found: TieGroup, marked: bool) -> Figure:
    """Every policy against the one in use: worst yield, and node-hours where nodes are known."""
    with theme():
        hours = any(each.node_hours_gain is not None for each in found.policies)
        height = max(2.2, 1.0 + 0.27 * len(found.policies))
        figure = Figure(figsize=(9.5, height), layout="constrained")
        panels = figure.subplots(1, 2 if hours else 1, sharey=True, squeeze=False)[0]
        _gains(
            panels[0],
            found,
            marked,
            lambda each: each.min_yield_gain,
            f"worst yield of a day, less that of {found.against}",
        )
        if hours:
            _gains(panels[1], found, marked, lambda each: each.node_hours_gain, "node-hours saved a day")
        panels[0].set_yticks(range(len(found.policies)), [label(each.name) for each in found.policies])
        panels[0].set_ylim(len(found.policies) - 0.5, -0.5)
        groups = "green: nobody can tell them apart; grey: harms the other goal; " if marked else ""
        words = f"{groups}mean and 95 % interval"
        panels[0].set_title(words, fontweight="normal", fontsize=9)
        return figure


def buffer_figure(found: BufferAnswer) -> Figure:
    """What buffers gain by their size."""
    with theme():
        figure = Figure(figsize=(7.5, 2.8), layout="constrained")
        axes = figure.subplots()
        gains = [size.gain(found.goal) for size in found.sizes]
        drains = [size.drain_seconds for size in found.sizes]
        axes.fill_between(drains, [g.low for g in gains], [g.high for g in gains], color=_PLAIN, alpha=0.2, linewidth=0)
        axes.plot(drains, [g.value for g in gains], color=_PLAIN, marker="o", markersize=4)
        if found.chosen:
            place = found.chosen.drain_seconds
            axes.plot([place], [found.chosen.gain(found.goal).value], color=_GROUP, marker="*", markersize=13)
        axes.axhline(0.0, color=INK, linewidth=0.8, linestyle="--")
        axes.set_xscale("log")
        axes.set_xticks(drains, [duration(each) for each in drains])
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.tick_params(axis="x", which="minor", length=0)
        axes.grid(color=FAINT, linewidth=0.5)
        axes.set_axisbelow(True)
        axes.set_xlabel("size, as the time that the file system takes to drain it")
        axes.set_ylabel(_goal_words(found.goal))
        axes.set_title(
            "★ the smallest with 90 % of what the largest gains" if found.chosen else "no size is clear of 0"
        )
        return figure


def tornado_figure(advice: Advice) -> Figure:
    """Every unknown: what the policy shown gains at either end, with intervals, and what it gains as assumed."""
    with theme():
        rows, base = advice.sensitivity, advice.tried.gain
        figure = Figure(figsize=(9.5, max(2.0, 1.2 + 0.55 * len(rows))), layout="constrained")
        axes = figure.subplots()
        axes.axvspan(base.low, base.high, color=_PLAIN, alpha=0.12, linewidth=0)
        axes.axvline(base.value, color=_PLAIN, linewidth=1.2)
        axes.axvline(0.0, color=INK, linewidth=0.9, linestyle="--")
        for number, each in enumerate(rows):
            colour = WAITING if each.changes_answer else OTHERS
            for shift, gain, end in ((-0.17, each.gain_start, each.start), (0.17, each.gain_end, each.end)):
                axes.plot([gain.low, gain.high], [number + shift] * 2, color=colour, linewidth=2.2, alpha=0.7)
                axes.plot([gain.value], [number + shift], color=colour, marker="o", markersize=4)
                axes.annotate(
                    value_words(each, end), (1.0, number + shift), (4, 0), xycoords=("axes fraction", "data"),
                    textcoords="offset points", va="center", fontsize=7.5, annotation_clip=False,
                )  # fmt: skip
        axes.set_yticks(range(len(rows)), [each.unknown.name for each in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(axis="x", color=FAINT, linewidth=0.5)
        axes.set_axisbelow(True)
        axes.set_xlabel(f"{advice.tried.of} against {advice.tried.against}: {_goal_words(advice.tried.goal)}")
        axes.set_title("band: as assumed; red: the answer would be another", fontweight="normal", fontsize=9)
        return figure


def _demand(axes: Axes, advice: Advice) -> None:
    found = advice.contention.demand
    edges = np.append(found.begin, found.begin[-1] + _HOUR)
    share = np.append(found.share, found.share[-1])
    axes.fill_between(edges, share, step="post", color=COLOURS[0], linewidth=0, alpha=0.85)
    highest = float(found.share.max())
    if highest > 0.25:
        axes.axhline(1.0, color=WAITING, linestyle="--", linewidth=1.0)
        axes.annotate("bandwidth", (0.0, 1.0), (4, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
                      fontsize=8, color=WAITING)  # fmt: skip
    axes.set_xlim(float(edges[0]), float(edges[-1]))
    axes.set_ylim(0.0, 1.12 * max(highest, 1.0 if highest > 0.25 else 1e-9))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
    axes.grid(axis="y", color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
    time_axis(axes, float(edges[0]), float(edges[-1]))
    what = "asked for" if advice.data.run_time_error is None else "moved"
    axes.set_title(f"{what}, by the hour, of the bandwidth")


def _losers(axes: Axes, losers: Sequence[tuple[str, float]], nodes: bool) -> None:
    values = [lost for _, lost in losers]
    axes.barh(range(len(losers)), values, color=WAITING, alpha=0.75, height=0.6)
    axes.set_yticks(range(len(losers)), [label(name, 20) for name, _ in losers])
    axes.set_ylim(len(losers) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_title(f"{'node' if nodes else 'job'}-hours lost")


def _gains(
    axes: Axes, found: TieGroup, marked: bool, gain: Callable[[PolicyGain], Estimate | None], words: str
) -> None:
    for row, each in enumerate(found.policies):
        estimate = gain(each)
        if estimate is None:
            continue
        colour = _GROUP if marked and each.tied else OTHERS if each.harms else _PLAIN
        axes.plot(
            [estimate.low, estimate.high], [row, row], color=colour, linewidth=2.5, alpha=0.7, solid_capstyle="round"
        )
        axes.plot([estimate.value], [row], color=colour, marker="o", markersize=5)
    axes.axvline(0.0, color=INK, linewidth=0.9, linestyle="--")
    axes.grid(axis="x", color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.margins(x=0.08)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:+g}" if value else "0"))
    axes.set_xlabel(f"{words} →")


def _goal_words(goal: str) -> str:
    return "gain in worst yield" if goal == "min-yield" else "node-hours saved a day"
