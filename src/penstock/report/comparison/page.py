"""The report of a comparison: one HTML file that needs no network, no script to be read, and prints well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.files import write_whole
from penstock.report.comparison.summary import (
    DISTANCE,
    MIN_YIELD,
    Measure,
    applying,
    bound_words,
    need_runs,
    node_hours,
    pressure,
    summary_lines,
    winners,
)
from penstock.report.comparison.table import same_words, value_format
from penstock.report.comparison.timeline_element import timeline_element
from penstock.report.machine.page import RESOURCE_WORDS, held_up_words, machine_section
from penstock.report.parts.elements import cell, head, inline, page, table
from penstock.report.parts.policy_words import meaning, rule
from penstock.report.parts.quantities import byte_scale, duration, fixed, is_pure, largest, rate_scale, time_scale
from penstock.report.plots import comparison_figure

if TYPE_CHECKING:
    from penstock.campaign.recommendation import Recommendation
    from penstock.metrics.result import ApplicationResult, Result

__all__ = ["summary_lines", "write_report"]

_MOST_ROWS = 300  # per policy: a page of 6,000 applications would be no page

_WORDS = (
    ("yield", "Progress of an application per second since its release, when 1 is what it would make alone."),
    ("min yield", "The yield of the application that was held back most; the larger, the fairer."),
    (
        "bound",
        "A min yield that no policy can exceed in this window, whatever it knows; “below bound” is the share "
        "of it that was missed. A policy close to it leaves little to gain.",
    ),
    ("of reference", "Min yield as a share of that of the best schedule that any method found, the future known."),
    (
        "node-hours lost",
        "Time that applications were there and made no progress, times their nodes; the smaller, the better. Of one "
        "that its walltime cut off, all its time. The share is that of all node-hours used.",
    ),
    ("worst job", "The application with the lowest yield."),
    (
        "efficiency",
        "Progress made, weighted by nodes, as a share of the length of the run times all nodes.",
    ),
    ("utilization", "Compute done in the window, weighted by nodes, as a share of the node time there is."),
    ("stretch", "Time from release to completion divided by the time it would take alone; 1 is best."),
    ("makespan", "When the last application finished."),
    ("I/O pressure", "Bytes that all would move in the window if alone, divided by what the storage can carry."),
    ("I/O weight", "Sum over applications of the share of time that each, alone, would spend in I/O."),
    ("waiting", "An application has posted I/O but gets no bandwidth at all."),
)


def write_report(
    path: str | Path,
    scenario_name: str,
    results: Sequence[Result],
    recommendation: Recommendation | None = None,
    *,
    same: Mapping[str, Sequence[str]] | None = None,
    hidden: int = 0,
    details: bool = False,
) -> None:
    """Write the comparison of `results` to one HTML file; runs with a timeline are drawn.

    `same` are policies that did exactly what one of them did, `hidden` how many more were left out; `details` say how
    much work it was to simulate them.
    """
    need_runs(results)
    write_whole(path, _page(scenario_name, results, recommendation, same or {}, hidden, details).encode())


def _page(
    scenario_name: str,
    runs: Sequence[Result],
    recommendation: Recommendation | None,
    same: Mapping[str, Sequence[str]],
    hidden: int,
    details: bool,
) -> str:
    compared = "One sharing policy" if len(runs) == 1 else f"{len(runs)} sharing policies compared"
    alt = "Yields per policy with the bound, and min yield against node-hours lost"
    said, words, first = summary_lines(runs, some=hidden > 0), list(_WORDS), ""
    if recommendation:
        from penstock.report.recommendation import page as recommendation_page  # noqa: PLC0415 - few ask for it, and it loads matplotlib

        said = [*recommendation_page.recommendation_lines(recommendation), *said]
        words, first = [*words, *recommendation_page.WORDS], recommendation_page.section(recommendation)
    if any(run.passage is not None for run in runs):
        words = [*words, *RESOURCE_WORDS]
    body = f"""{first}<h2>Policies</h2>
{_comparison(runs, same, hidden)}
{inline(comparison_figure(runs), "compared", alt)}
<h2>Policy by policy</h2>
{"".join(_policy_section(i, run, details) for i, run in enumerate(runs))}"""
    return page(scenario_name, compared, _facts(runs), said, body, words)


def _facts(runs: Sequence[Result]) -> list[tuple[str, str]]:
    first, weight = runs[0], pressure(runs)
    timeline = next((run.timeline for run in runs if run.timeline is not None), None)
    facts = [("applications", f"{len(first.applications):,}")]
    if weight is not None:
        begin = "" if timeline is None else f"{duration(timeline.begin)} to "
        facts += [("window", f"{begin or 'until '}{duration(first.end)}"), ("I/O pressure", f"{weight:.3g}")]
    else:
        facts.append(("window", "none: until all finished"))
    if timeline is not None:
        facts.append(("bandwidth", rate_scale(timeline.capacity).show(timeline.capacity)))
    facts.append(("I/O weight", f"{first.io_weight:.3g}"))
    return facts


def _comparison(runs: Sequence[Result], same: Mapping[str, Sequence[str]], hidden: int) -> str:
    measures = applying(runs)
    heads, columns = [head("policy")], []
    for measure in measures:
        heads.append(head(measure.words, descending=measure.highest))
        columns.append(_measure_cells(runs, measure))
        if measure is MIN_YIELD:
            heads.append(head("worst job", mark="name"))
            columns.append([cell(run.worst or "", mark="name") for run in runs])
    rows = [f"<tr>{_named(i, run, same)}{''.join(column[i] for column in columns)}</tr>" for i, run in enumerate(runs)]
    more = f" {hidden} more policies with --all." if hidden else ""
    return table("comparison", heads, rows, f"{bound_words(runs)}{more}")


def _named(position: int, run: Result, same: Mapping[str, Sequence[str]]) -> str:
    """A policy and what it does: its rule for those who point at it, its own part of the page for those who click."""
    link = f'<a href="#policy{position}" title="{escape(rule(run))}">{escape(run.sharing)}</a>'
    says = escape(f"{meaning(run)}{same_words(same.get(run.sharing, ()))}".strip())
    return f"<td>{link}<small>{says}</small></td>"


def _measure_cells(runs: Sequence[Result], measure: Measure) -> list[str]:
    show, chosen = value_format(measure, runs), winners(runs, measure)
    cells = []
    for i, run in enumerate(runs):
        value = measure.of(run)
        bar = _bar(value) if measure is DISTANCE and value is not None else ""
        cells.append(cell(show(value), value, number=True, mark="best" if i in chosen else "", after=bar))
    return cells


def _bar(share: float) -> str:
    return f'<span class="bar" aria-hidden="true"><i style="width:{100 * min(max(share, 0), 1):.1f}%"></i></span>'


def _policy_section(position: int, run: Result, details: bool) -> str:
    says = [f"min yield {fixed(run.min_yield)} ({escape(run.worst or '')})", f"{node_hours(run)} lost"]
    if run.max_stretch is not None:
        says.append(f"max stretch {fixed(run.max_stretch)}")
    if run.makespan is not None:
        says.append(f"makespan {duration(run.makespan)}")
    figure = ""
    if run.timeline is not None:
        alt = f"{run.sharing}: bandwidth over time by application, and what each application does"
        figure = timeline_element(run.timeline, f"run{position}", alt)
    if run.passage is not None:
        says.append(held_up_words(run.passage))
        figure = f"{machine_section(run, run.passage, position)}<h3>Application by application</h3>{figure}"
    return (
        f"<details{' open' if position == 0 else ''}><summary>{escape(run.sharing)}<span>{', '.join(says)}</span>"
        f'</summary><p id="policy{position}">{_rule(run, details)}</p>{figure}{_applications(run)}</details>'
    )


def _rule(run: Result, details: bool) -> str:
    words = rule(run) or "A policy of your own."
    work = f" {run.events:,} events, simulated in {duration(run.seconds)}." if details else ""
    return escape(words + work)


def _applications(run: Result) -> str:
    shown = _worst_first(run.applications) if len(run.applications) > _MOST_ROWS else run.applications
    finished = any(application.completion is not None for application in run.applications)
    names = ["application", "yield", *(["completion", "stretch"] if finished else []), "computed", "transferred"]
    ends = time_scale(largest(one.completion for one in run.applications))
    times = time_scale(largest(one.compute_done for one in run.applications))
    volumes = byte_scale(largest(one.transferred for one in run.applications), pure=is_pure(run))
    rows = []
    for one in shown:
        lowest = "worst" if one.yield_ <= run.min_yield * (1 + 1e-9) else ""
        cells = [cell(one.name), cell(fixed(one.yield_), one.yield_, mark=lowest)]
        if finished:
            cells.append(cell(ends.show(one.completion), one.completion, number=True))
            cells.append(cell(fixed(one.stretch), one.stretch, number=True))
        cells.append(cell(times.show(one.compute_done), one.compute_done))
        cells.append(cell(volumes.show(one.transferred), one.transferred))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    hidden = len(run.applications) - len(rows)
    caption = f"The {len(rows)} lowest yields; {hidden:,} applications did better." if hidden else ""
    return table("applications", [head(name) for name in names], rows, caption)


def _worst_first(applications: Sequence[ApplicationResult]) -> list[ApplicationResult]:
    return sorted(applications, key=lambda application: application.yield_)[:_MOST_ROWS]
