"""The plot of profiles: bandwidth over the number of targets, class by class, with what each class has in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from penstock.report.parts.quantities import Scale, percent, significant
from penstock.report.parts.theme import COLOURS, FAINT, INK, label, theme
from penstock.report.profiles.table import origin_words, profile_scale, shown_counts
from penstock.studies.profiles import CLASSES, class_profiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.studies.profiles import ClassProfile, Profiles
    from penstock.studies.profiles.profiles import Profile

_COLOUR = dict(zip(CLASSES, (COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[4]), strict=True))
_NAMED = 6  # members of a class; more names would hide the curves
_MARKED = 12


def profiles_figure(profiles: Profiles) -> Figure:
    """A panel per class that has members: these faint, the function of the class bold."""
    with theme():
        classes = class_profiles(profiles)
        figure = Figure(figsize=(max(4.8, 1.0 + 1.9 * len(classes)), 4.0), layout="constrained")
        panels = figure.subplots(1, len(classes), sharex=True, sharey=True, squeeze=False)[0]
        scale = profile_scale(profiles)
        for axes, each in zip(panels, classes.values(), strict=True):
            _draw_class(axes, each, profiles, scale)
        _axes(panels[0], profiles, scale)
        applications = f"{len(profiles):,} application{'s' if len(profiles) != 1 else ''}"
        figure.suptitle(f"{applications}, {origin_words(profiles)}", x=0.01, ha="left", fontsize=10)
        _legend(figure, profiles)
        return figure


def _draw_class(axes: Axes, each: ClassProfile, profiles: Profiles, scale: Scale) -> None:
    colour = _COLOUR[each.name]
    # Many curves are each nearly transparent, so that where they crowd is where it is dark.
    faint = max(0.22, min(0.6, 6.0 / len(each.members)))
    curves = [_points(profiles[name], scale) for name in each.members]
    axes.add_collection(LineCollection(curves, colors=colour, alpha=faint, linewidths=0.9))
    if len(each.members) <= _MARKED:
        _mark(axes, each, profiles, scale)
    if 1 < len(each.members) <= _NAMED:
        _name(axes, each, profiles, scale)
    common = _points(each.bandwidth, scale)
    axes.plot(*zip(*common, strict=True), color="white", linewidth=5.0, solid_capstyle="round")
    axes.plot(
        *zip(*common, strict=True), color=colour, linewidth=2.6, marker="o", markersize=5, markeredgecolor="white"
    )
    share = percent(len(each.members) / len(profiles))
    only = (
        label(each.members[0], 20) if len(each.members) == 1 else f"{len(each.members):,} of {len(profiles):,}, {share}"
    )
    axes.set_title(each.name, pad=18)
    axes.annotate(only, (0.0, 1.0), (0, 5), xycoords="axes fraction", textcoords="offset points", fontsize=8)
    axes.set_xlabel("targets")
    axes.grid(color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)


def _mark(axes: Axes, each: ClassProfile, profiles: Profiles, scale: Scale) -> None:
    """A dot where it was measured, a ring where it was fitted."""
    for name in each.members:
        fitted = profiles.fitted.get(name, ())
        for n, rate in _points(profiles[name], scale):
            face = "white" if n in fitted else _COLOUR[each.name]
            axes.plot(n, rate, "o", markersize=3.2, markerfacecolor=face, markeredgecolor=_COLOUR[each.name], alpha=0.6)


def _name(axes: Axes, each: ClassProfile, profiles: Profiles, scale: Scale) -> None:
    """Names where the curves begin, readable above the lines that cross them."""
    for name in each.members:
        place = _points(profiles[name], scale)[0]
        named = axes.annotate(label(name, 16), place, (4, 4), textcoords="offset points", fontsize=7, zorder=5)
        named.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def _axes(axes: Axes, profiles: Profiles, scale: Scale) -> None:
    """Both axes are logarithmic, as the fit is; they are shared, so that it is enough to set one panel's."""
    counts = profiles.counts
    rates = [rate / scale.divisor for profile in profiles.values() for rate in profile.values()]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(counts[0] / 1.15, counts[-1] * 1.15)
    axes.set_ylim(min(rates) / 1.4, max(rates) * 1.4)
    axes.set_xticks(_ticks(counts), [str(n) for n in _ticks(counts)])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=_steps(max(rates) / min(rates))))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: significant(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(f"bandwidth ({scale.unit})" if scale.unit else "bandwidth")


def _steps(span: float) -> tuple[int, ...]:
    """Which multiples of a power of ten are written; the less the curves span, the more."""
    if span > 30:
        return (1, 3)
    return (1, 2, 5) if span > 6 else tuple(range(1, 10))


def _ticks(counts: tuple[int, ...]) -> list[int]:
    """Counts that stand apart on a logarithmic axis."""
    ticks = [counts[0]]
    for n in counts:
        if n >= 1.3 * ticks[-1]:
            ticks.append(n)
    return list(shown_counts(ticks))


def _legend(figure: Figure, profiles: Profiles) -> None:
    handles = [
        Line2D([], [], color=INK, linewidth=0.9, alpha=0.5, label="an application"),
        Line2D([], [], color=INK, linewidth=2.6, marker="o", markersize=5, label="what its class has in common"),
    ]
    if profiles.fitted:
        handles.append(Line2D([], [], linewidth=0, marker="o", markersize=4, label="not measured"))
        handles[-1].set(markerfacecolor="white", markeredgecolor=INK)
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles))


def _points(profile: Profile, scale: Scale) -> list[tuple[int, float]]:
    return [(n, rate / scale.divisor) for n, rate in profile.items()]
