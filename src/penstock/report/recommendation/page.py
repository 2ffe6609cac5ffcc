"""A recommendation as a part of the report of a comparison."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from penstock.report.campaign.table import interval_cells
from penstock.report.parts.elements import cell, head, inline, table
from penstock.report.parts.quantities import fixed
from penstock.report.recommendation.plot import recommendation_figure
from penstock.report.recommendation.table import difference_cells, measure_words, recommendation_lines

if TYPE_CHECKING:
    from penstock.campaign.recommendation import Recommendation

__all__ = ["WORDS", "recommendation_lines", "section"]

WORDS = (
    (
        "variant",
        "The scenario with every phase longer or shorter at random. All policies are run on the same variants.",
    ),
    (
        "95 % interval",
        "Where the mean would lie on other variants, by 10,000 samples drawn anew from these. A difference whose "
        "interval holds 0 is a tie.",
    ),
    (
        "chosen",
        "The best of many is partly the luckiest. So a policy is chosen on one half of the variants, and compared on "
        "the other half, which is the one shown.",
    ),
)


def section(choice: Recommendation) -> str:
    """The figure, and every policy on the variants that the one chosen was measured on."""
    names = ("policy", measure_words(choice), "95 % interval", "difference to chosen", "95 % interval")
    rows = []
    for each in choice.policies:
        mean, ends = interval_cells(each.mean, fixed)
        difference, apart = difference_cells(each)
        mark = "best" if each.sharing == choice.recommended else ""
        cells = [cell(each.sharing, mark=mark), cell(mean, each.mean.mean), cell(ends)]
        cells += [cell(difference, each.difference.mean), cell(apart)]
        cells += [cell("/".join(f"{count:,}" for count in each.tally) if each.verdict else "")]
        rows.append(f"<tr>{''.join(cells)}{cell(each.verdict or 'chosen', mark='verdict')}</tr>")
    heads = [*(head(name) for name in (*names, "won/tied/lost")), head("verdict", mark="verdict")]
    alt = f"{measure_words(choice)} of every policy less that of {choice.chosen}, with intervals"
    return (
        f"<h2>Recommendation for {escape(choice.goal)}</h2>"
        f"{inline(recommendation_figure(choice), 'recommendation', alt)}"
        f"{table('recommendation', heads, rows, f'On {len(choice.measuring)} variants, best first.')}"
    )
