"""A recommendation in words, and the table that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from penstock.campaign.summary import BETTER, TIE, WORSE
from penstock.model.tabular import in_words
from penstock.report.campaign.table import interval_cells
from penstock.report.parts.fitting_table import Column, FittingTable, cells
from penstock.report.parts.quantities import fixed

if TYPE_CHECKING:
    from penstock.campaign.recommendation import PolicyStanding, Recommendation
    from penstock.campaign.statistics import Interval

_NAMED = 4
_BEST = "bold green"
_STYLES = {BETTER: _BEST, WORSE: "red", TIE: "dim"}
_LEAST = 5e-5  # what four decimals can show


def recommendation_table(choice: Recommendation, most: int | None = None) -> FittingTable:
    """The policies on the variants that the one chosen was measured on, best first.

    Of more than `most`, the best, and those that the sentences below it name.
    """
    shown = standings(choice, most)
    means, ends = zip(*(interval_cells(each.mean, fixed) for each in shown), strict=True)
    differences, apart = zip(*(difference_cells(each) for each in shown), strict=True)
    verdicts = [Text(each.verdict or "chosen", style=_STYLES.get(each.verdict or "", "")) for each in shown]
    names = [Text(each.sharing, style=_BEST if each.sharing == choice.recommended else "") for each in shown]
    columns = [
        Column("policy", names, right=False),
        Column("mean", cells(means)),
        Column("95 % interval", cells(ends), 1),
        Column("difference\nto chosen", cells(differences)),
        Column("95 % interval", cells(apart), 2),
        Column("", verdicts),
    ]
    return FittingTable(f"{measure_words(choice)}, {_count(choice)} each", columns)


def standings(choice: Recommendation, most: int | None) -> list[PolicyStanding]:
    """The best so many policies, each outcome once, and those that are recommended, chosen, or in use."""
    if most is None:
        return list(choice.policies)
    needed = (choice.recommended, choice.chosen, choice.against)
    named = {each.mean for each in choice.policies if each.sharing in needed}
    first = {each.mean: each.sharing for each in reversed(choice.policies) if each.mean not in named}
    once = [each for each in choice.policies if each.sharing in (*needed, *first.values())]
    return [each for each in once if each in once[:most] or each.sharing in needed]


def difference_cells(standing: PolicyStanding) -> list[str]:
    """The difference to the policy chosen, and its interval; nothing for that policy itself."""
    return interval_cells(standing.difference, number, "+") if standing.verdict else ["", ""]


def recommendation_lines(choice: Recommendation) -> list[str]:
    """What is recommended, and how that was found out."""
    return [_verdict_line(choice), *_more_line(choice), _method_line(choice)]


def measure_words(choice: Recommendation) -> str:
    """The metric of the goal, as people call it."""
    return in_words(choice.metric.name)


def number(value: float) -> str:
    """Four decimals, but not to say 0 of what is a little more."""
    return f"{value:.1e}" if 0.0 < abs(value) < _LEAST else fixed(value)


def _verdict_line(choice: Recommendation) -> str:
    if choice.significant:
        found = f"Recommended for {choice.goal}: {choice.recommended}, {_over(choice, choice.lead, choice.next_best)}"
        if choice.next_best == choice.against:
            return f"{found}, the next best, on {_count(choice)}."
        now = f", and {_over(choice, choice.gain, choice.against)}" if choice.gain else ""
        return f"{found}, the next best{now}, on {_count(choice)}."
    if choice.overtaken:
        found = (
            f"No clear winner in {measure_words(choice)}: {choice.chosen} was best on the variants it was chosen on, "
            f"{_some(choice.overtaken)} on the others"
        )
    else:
        found = f"No significant difference in {measure_words(choice)} between {_some(choice.tied)} on {_count(choice)}"
    if choice.gain is None:
        return f"{found}; {choice.recommended} is the simplest, as nothing need be changed."
    return f"{found}; {choice.recommended} is the simplest with {_over(choice, choice.gain, choice.against)}."


def _more_line(choice: Recommendation) -> list[str]:
    """Whether more variants could tell apart what ties."""
    if not any(each.verdict == TIE and (each.tally.wins or each.tally.losses) for each in choice.policies):
        return []
    return [f"More variants may tell them apart: --variants {4 * len(choice.seeds)}."]


def _method_line(choice: Recommendation) -> str:
    assumed = " (assumed, since the scenario has none; --noise gives another)" if choice.assumed else ""
    return (
        f"Chosen on {len(choice.choosing)} variants of the scenario and measured on {len(choice.measuring)} others, "
        f"the same for every policy: each phase times 1 ± {choice.noise:g} at random{assumed}, seeds "
        f"{_span(choice.choosing)} and {_span(choice.measuring)}."
    )


def _over(choice: Recommendation, interval: Interval, other: str) -> str:
    plus = "+" if interval.mean > 0.0 else ""
    ends = f"{number(interval.low)} to {number(interval.high)}"
    return f"{plus}{number(interval.mean)} ({ends}) {'over' if choice.metric.best > 0 else 'against'} {other}"


def _count(choice: Recommendation) -> str:
    return f"{len(choice.measuring)} variants"


def _span(seeds: range) -> str:
    return f"{seeds[0]} to {seeds[-1]}"


def _some(names: Sequence[str]) -> str:
    shown = [*names[:_NAMED], f"{len(names) - _NAMED} more"] if len(names) > _NAMED + 1 else list(names)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
