"""The report of a campaign: one HTML file that needs no network, in the looks of the report of a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.files import write_whole
from penstock.model.tabular import in_words
from penstock.report.campaign.plot import campaign_figure
from penstock.report.campaign.table import (
    against_cells,
    by_reference,
    campaign_lines,
    incomplete_lines,
    interval_cells,
    number_format,
    range_words,
    reference_of,
)
from penstock.report.parts.elements import cell, head, inline, page, table
from penstock.report.parts.quantities import NOTHING, percent

if TYPE_CHECKING:
    from penstock.campaign import Entry, Results

_MOST_FAILURES = 100
_MARKS = {"better": "best", "worse": "worst"}
_WORDS = (
    ("plan", "One policy for each decision, or the options of another task, as the campaign's file lists them."),
    ("runs", "How many runs have the metric."),
    ("median", "Half of the runs have less, half have more; beside it, where the middle nine tenths of the runs lie."),
    (
        "verdict",
        "Better or worse than the reference by more than the noise, or a tie. One comparison each: many of them hold a "
        "few wrong ones, which `penstock campaign rank` corrects for.",
    ),
    ("95 % interval", "Where the mean would lie with other seeds, by 10,000 samples drawn anew from these runs."),
    (
        "against",
        "Difference to the reference plan on the same workloads and seeds, pair by pair. If its interval holds 0, the "
        "difference is smaller than its noise: a tie.",
    ),
    ("won/tied/lost", "In how many of these pairs the plan was better than the reference, as good, or worse."),
    ("of bound", "The metric as a share of what no plan could pass; the closer to 100 %, the less is left to gain."),
)


def write_campaign_page(
    path: str | Path, results: Results, entries: Sequence[Entry], x: str | None, short: Sequence[str] = ()
) -> None:
    """Write what a campaign has found to one HTML file, which begins with what it says in short."""
    write_whole(path, _page(results, entries, x, short).encode())


def _page(results: Results, entries: Sequence[Entry], x: str | None, short: Sequence[str]) -> str:
    said = [*(short or campaign_lines(entries)), *incomplete_lines(results)] or ["One plan: nothing to compare."]
    metrics = dict.fromkeys(entry.metric for entry in entries)
    sections = [
        _section(number, [entry for entry in entries if entry.metric == metric], x)
        for number, metric in enumerate(metrics)
    ]
    body = "".join([*sections, _failures(results)])
    return page(results.name, "A campaign run", _facts(results), said, body, _WORDS)


def _facts(results: Results) -> list[tuple[str, str]]:
    return [
        ("runs", f"{int(results.ended.sum()):,} of {results.size:,}"),
        ("failed", f"{int(results.failed.sum()):,}"),
        ("plans", f"{len(results.plans):,}"),
        ("workloads", f"{len(results.points):,}"),
        ("made with", " / ".join(results.versions) or NOTHING),
    ]


def _section(number: int, every: Sequence[Entry], x: str | None) -> str:
    entries, *others = by_reference(every)
    metric, show = entries[0].metric, number_format(entries)
    bounded = any(entry.of_bound is not None for entry in entries)
    compared = [part[0].reference for part in (entries, *others)] if reference_of(entries) is not None else []
    names = [*entries[0].group, "plan", "runs", "mean", "95 % interval", "median", "5 % – 95 % of runs"]
    names += ["of bound"] if bounded else []
    for reference in compared:
        names += [f"against {reference}", "95 % interval", "won/tied/lost", "verdict"]
    rows = []
    for entry, *further in zip(entries, *others, strict=True):
        mean, ends = interval_cells(entry.mean, show)
        cells = [_value(value) for value in entry.group.values()]
        cells += [
            cell(entry.plan, mark="name"),
            cell(f"{entry.runs:,}", entry.runs),
            _number(mean, entry.mean.mean),
            cell(ends),
        ]
        cells.append(_number(show(entry.quantiles[0.5]), entry.quantiles[0.5]))
        cells.append(_number(range_words(entry, show), entry.quantiles[0.05]))
        if bounded:
            share = entry.of_bound.mean if entry.of_bound else math.nan
            cells.append(_number(percent(share), share))
        for each in (entry, *further) if compared else ():
            difference, ends, counts, verdict = against_cells(each, show)
            cells.append(_number(difference, each.against.difference.mean if each.against else 0.0))
            cells += [cell(ends), cell(counts), cell(verdict, mark=f'"verdict {_MARKS.get(verdict, "")}"')]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    heads = [head(name, mark={"verdict": "verdict", "plan": "name"}.get(name, "")) for name in names]
    figure = inline(campaign_figure(entries, x), f"metric{number}", f"{metric} of every plan")
    below = " ".join(campaign_lines(every))
    return f"<h2>{escape(in_words(metric))}</h2>{figure}{table('campaign', heads, rows, below)}"


def _value(value: Any) -> str:
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return cell(str(value), value if numeric else None)


def _number(shown: str, value: float) -> str:
    missing = math.isnan(value)
    return cell(NOTHING if missing else shown, None if missing else value, number=True)


def _failures(results: Results) -> str:
    failures = results.failures(_MOST_FAILURES)
    if not failures:
        return ""
    names = ["workload", "seed", "plan", "error", "see for yourself"]
    rows = [
        f"<tr>{''.join(cell(str(failure[key])) for key in ('workload', 'seed', 'plan', 'error', 'reproducer'))}</tr>"
        for failure in failures
    ]
    more = int(results.failed.sum()) - len(rows)
    caption = f"{more:,} more are not shown." if more else ""
    return f"<h2>Failed runs</h2>{table('failures', [head(name) for name in names], rows, caption)}"
