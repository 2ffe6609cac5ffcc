"""Plots of a burst buffer: what it holds over time, why it must be that large, and its size against other choices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from penstock.report.parts.groups import GROUP_COLOURS, groups_of
from penstock.report.parts.quantities import Scale, rate_scale, significant
from penstock.report.parts.theme import COLOURS, FAINT, INK, OTHERS, WAITING, WAITING_PALE, label, theme
from penstock.report.parts.time_axis import time_axis
from penstock.report.sizing.table import bytes_scale, money, shown
from penstock.studies.sizing.replay import usage_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.kernels.arrays import Floats, Ints
    from penstock.studies.sizing import SizeCurve, Sizing
    from penstock.studies.sizing.traffic import Limits

_MOST_TIMES = 1500  # drawn as they are; beyond, the highest and the lowest of every few
_BINS = 600
_MARKED = 4  # bursts
_BEHIND = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8}  # of words that lie on bars


class _Usage(NamedTuple):
    """What the buffer holds, by groups of applications, at the times that are drawn."""

    times: Floats
    layers: Floats  # groups × times
    names: list[str]
    taken: Floats  # held, or set aside for those that run


def usage_figure(sizing: Sizing) -> Figure:
    """What the buffer holds, stacked by application, above what applications ask of the file system meanwhile."""
    with theme():
        figure = Figure(figsize=(8.8, 6.4), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
        usage = _usage(sizing)
        _draw_usage(upper, sizing, usage)
        _draw_demand(lower, sizing)
        for axes in (upper, lower):
            _mark_bursts(axes, sizing)
        begin, end = float(usage.times[0]), float(usage.times[-1])
        lower.set_xlim(begin, end)
        time_axis(lower, begin, end)
        upper.set_title(_title(sizing))
        _legend(figure, sizing, usage)
        return figure


def curve_figure(curve: SizeCurve, limits: Limits) -> Figure:
    """The smallest buffer against the speed of the file system, what both cost, and against the stretch accepted."""
    priced = curve.now.cost is not None
    with theme():
        figure = Figure(figsize=(13.0 if priced else 8.8, 4.2), layout="constrained")
        panels = figure.subplots(1, 3 if priced else 2)
        scale = bytes_scale(limits, curve.most)
        _draw_bandwidth(panels[0], curve, scale)
        _draw_stretch(panels[1], curve, bytes_scale(limits, curve.stretch[0].size))
        if priced:
            _draw_costs(panels[2], curve)
        for axes in panels:
            axes.grid(color=FAINT, linewidth=0.6)
            axes.set_axisbelow(True)
            axes.set_ylim(bottom=0.0)
        return figure


def _usage(sizing: Sizing) -> _Usage:
    traffic, peaks = sizing.traffic, np.array(list(sizing.peaks.values()))
    held, taken = np.zeros(traffic.events.size), np.zeros((2, traffic.count))
    interval = np.arange(traffic.count)
    for index, own in enumerate(usage_of(sizing.schedule, traffic)):
        held += own
        ends = np.array([own[:-1], own[1:]])
        if sizing.partition == "static" and sizing.shares:
            runs = (traffic.begin[index] <= interval) & (interval < traffic.end[index])
            ends = np.where(runs, sizing.shares[traffic.names[index]], ends)
        taken += ends
    shown_at = thinned(held)
    groups, names = groups_of(traffic.names, peaks)
    layers = np.zeros((len(names), shown_at.size))
    for index, own in enumerate(usage_of(sizing.schedule, traffic)):
        layers[groups[index]] += np.maximum(0.0, own[shown_at])
    before, after = np.append(0.0, taken[1]), np.append(taken[0], 0.0)
    return _Usage(traffic.events[shown_at], layers, names, np.maximum(before, after)[shown_at])


def thinned(held: Floats) -> Ints:
    """Which events are drawn: all, or of every few the one with the most in the buffer and the one with the least."""
    count = held.size
    if count <= _MOST_TIMES:
        return np.arange(count)
    step = math.ceil(2 * count / _MOST_TIMES)
    starts = range(0, count, step)
    chosen = {0, count - 1}
    for start in starts:
        part = held[start : start + step]
        chosen |= {start + int(part.argmax()), start + int(part.argmin())}
    return np.array(sorted(chosen))


def draw_level(axes: Axes, height: float, words: str) -> None:
    """A dashed line across, with what it means above its right end."""
    axes.axhline(height, color=INK, linewidth=1, linestyle="--")
    axes.annotate(
        words,
        (1, height),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontsize=8,
    )


def _draw_usage(axes: Axes, sizing: Sizing, usage: _Usage) -> None:
    top = sizing.size or float(usage.layers.sum(axis=0).max()) or 1.0
    scale = bytes_scale(sizing.traffic.limits, top)
    axes.stackplot(usage.times, usage.layers / scale.divisor, colors=GROUP_COLOURS[: len(usage.names)], linewidth=0)
    if sizing.partition == "static":
        axes.plot(usage.times, usage.taken / scale.divisor, color=INK, linewidth=0.9, linestyle=":")
    draw_level(axes, sizing.size / scale.divisor, f"smallest buffer: {shown(sizing, sizing.size)}")
    axes.set_ylim(0, 1.14 * top / scale.divisor)
    axes.set_ylabel(f"held in the buffer ({scale.unit})" if scale.unit else "held in the buffer")
    axes.yaxis.set_major_locator(MaxNLocator(6))


def _draw_demand(axes: Axes, sizing: Sizing) -> None:
    """Writes upward and reads downward, as applications ask for them, with what the file system can do."""
    traffic = sizing.traffic
    dense = traffic.count > _BINS
    edges = np.linspace(traffic.events[0], traffic.events[-1], _BINS + 1) if dense else traffic.events
    demand = {way: traffic.demand(way) for way in (False, True)}
    finite = [limit for limit in traffic.limits if math.isfinite(limit)]
    busiest = max(float((amount / traffic.seconds).max(initial=0.0)) for amount in demand.values())
    scale = rate_scale(max(finite, default=busiest))
    for way, amount in demand.items():
        sign, colour = (-1.0, COLOURS[3]) if way else (1.0, OTHERS)
        if dense:
            most = _highest_rate(traffic.events, amount / traffic.seconds, edges)
            axes.stairs(sign * most / scale.divisor, edges, fill=True, color=colour, alpha=0.4, linewidth=0)
        mean = _mean_rate(traffic.events, amount, edges)
        axes.stairs(sign * mean / scale.divisor, edges, fill=True, color=colour, linewidth=0)
        limit = traffic.limits.read if way else traffic.limits.write
        if amount.any() and math.isfinite(limit):
            words = f"file system {'reads' if way else 'writes'} {scale.show(limit)}"
            _draw_limit(axes, sign * limit / scale.divisor, words)
    notes = [f"file system, both together: {scale.show(traffic.limits.joint)}"] if traffic.joint_binds else []
    notes += ["dark: mean, pale: highest"] if dense else []
    axes.annotate(
        "\n".join(notes), (1, 0.99), xycoords="axes fraction", ha="right", va="top", fontsize=7.5, bbox=_BEHIND
    )
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: significant(abs(value))))
    axes.yaxis.set_major_locator(MaxNLocator(6))
    unit = f" ({scale.unit})" if scale.unit else ""
    ways = [word for way, word in ((True, "← read"), (False, "write →")) if demand[way].any()]
    axes.set_ylabel(f"asked for{unit}\n{'    '.join(ways)}")


def _draw_limit(axes: Axes, height: float, words: str) -> None:
    axes.axhline(height, color=WAITING, linewidth=1)
    axes.annotate(
        words,
        (0.005, height),
        xycoords=("axes fraction", "data"),
        xytext=(0, math.copysign(2, height)),
        textcoords="offset points",
        va="top" if height < 0.0 else "bottom",
        fontsize=7.5,
        color=WAITING,
        bbox=_BEHIND,
    )


def _mean_rate(events: Floats, amount: Floats, edges: Floats) -> Floats:
    moved = np.concatenate([[0.0], np.cumsum(amount)])
    rates: Floats = np.diff(np.interp(edges, events, moved)) / np.diff(edges)
    return rates


def _highest_rate(events: Floats, rate: Floats, edges: Floats) -> Floats:
    """The highest rate between neighbouring edges."""
    cuts = np.union1d(events, edges)
    there = rate[np.clip(np.searchsorted(events, cuts[:-1], side="right") - 1, 0, rate.size - 1)]
    highest: Floats = np.maximum.reduceat(there, np.searchsorted(cuts, edges[:-1]))
    return highest


def _mark_bursts(axes: Axes, sizing: Sizing) -> None:
    bursts = [burst for burst in sizing.proof.bursts if burst.direction != "port"]
    for burst in bursts[:_MARKED]:
        axes.axvspan(burst.begin, burst.end, facecolor=WAITING_PALE, zorder=0, linewidth=0.8, edgecolor=WAITING)


def _title(sizing: Sizing) -> str:
    whose = f"{label(sizing.traffic.names[0])} alone" if sizing.partition == "isolated" else sizing.partition
    return f"{whose}: {shown(sizing, sizing.size)} so that nobody waits ({sizing.method})"


def _legend(figure: Figure, sizing: Sizing, usage: _Usage) -> None:
    handles: list[Patch | Line2D] = [
        Patch(facecolor=GROUP_COLOURS[i], label=name) for i, name in enumerate(usage.names)
    ]
    if sizing.partition == "static":
        handles.append(
            Line2D([], [], color=INK, linestyle=":", linewidth=0.9, label="held, or set aside for those that run")
        )
    if sizing.proof.bursts:
        handles.append(Patch(facecolor=WAITING_PALE, edgecolor=WAITING, label="bursts that force the size"))
    figure.legend(handles=handles, loc="outside lower left", ncols=5)


def _sizes(curve: SizeCurve) -> Floats:
    """The sizes for other speeds; NaN where there is none."""
    return np.array([np.nan if point.size is None else point.size for point in curve.bandwidth])


def _draw_bandwidth(axes: Axes, curve: SizeCurve, scale: Scale) -> None:
    rate = rate_scale(curve.now.bandwidth)
    across = [point.bandwidth / rate.divisor for point in curve.bandwidth]
    axes.plot(across, _sizes(curve) / scale.divisor, "o-", color=COLOURS[0], markersize=4)
    now, today = curve.now, curve.stretch[0].size
    axes.plot(now.bandwidth / rate.divisor, today / scale.divisor, "o", color=INK, markersize=7)
    axes.annotate(
        f"today: {scale.show(today)}",
        (now.bandwidth / rate.divisor, today / scale.divisor),
        xytext=(6, 8),
        textcoords="offset points",
    )
    axes.set_title("Smallest buffer by file system (exact)")
    axes.set_xlabel(f"bandwidth of the file system ({rate.unit})" if rate.unit else "bandwidth of the file system")
    axes.set_ylabel(f"{curve.partition} buffer ({scale.unit})" if scale.unit else f"{curve.partition} buffer")


def _draw_stretch(axes: Axes, curve: SizeCurve, scale: Scale) -> None:
    along = [point.stretch for point in curve.stretch]
    bound = [point.bound / scale.divisor for point in curve.stretch]
    enough = [point.size / scale.divisor for point in curve.stretch]
    axes.fill_between(along, bound, enough, color=FAINT, linewidth=0)
    axes.plot(along, enough, "o-", color=COLOURS[0], markersize=4, label="heuristic: this much is enough")
    axes.plot(along, bound, "v--", color=WAITING, markersize=4, label="bound: nothing below will do")
    axes.plot(along[0], enough[0], "o", color=INK, markersize=7, label="exact")
    axes.legend(loc="upper right")
    axes.set_title("If everybody may take longer")
    axes.set_xlabel("stretch: run time over run time without contention")
    axes.set_ylabel(f"{curve.partition} buffer ({scale.unit})" if scale.unit else f"{curve.partition} buffer")


def _draw_costs(axes: Axes, curve: SizeCurve) -> None:
    rate = rate_scale(curve.now.bandwidth)
    across = np.array([point.bandwidth for point in curve.bandwidth])
    sizes = _sizes(curve)
    buffer = (curve.prices.per_tb or 0.0) * sizes / 1e12
    system = (curve.prices.per_gbs or 0.0) * across / 1e9
    axes.stackplot(
        across / rate.divisor,
        system,
        buffer,
        colors=[OTHERS, COLOURS[0]],
        labels=["file system", "buffer"],
        linewidth=0,
    )
    best = int(np.nanargmin(buffer + system))
    whole = float(buffer[best] + system[best])
    axes.plot(across[best] / rate.divisor, whole, "v", color=INK, markersize=8, clip_on=False)
    axes.annotate(
        f"cheapest: {money(whole)}",
        (across[best] / rate.divisor, whole),
        xytext=(2, 9),
        textcoords="offset points",
        bbox=_BEHIND,
    )
    axes.set_ylim(0.0, 1.3 * float(np.nanmax(buffer + system)) or 1.0)
    axes.set_xlim(across[0] / rate.divisor, across[-1] / rate.divisor)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: money(value)))
    axes.legend(loc="upper left")
    axes.set_title("Cost of both")
    axes.set_xlabel(f"bandwidth of the file system ({rate.unit})" if rate.unit else "bandwidth of the file system")
