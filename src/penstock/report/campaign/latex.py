"""A campaign's means as LaTeX tables, for papers: one for each metric, the best plan of each group bold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.errors import InvalidOption
from penstock.report.campaign.table import against_cells, by_reference, interval_cells, number_format, reference_of

if TYPE_CHECKING:
    from penstock.campaign import Entry

_SPECIAL = {**{each: f"\\{each}" for each in "&%$#_{}"}, "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {"\\": r"\textbackslash{}", "…": r"\dots", "–": "--"}


def latex_tables(entries: Sequence[Entry], lowest_best: frozenset[str] = frozenset()) -> str:
    """All metrics; those of `lowest_best` are better the lower they are. The paper needs the package booktabs."""
    metrics = dict.fromkeys(entry.metric for entry in entries)
    return "\n".join(
        _table([entry for entry in entries if entry.metric == metric], lowest=metric in lowest_best)
        for metric in metrics
    )


def escaped(text: str) -> str:
    r"""Text in which nothing means anything to LaTeX.

    >>> print(escaped("min_yield 5 %"))
    min\_yield 5 \%
    """
    return re.sub(r"[&%$#_{}~^\\…–]", lambda found: _SPECIAL[found[0]], text)


def _table(every: Sequence[Entry], *, lowest: bool) -> str:
    entries, *others = by_reference(every)
    if others:
        raise InvalidOption("a LaTeX table compares with one plan; give one to --against")
    reference, show = reference_of(entries), number_format(entries)
    names = [*entries[0].group, "plan", "mean", "95 % interval"]
    names += [f"against {reference}", "verdict"] if reference is not None else []
    best = _best(entries, lowest=lowest)
    left = len(entries[0].group) + 1
    lines = [f"% {entries[0].metric}", rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(names) - left)}}}", r"\toprule"]
    lines += [f"{' & '.join(map(escaped, names))} \\\\", r"\midrule"]
    for place, entry in enumerate(entries):
        if place and entry.group != entries[place - 1].group:
            lines.append(r"\midrule")
        mean, ends = map(number, interval_cells(entry.mean, show))
        cells = [*(escaped(str(value)) for value in entry.group.values()), escaped(entry.plan)]
        cells += [rf"\textbf{{{mean}}}" if entry in best else mean, ends]
        if reference is not None:
            difference, _, _, verdict = against_cells(entry, show)
            cells += [number(difference), escaped(verdict)]
        lines.append(f"{' & '.join(cells)} \\\\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def number(text: str) -> str:
    """Numbers with a minus instead of a hyphen."""
    return re.sub(r"(^| )-(?=[\d.])", r"\1$-$", escaped(text))


def _best(entries: Sequence[Entry], *, lowest: bool) -> list[Entry]:
    """The plan with the best mean in each group."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(repr(entry.group), []).append(entry)
    return [(min if lowest else max)(group, key=lambda entry: entry.mean.mean) for group in groups.values()]
