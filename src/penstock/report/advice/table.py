"""Advice as tables for the terminal: the answers, the policies side by side, what would change them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from penstock.report.advice.words import answers, ends_words, estimate_cells
from penstock.report.parts.fitting_table import Column, FittingTable, cells

if TYPE_CHECKING:
    from penstock.advise import Advice


def advice_parts(advice: Advice, name: str) -> Iterator[FittingTable | Table | str]:
    """Everything that is printed."""
    yield f"{name}: advice from {advice.runs:,} runs"
    yield ""
    yield answers_table(advice)
    yield ""
    yield policies_table(advice)
    if advice.sensitivity:
        yield ""
        yield sensitivity_table(advice)
    yield from _listed("What we could not see", advice.not_seen)
    yield from _listed("What to measure next", advice.next)


def answers_table(advice: Advice) -> Table:
    """Questions at the left, answers and what they stand on at the right."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for each in answers(advice):
        ground = (f" [{each.ground}]", "dim") if each.ground else ""
        table.add_row(Text(each.question, style="bold"), Text.assemble(each.answer, ground))
    return table


def policies_table(advice: Advice) -> FittingTable:
    """Every policy against the one in use; where none is named, nobody is marked."""
    found = advice.tried
    yields = [estimate_cells(each.min_yield_gain, "yield") for each in found.policies]
    hours = [estimate_cells(each.node_hours_gain, "hours") for each in found.policies]
    columns = [
        Column("policy", cells(each.name for each in found.policies), right=False),
        Column("worst yield", cells(value for value, _ in yields)),
        Column("95 % interval", cells(ends for _, ends in yields), spare=2),
        Column("node-hours\nsaved a day", cells(value for value, _ in hours)),
        Column("95 % interval", cells(ends for _, ends in hours), spare=1),
        Column("", [Text(_mark(advice, each.name), style="green") for each in found.policies], right=False),
    ]
    return FittingTable(f"Against {found.against}, mean of a day", columns)


def sensitivity_table(advice: Advice) -> FittingTable:
    """Every unknown and what the policy shown gains at its ends."""
    found = advice.tried
    kind = "yield" if found.goal == "min-yield" else "hours"
    low = [estimate_cells(each.gain_start, kind) for each in advice.sensitivity]
    high = [estimate_cells(each.gain_end, kind) for each in advice.sensitivity]
    columns = [
        Column("unknown", cells(each.unknown.name for each in advice.sensitivity), right=False, folds=True),
        Column("swept", cells(ends_words(each) for each in advice.sensitivity), right=False, folds=True),
        Column("gain\nthere", cells(value for value, _ in low), spare=2),
        Column("95 % interval", cells(ends for _, ends in low), spare=1),
        Column("and\nthere", cells(value for value, _ in high), spare=2),
        Column("95 % interval", cells(ends for _, ends in high), spare=1),
        Column("changes\nthe answer", cells("yes" if each.changes_answer else "no" for each in advice.sensitivity)),
    ]
    what = "worst yield" if kind == "yield" else "node-hours saved a day"
    return FittingTable(f"What {found.of} gains over {found.against}, in {what}, if something unknown differs", columns)


def _mark(advice: Advice, name: str) -> str:
    found = advice.policy
    if found is None:
        return ""
    return "in the group" if name in found.tied else "harms the other" if _harms(advice, name) else ""


def _harms(advice: Advice, name: str) -> bool:
    return any(each.harms for each in advice.tried.policies if each.name == name)


def _listed(title: str, lines: tuple[str, ...]) -> Iterator[str]:
    if lines:
        yield ""
        yield f"{title}:"
        yield from (f"- {line}" for line in lines)
