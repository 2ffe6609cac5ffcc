"""The report of a comparison: one HTML file that needs no network, no script to be read, and prints well.

Whatever comes from the user is escaped where it enters the page, and the page itself forbids the browser to fetch
anything or to run any script but ours.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.files import write_whole
from penstock.report.page import SCRIPT, STYLE
from penstock.report.plots import comparison_figure, figure_bytes, run_figure
from penstock.report.quantities import byte_scale, duration, fixed, is_pure, largest, rate_scale, time_scale
from penstock.report.summary import (
    DISTANCE,
    Measure,
    applying,
    bound_words,
    need_runs,
    pressure,
    summary_lines,
    winners,
)
from penstock.report.table import value_format
from penstock.report.theme import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def write_report(path: str | Path, scenario_name: str, results: Sequence[Result]) -> None:
    """Write the comparison of `results` to one HTML file; runs with a timeline are drawn."""
    need_runs(results)
    write_whole(path, _page(scenario_name, results).encode())


def _page(scenario_name: str, runs: Sequence[Result]) -> str:
    allowed = b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'"
    compared = "One sharing policy" if len(runs) == 1 else f"{len(runs)} sharing policies compared"
    answer = "".join(f"<p>{escape(line)}</p>" for line in summary_lines(runs))
    details = "".join(_policy_section(i, run) for i, run in enumerate(runs))
    words = "".join(f"<dt>{escape(term)}</dt><dd>{escape(meaning)}</dd>" for term, meaning in _WORDS)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{escape(scenario_name)} – penstock</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{escape(scenario_name)}</h1>
<p class="soft">{compared} by penstock, which simulates how applications share I/O bandwidth.</p>
{_facts(runs)}
</header>
<main>
<h2>In short</h2>
<div class="answer">{answer}</div>
<h2>Policies</h2>
{_comparison(runs)}
{_inline(comparison_figure(runs), "compared", "Yields per policy with the bound, and min yield against efficiency")}
<h2>Policy by policy</h2>
{details}
<h2>What the words mean</h2>
<dl class="words">{words}</dl>
</main>
<script>{SCRIPT}</script>
</body>
</html>
"""


def _facts(runs: Sequence[Result]) -> str:
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
    return f'<dl class="facts">{"".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)}</dl>'


def _comparison(runs: Sequence[Result]) -> str:
    measures = applying(runs)
    heads = [_head("policy")]
    heads += [_head(measure.words, descending=measure.highest) for measure in measures]
    heads += [_head("events"), _head("run time")]
    columns = [_measure_cells(runs, measure) for measure in measures]
    rows = [
        f"<tr>{_cell(run.sharing)}{''.join(column[i] for column in columns)}"
        f"{_cell(f'{run.events:,}', run.events)}{_cell(duration(run.seconds), run.seconds)}</tr>"
        for i, run in enumerate(runs)
    ]
    return _table("comparison", heads, rows, bound_words(runs))


def _measure_cells(runs: Sequence[Result], measure: Measure) -> list[str]:
    show, chosen = value_format(measure, runs), winners(runs, measure)
    cells = []
    for i, run in enumerate(runs):
        value = measure.of(run)
        bar = _bar(value) if measure is DISTANCE and value is not None else ""
        cells.append(_cell(show(value), value, number=True, mark="best" if i in chosen else "", after=bar))
    return cells


def _bar(share: float) -> str:
    return f'<span class="bar" aria-hidden="true"><i style="width:{100 * min(max(share, 0), 1):.1f}%"></i></span>'


def _policy_section(position: int, run: Result) -> str:
    says = [f"min yield {fixed(run.min_yield)}", f"efficiency {fixed(run.efficiency)}"]
    if run.max_stretch is not None:
        says.append(f"max stretch {fixed(run.max_stretch)}")
    if run.makespan is not None:
        says.append(f"makespan {duration(run.makespan)}")
    figure = ""
    if run.timeline is not None:
        alt = f"{run.sharing}: bandwidth over time by application, and what each application does"
        figure = _inline(run_figure(run), f"run{position}", alt)
    return (
        f"<details{' open' if position == 0 else ''}><summary>{escape(run.sharing)}<span>{', '.join(says)}</span>"
        f"</summary>{figure}{_applications(run)}</details>"
    )


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
        cells = [_cell(one.name), _cell(fixed(one.yield_), one.yield_, mark=lowest)]
        if finished:
            cells.append(_cell(ends.show(one.completion), one.completion, number=True))
            cells.append(_cell(fixed(one.stretch), one.stretch, number=True))
        cells.append(_cell(times.show(one.compute_done), one.compute_done))
        cells.append(_cell(volumes.show(one.transferred), one.transferred))
        rows.append(f"<tr>{''.join(cells)}</tr>")
    hidden = len(run.applications) - len(rows)
    caption = f"The {len(rows)} lowest yields; {hidden:,} applications did better." if hidden else ""
    return _table("applications", [_head(name) for name in names], rows, caption)


def _worst_first(applications: Sequence[ApplicationResult]) -> list[ApplicationResult]:
    return sorted(applications, key=lambda application: application.yield_)[:_MOST_ROWS]


def _table(kind: str, heads: Sequence[str], rows: Sequence[str], caption: str) -> str:
    below = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="wide"><table class="sortable {kind}">{below}<thead><tr>{"".join(heads)}</tr></thead>\n'
        f"<tbody>{chr(10).join(rows)}</tbody></table></div>"
    )


def _head(words: str, *, descending: bool = False) -> str:
    return f'<th scope="col"{" data-first=descending" if descending else ""}>{escape(words)}</th>'


def _cell(shown: str, value: float | None = None, *, number: bool = False, mark: str = "", after: str = "") -> str:
    """A cell that sorts by `value`; a number that is missing sorts last."""
    key = f' data-value="{float(value)!r}"' if value is not None else ' data-value=""' if number else ""
    return f"<td{f' class={mark}' if mark else ''}{key}>{escape(shown)}{after}</td>"


def _inline(figure: Figure, prefix: str, alt: str) -> str:
    """The figure as part of the page: in the page's text colour, its ids unlike those of others, its numbers short."""
    drawn = figure_bytes(figure, "svg", text_as_text=True).decode()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r' xmlns(:xlink)?="[^"]*"', "", drawn, count=2)
    drawn = re.sub(r'\bid="', f'id="{prefix}-', drawn)
    drawn = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", drawn)
    drawn = re.sub(r'\bd="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), drawn)
    drawn = drawn.replace(INK, "currentColor").replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)
    return f"<figure>{drawn}</figure>"
