"""The plot of a recommendation: by how much every policy differs from the one chosen, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from penstock.campaign.summary import TIE
from penstock.report.parts.theme import COLOURS, FAINT, INK, OTHERS, label, theme
from penstock.report.recommendation.table import measure_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.campaign.recommendation import Advice

_RECOMMENDED, _TIED = COLOURS[2], COLOURS[0]


def advice_figure(advice: Advice) -> Figure:
    """The recommendation by itself."""
    with theme():
        figure = Figure(figsize=(7.5, max(2.4, 1.3 + 0.28 * len(advice.policies))), layout="constrained")
        draw_advice(figure.subplots(), advice)
        return figure


def draw_advice(axes: Axes, advice: Advice) -> None:
    """A row for each policy, best first; where an interval crosses the line, nobody can tell which is better."""
    for row, each in enumerate(advice.policies):
        recommended = each.sharing == advice.recommended
        colour = _RECOMMENDED if recommended else _TIED if each.verdict in (TIE, None) else OTHERS
        mean, low, high = each.difference
        axes.plot([low, high], [row, row], color=colour, linewidth=2.5, solid_capstyle="round", alpha=0.7)
        axes.plot([mean], [row], color=colour, marker="*" if recommended else "o", markersize=11 if recommended else 5)
    axes.axvline(0.0, color=INK, linestyle="--", linewidth=1)
    axes.set_yticks(range(len(advice.policies)), [label(each.sharing) for each in advice.policies])
    axes.set_ylim(len(advice.policies) - 0.5, -0.5)
    axes.margins(x=0.08)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{measure_words(advice)} less that of {label(advice.chosen)} on the same variant")
    axes.set_title(f"For {advice.goal}: {label(advice.recommended)} (★)", pad=18)
    words = f"mean and 95 % interval, {len(advice.measuring)} variants; {_better(advice)}"
    axes.annotate(words, (0, 1), xytext=(0, 3), xycoords="axes fraction", textcoords="offset points", fontsize=8)


def _better(advice: Advice) -> str:
    return "better →" if advice.metric.best > 0 else "← better"
