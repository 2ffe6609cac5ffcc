"""The plot of a choice: by how much every policy differs from the one chosen, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from penstock.campaign.summary import TIE
from penstock.report.parts.theme import COLOURS, FAINT, INK, OTHERS, label, theme
from penstock.report.recommendation.table import measure_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.campaign.recommendation import Recommendation

_RECOMMENDED, _TIED = COLOURS[2], COLOURS[0]


def recommendation_figure(choice: Recommendation) -> Figure:
    """The recommendation by itself."""
    with theme():
        figure = Figure(figsize=(7.5, max(2.4, 1.3 + 0.28 * len(choice.policies))), layout="constrained")
        draw_recommendation(figure.subplots(), choice)
        return figure


def draw_recommendation(axes: Axes, choice: Recommendation) -> None:
    """A row for each policy, best first; where an interval crosses the line, nobody can tell which is better."""
    for row, each in enumerate(choice.policies):
        recommended = each.sharing == choice.recommended
        colour = _RECOMMENDED if recommended else _TIED if each.verdict in (TIE, None) else OTHERS
        mean, low, high = each.difference
        axes.plot([low, high], [row, row], color=colour, linewidth=2.5, solid_capstyle="round", alpha=0.7)
        axes.plot([mean], [row], color=colour, marker="*" if recommended else "o", markersize=11 if recommended else 5)
    axes.axvline(0.0, color=INK, linestyle="--", linewidth=1)
    axes.set_yticks(range(len(choice.policies)), [label(each.sharing) for each in choice.policies])
    axes.set_ylim(len(choice.policies) - 0.5, -0.5)
    axes.margins(x=0.08)
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{measure_words(choice)} less that of {label(choice.chosen)} on the same variant")
    axes.set_title(f"For {choice.goal}: {label(choice.recommended)} (★)", pad=18)
    words = f"mean and 95 % interval, {len(choice.measuring)} variants; {_better(choice)}"
    axes.annotate(words, (0, 1), xytext=(0, 3), xycoords="axes fraction", textcoords="offset points", fontsize=8)


def _better(choice: Recommendation) -> str:
    return "better →" if choice.metric.best > 0 else "← better"
