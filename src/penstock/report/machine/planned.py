"""A plan as a table: what every decision is worth, and what was found in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from penstock.metrics.goals import LOWERED
from penstock.report.parts.quantities import fixed, percent
from penstock.report.parts.titled_table import titled_table

if TYPE_CHECKING:
    from penstock.studies.planning import Contribution, Planned

_ROUNDING = 1e-9  # less than that part of a value is none
WORDS = {
    "node_hours_lost": "node-hours lost",
    "min_yield": "min yield",
    "efficiency": "efficiency",
    "utilization": "utilization",
    "max_stretch": "max stretch",
    "mean_stretch": "mean stretch",
}


def planned_table(planned: Planned) -> Table:
    """One row per decision that was open, the one that is worth most standing out."""
    table = titled_table(planned_words(planned))
    table.add_column("decision", no_wrap=True)
    table.add_column("if left as it is unasked", overflow="fold")
    for heading in (WORDS[planned.metric], "worth"):
        table.add_column(heading, justify="right", no_wrap=True)
    most = max((each.worth or 0.0 for each in planned.contributions), default=0.0)
    for each in planned.contributions:
        style = "bold green" if each.worth and each.worth == most else ""
        worth = Text(_worth(each, planned), style=style)
        table.add_row(each.decision, each.unasked, amount(each.without, planned.metric), worth)
    return table


def _worth(each: Contribution, planned: Planned) -> str:
    """How much worse the metric is without the decision, and as a part of what is there with nothing decided."""
    if each.worth is None:
        return "–"
    if abs(each.worth) <= _ROUNDING * abs(planned.value or 1.0):
        return "nothing"
    share = f" ({percent(each.worth / abs(planned.unasked))})" if planned.unasked else ""
    return f"{amount(each.worth, planned.metric)}{share}"


def amount(value: float | None, metric: str) -> str:
    """A value of a metric."""
    if value is None:
        return "–"
    if metric != "node_hours_lost":
        return fixed(value)
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.4g}"


def planned_words(planned: Planned) -> str:
    """What was found, in one line."""
    value, before = amount(planned.value, planned.metric), amount(planned.unasked, planned.metric)
    return f"{WORDS[planned.metric]} {value}, with nothing decided {before}"


def planned_lines(planned: Planned) -> list[str]:
    """How it was found, how far the search got, and what each decision is."""
    start = ", ".join(planned.start) or "what is there unasked"
    lines = [
        yardstick_line(planned),
        f"Start: {start}: {WORDS[planned.metric]} {amount(planned.started, planned.metric)}. "
        f"{planned.trials:,} runs of the whole machine, seed {planned.seed}.",
    ]
    if planned.interrupted:
        lines.append("Interrupted: this is the best until then.")
    if planned.value is not None and planned.value == planned.started and not planned.interrupted:
        lines.append(_no_better(planned))
    direction = "lower" if planned.metric in LOWERED else "higher"
    together = sum(each.worth or 0.0 for each in planned.contributions)
    whole = _whole(planned)
    if whole is not None and whole > 0.0:
        lines.append(
            f"Together they are worth {amount(whole, planned.metric)} ({direction} is better); one by one "
            f"{amount(together, planned.metric)}: decisions make up for each other where the sum is less."
        )
    return lines


def _no_better(planned: Planned) -> str:
    if planned.searched:
        return f"Of {planned.searched:,} single changes none made it better than the start."
    return "Nothing but the start was tried; --improve 5min or --trials 100 looks for something better."


def yardstick_line(planned: Planned) -> str:
    """What all plans were judged by, and why a run of this one shows other numbers."""
    used = amount(planned.result.node_hours_used, "node_hours_lost")
    own = f"{WORDS[planned.metric]} {amount(getattr(planned.result, planned.metric), planned.metric)}"
    return (
        f"All plans are judged alike: {planned.yardstick.words}. A run of this plan says {own}, of {used} "
        f"node-hours used: it measures by what applications have alone under this plan."
    )


def _whole(planned: Planned) -> float | None:
    if planned.value is None or planned.unasked is None:
        return None
    return abs(planned.unasked - planned.value)
