"""A recommendation in words, and the table that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from penstock.campaign.summary import BETTER, TIE, WORSE
from penstock.report.campaign.table import interval_cells
from penstock.report.parts.quantities import fixed
from penstock.report.parts.titled_table import titled_table

if TYPE_CHECKING:
    from penstock.campaign.recommendation import Advice, Standing
    from penstock.campaign.statistics import Interval

_NAMED = 4
_BEST = "bold green"
_STYLES = {BETTER: _BEST, WORSE: "red", TIE: "dim"}
_LEAST = 5e-5  # what four decimals can show


def advice_table(advice: Advice) -> Table:
    """Every policy on the variants that the one chosen was measured on, best first."""
    table = titled_table(f"{measure_words(advice)}, {_count(advice)} each")
    table.add_column("policy", overflow="fold")
    for heading in ("mean", "95 % interval", "difference\nto chosen", "95 % interval", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in advice.policies:
        cells = [*interval_cells(each.mean, fixed), *difference_cells(each)]
        verdict = Text(each.verdict or "chosen", style=_STYLES.get(each.verdict or "", ""))
        name = Text(each.sharing, style=_BEST if each.sharing == advice.recommended else "")
        table.add_row(name, *map(Text, cells), verdict)
    return table


def difference_cells(standing: Standing) -> list[str]:
    """The difference to the policy chosen, and its interval; nothing for that policy itself."""
    return interval_cells(standing.difference, number, "+") if standing.verdict else ["", ""]


def advice_lines(advice: Advice) -> list[str]:
    """What is recommended, and how that was found out."""
    return [_verdict_line(advice), *_more_line(advice), _method_line(advice)]


def measure_words(advice: Advice) -> str:
    """The metric of the goal, as people call it."""
    return advice.metric.name.replace("_", " ")


def number(value: float) -> str:
    """Four decimals, but not to say 0 of what is a little more."""
    return f"{value:.1e}" if 0.0 < abs(value) < _LEAST else fixed(value)


def _verdict_line(advice: Advice) -> str:
    if advice.significant:
        found = f"Recommended for {advice.goal}: {advice.recommended}, {_over(advice, advice.lead, advice.next_best)}"
        if advice.next_best == advice.against:
            return f"{found}, the next best, on {_count(advice)}."
        now = f", and {_over(advice, advice.gain, advice.against)}" if advice.gain else ""
        return f"{found}, the next best{now}, on {_count(advice)}."
    if advice.overtaken:
        found = (
            f"No clear winner in {measure_words(advice)}: {advice.chosen} was best on the variants it was chosen on, "
            f"{_some(advice.overtaken)} on the others"
        )
    else:
        found = f"No significant difference in {measure_words(advice)} between {_some(advice.tied)} on {_count(advice)}"
    if advice.gain is None:
        return f"{found}; {advice.recommended} is the simplest, as nothing need be changed."
    return f"{found}; {advice.recommended} is the simplest with {_over(advice, advice.gain, advice.against)}."


def _more_line(advice: Advice) -> list[str]:
    """Whether more variants could tell apart what ties."""
    if not any(each.verdict == TIE and (each.tally.wins or each.tally.losses) for each in advice.policies):
        return []
    return [f"More variants may tell them apart: --variants {4 * len(advice.seeds)}."]


def _method_line(advice: Advice) -> str:
    assumed = " (assumed, since the scenario has none; --noise gives another)" if advice.assumed else ""
    return (
        f"Chosen on {len(advice.choosing)} variants of the scenario and measured on {len(advice.measuring)} others, "
        f"the same for every policy: each phase times 1 ± {advice.noise:g} at random{assumed}, seeds "
        f"{_span(advice.choosing)} and {_span(advice.measuring)}."
    )


def _over(advice: Advice, interval: Interval, other: str) -> str:
    plus = "+" if interval.mean > 0.0 else ""
    ends = f"{number(interval.low)} to {number(interval.high)}"
    return f"{plus}{number(interval.mean)} ({ends}) {'over' if advice.metric.best > 0 else 'against'} {other}"


def _count(advice: Advice) -> str:
    return f"{len(advice.measuring)} variants"


def _span(seeds: range) -> str:
    return f"{seeds[0]} to {seeds[-1]}"


def _some(names: Sequence[str]) -> str:
    shown = [*names[:_NAMED], f"{len(names) - _NAMED} more"] if len(names) > _NAMED + 1 else list(names)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
