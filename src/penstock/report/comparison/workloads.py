"""Policies on several workloads, as a table and in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rich.text import Text

from penstock.model.tabular import in_words
from penstock.policies.sharing.groups import PRACTICE
from penstock.report.comparison.selection import MOST, goal_of
from penstock.report.comparison.table import value_format
from penstock.report.parts.breakable import Breakable
from penstock.report.parts.fitting_table import Column, FittingTable, cells
from penstock.report.parts.quantities import fixed

if TYPE_CHECKING:
    from penstock.metrics.workloads import Workloads

_BEST = "bold green"
_NARROW = 14  # letters of a heading


def shown_rows(found: Workloads, *, everything: bool) -> list[Mapping[str, Any]]:
    """The rows of all policies, or of the best ten with what is in use today among them."""
    rows = found.rows()
    practice = [row for row in rows if row["sharing"] in PRACTICE]
    best = [row for row in rows if row not in practice][: MOST - len(practice)]
    return [row for row in rows if everything or row in practice or row in best]


def workloads_table(found: Workloads, rows: Sequence[Mapping[str, Any]]) -> FittingTable:
    """One row per policy, best first by mean rank; the best of each workload stands out."""
    columns = [Column("policy", cells(row["sharing"] for row in rows), right=False)]
    columns.append(Column("mean\nrank", cells(fixed(row["mean_rank"], 1) for row in rows)))
    headings = _headings(list(found))
    for place, (name, runs) in enumerate(found.items(), 1):
        goal = goal_of(runs, found.metric)
        show, values = value_format(goal, runs), [row[name] for row in rows]
        top = max(values) if goal.highest else min(values)
        texts = [Text(show(value), style=_BEST if value == top else "") for value in values]
        columns.append(Column(headings[place - 1], texts, spare=len(found) + 1 - place if place > 1 else 0))
    return FittingTable(f"{in_words(found.metric)}, best first by mean rank", columns)


def workloads_lines(found: Workloads) -> list[str]:
    """Who is best over all, and whether that holds on each of them."""
    rows = found.rows()
    first = rows[0]["sharing"]
    ahead = [name for name, runs in found.items() if _best_of(found, name, first)]
    return [
        f"Best mean rank: {first}, {fixed(rows[0]['mean_rank'], 1)} of {len(rows)}; best on {len(ahead)} of "
        f"{len(found)} workloads.",
        "Next: a campaign repeats this with many draws and intervals: penstock campaign --help",
    ]


def _best_of(found: Workloads, name: str, policy: str) -> bool:
    goal = goal_of(found[name], found.metric)
    values = {result.sharing: goal.of(result) or 0.0 for result in found[name]}
    return values[policy] == (max if goal.highest else min)(values.values())


def _headings(names: Sequence[str]) -> list[str]:
    """Names of files without their endings, with as many folders as tell them apart; narrow, in several lines.

    >>> _headings(["a/jobs.yaml", "b/jobs.yaml"]), _headings(["a/day.yaml", "a/night.yaml"])
    (['a/jobs', 'b/jobs'], ['day', 'night'])
    """
    parts = [PurePath(name).with_suffix("").parts or (name,) for name in names]
    most = max(map(len, parts))
    short = ["/".join(each[-1:]) for each in parts]
    for count in range(2, most + 1):
        if len(set(short)) == len(short):
            break
        short = ["/".join(each[-count:]) for each in parts]
    return [Breakable(Text(each)).within(_NARROW).plain for each in short]
