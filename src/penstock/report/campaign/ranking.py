"""A ranking of plans as a table, in LaTeX, and a campaign in three sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from penstock.model.tabular import in_words
from penstock.report.campaign.latex import escaped, number
from penstock.report.campaign.table import Show, interval_cells, number_format
from penstock.report.parts.fitting_table import Column, FittingTable
from penstock.report.parts.quantities import NOTHING, percent

if TYPE_CHECKING:
    from penstock.campaign import Entry
    from penstock.campaign.ranking import RankedPlan, Ranking

_NAMED = 3
_HEADS = ("mean rank", "best in", "mean", "95 % interval", "p against the first")


def p_words(p: float | None) -> str:
    """A p-value as papers print it.

    >>> p_words(0.0312), p_words(2e-7), p_words(None)
    ('0.031', '< 0.001', '–')
    """
    if p is None:
        return NOTHING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def ranking_table(ranking: Ranking) -> FittingTable:
    """The best plan first; whoever cannot be told from it is marked."""
    show = _show(ranking)
    rows = [_cells(ranking, each, show) for each in ranking.plans]
    columns = [list(column) for column in zip(*rows, strict=True)]
    heads = ["", "plan", "mean\nrank", "best in", "mean", "95 % interval", "p against\nthe first", ""]
    spare = {"95 % interval": 2, "best in": 1}
    leaders = ranking.leaders
    styles = ["bold green" if each in leaders else "" for each in ranking.plans]
    return FittingTable(
        f"{ranking.headline()}, best first by mean rank",
        [
            Column(
                head,
                [Text(cell, style=style if place == 1 else "") for cell, style in zip(cells, styles, strict=True)],
                spare.get(head, 0),
                right=place not in (1, len(heads) - 1),
            )
            for place, (head, cells) in enumerate(zip(heads, columns, strict=True))
        ],
    )


def _cells(ranking: Ranking, each: RankedPlan, show: Show) -> list[str]:
    said = "" if each.place == 1 else each.verdict or NOTHING
    best = percent(each.best_in / ranking.scenarios)
    return [
        f"{each.place}",
        each.plan,
        f"{each.mean_rank:.2f}",
        best,
        *interval_cells(each.mean, show),
        p_words(each.p),
        said,
    ]


def ranking_lines(ranking: Ranking) -> list[str]:
    """What the ranking says, and on what it rests."""
    first, others = ranking.plans[0], ranking.leaders[1:]
    if not ranking.pairs:
        return [f"{first.plan} has the best mean rank; one seed says nothing about luck."]
    lines = [_leading(ranking)]
    if not _too_few(ranking) and others:
        lines.append("A tie is not the same as equal: more seeds may tell these apart.")
    lines.append(
        f"Wilcoxon's signed ranks over {ranking.seeds} seeds, two-sided; "
        f"Holm's correction for {len(ranking.pairs)} pairs."
    )
    return lines


def _too_few(ranking: Ranking) -> str:
    """A sentence where so few seeds could tell no two of so many plans apart, whatever they had shown."""
    lowest = 2.0 * len(ranking.pairs) / 2.0**ranking.seeds
    if lowest < 0.05:
        return ""
    return (
        f"With {ranking.seeds} seeds and {len(ranking.pairs)} pairs no difference can be more than luck "
        f"(the lowest p is {min(1.0, lowest):.2f}); draw more seeds."
    )


def _leading(ranking: Ranking) -> str:
    """Who is first, and who may be as good."""
    first, others = ranking.plans[0], [each.plan for each in ranking.leaders[1:]]
    place = f"mean rank {first.mean_rank:.2f} of {len(ranking.plans)}"
    head = f"{first.plan} has the best {in_words(ranking.metric)} over all ({place})"
    if not ranking.pairs:
        return f"{head}; one seed says nothing about luck."
    if not others:
        return f"{head}, and every other plan is behind it by more than luck (p < 0.05, Holm)."
    if few := _too_few(ranking):
        return f"{head}. {few}"
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return f"{head}; {', '.join(others[:_NAMED])}{more} cannot be told from it (p ≥ 0.05, Holm)."


def in_short(ranking: Ranking, overall: Sequence[Entry]) -> str:
    """A campaign in three sentences: who leads, what that is worth against the reference, and who is last."""
    show, first, last = _show(ranking), ranking.plans[0], ranking.plans[-1]
    compared = [entry.against for entry in overall if entry.plan == first.plan and entry.against]
    if compared:
        mean, ends = interval_cells(compared[0].difference, show, "+")
        worth = f"On average over all workloads that is {mean} against {compared[0].plan} ({ends})."
    else:
        worth = f"Its mean is {show(first.mean.mean)}; it is the plan that others are compared with."
    ground = f"{ranking.scenarios:,} scenarios and {ranking.seeds:,} seeds"
    return f"{_leading(ranking)} {worth} Last is {last.plan}, mean rank {last.mean_rank:.2f}, of {ground}."


def latex_ranking(ranking: Ranking) -> str:
    """The ranking for a paper that has the package booktabs; the leading group is bold."""
    show = _show(ranking)
    lines = [f"% {ranking.metric}, {ranking.seeds} seeds; Wilcoxon signed ranks, Holm-corrected"]
    lines += [r"\begin{tabular}{rlrrrrr}", r"\toprule"]
    lines += [f"{' & '.join(['', 'plan', *map(escaped, _HEADS)])} \\\\", r"\midrule"]
    for each in ranking.plans:
        place, plan, *cells = _cells(ranking, each, show)[:-1]
        name = rf"\textbf{{{escaped(plan)}}}" if each in ranking.leaders else escaped(plan)
        lines.append(f"{' & '.join([place, name, *(number(cell).replace('< ', '$<$ ') for cell in cells)])} \\\\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _show(ranking: Ranking) -> Show:
    return number_format(ranking.plans)
