"""Advice as one HTML file that needs no network: a section and a picture for each answer, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.files import write_whole
from penstock.report.advice.plot import buffer_figure, demand_figure, group_figure, tornado_figure
from penstock.report.advice.words import answers, ends_words, estimate_cells
from penstock.report.parts.elements import cell, head, inline, page, table
from penstock.report.parts.quantities import NOTHING, byte_scale, duration, percent, rate_scale
from penstock.report.traces.plot import traces_figure

if TYPE_CHECKING:
    from penstock.advise import Advice
    from penstock.advise.policies import TieGroup

_MOST_ROWS = 100
_WORDS = (
    ("yield", "How fast a job got on, compared with having the file system to itself: 1 is undisturbed."),
    ("worst yield of a day", "The lowest yield of all jobs that started on that day; the mean of all days is shown."),
    ("node-hours lost", "Nodes times the time that a job waited for others, as simulated under the policy in use."),
    (
        "95 % interval",
        "Where the mean of many such days would lie. Days are compared pair by pair: the same jobs, either policy. "
        "It holds what varies from day to day and nothing of what is unknown; that is swept instead.",
    ),
    ("the group", "Policies of which these days cannot say that one is better. What harms one goal is left out of it."),
    (
        "grade",
        "A: bytes placed within 0.5 % of the run time, nothing cut off; B: within 5 %; C: bursts cannot be told apart; "
        "D: cut off, or no times. A site has the grade that 80 % of its bytes reach.",
    ),
    (
        "slack",
        "What a transfer took beyond bytes over cap: computing, or waiting for others. The one is taken under which "
        "simulated run times come closer to those seen.",
    ),
)


def write_advice(path: str | Path, name: str, advice: Advice) -> None:
    """Write advice to one HTML file."""
    write_whole(path, _page(name, advice).encode())


def _page(name: str, advice: Advice) -> str:
    said = [each.answer for each in answers(advice)[:3]]
    return page(name, "Advice", _facts(advice), said, _body(advice), _WORDS)


def _facts(advice: Advice) -> list[tuple[str, str]]:
    data, found = advice.data, advice.inspected
    bandwidth = NOTHING if found.bandwidth is None else rate_scale(found.bandwidth).show(found.bandwidth)
    at_least = "≥ " if found.bandwidth_origin == "lower_bound" else ""
    return [
        ("grade", data.grade or NOTHING),
        ("jobs", f"{data.jobs:,}"),
        ("days", f"{data.days:,}"),
        ("node-hours covered", percent(data.node_hour_coverage)),
        ("bandwidth", f"{at_least}{bandwidth}"),
        ("policy in use", advice.tried.against),
    ]


def _body(advice: Advice) -> str:
    told = answers(advice)
    seen = inline(traces_figure(advice.inspected), "seen", "What every job moved when, and what all moved together")
    asked = inline(demand_figure(advice), "demand", "What is asked for by the hour, and who loses most")
    pictures = [seen, asked, _group(advice.tried, "policies", marked=advice.policy is not None)]
    pictures.append(_group(advice.targets.policies, "targets", marked=True) if advice.targets else "")
    pictures.append(inline(buffer_figure(advice.buffer), "buffer", "Gain by size") if advice.buffer else "")
    pictures.append(_sensitivity(advice))
    parts = [
        f"<h2>{number}. {escape(each.question)}</h2><p>{escape(each.answer)}</p>{_ground(each.ground)}{picture}"
        for number, (each, picture) in enumerate(zip(told, pictures, strict=True), start=1)
    ]
    parts += [_listed("What we could not see", advice.not_seen), _listed("What to measure next", advice.next)]
    return "".join([*parts, _assumptions(advice), _listed("Remarks", advice.data.flags), _jobs(advice)])


def _ground(words: str) -> str:
    return f'<p class="soft">Ground: {escape(words)}.</p>' if words else ""


def _group(found: TieGroup, name: str, *, marked: bool) -> str:
    drawn = inline(group_figure(found, marked), name, f"Gains of all {name} against {found.against}, with intervals")
    heads = [
        head(words) for words in ("policy", "worst yield", "95 % interval", "node-hours saved a day", "95 % interval")
    ]
    rows = []
    for each in found.policies:
        value, ends = estimate_cells(each.min_yield_gain, "yield")
        hours, apart = estimate_cells(each.node_hours_gain, "hours")
        saved = each.node_hours_gain.value if each.node_hours_gain else None
        first = cell(each.name, mark="best" if marked and each.tied else "")
        cells = (
            f"{first}{cell(value, each.min_yield_gain.value)}{cell(ends)}{cell(hours, saved, number=True)}{cell(apart)}"
        )
        note = "in the group" if marked and each.tied else "harms the other goal" if each.harms else ""
        rows.append(f"<tr>{cells}{cell(note)}</tr>")
    caption = f"Mean of a day less that of {found.against}."
    caption += "" if marked else " Shown for the record: no policy is named, for the reason above."
    return f"{drawn}{table(name, [*heads, head('')], rows, caption)}"


def _sensitivity(advice: Advice) -> str:
    if not advice.sensitivity:
        return ""
    drawn = inline(tornado_figure(advice), "unknown", "What the policy shown gains at the ends of every unknown")
    kind = "yield" if advice.tried.goal == "min-yield" else "hours"
    rows = []
    for each in advice.sensitivity:
        low, high = estimate_cells(each.gain_start, kind), estimate_cells(each.gain_end, kind)
        cells = [each.unknown.name, ends_words(each), f"{low[0]} ({low[1]})", f"{high[0]} ({high[1]})"]
        cells.append("yes" if each.changes_answer else "no")
        rows.append(f"<tr>{''.join(map(cell, cells))}</tr>")
    heads = [
        head(words) for words in ("unknown", "swept", "gain at the first", "gain at the second", "changes the answer")
    ]
    return f"{drawn}{table('unknown', heads, rows, 'One at a time; a verdict must also hold with all at their ends.')}"


def _assumptions(advice: Advice) -> str:
    rows = []
    for each in advice.assumptions:
        known = each.name == "bandwidth" and isinstance(each.value, float)
        shown = rate_scale(float(each.value)).show(float(each.value)) if known else str(each.value)
        rows.append(f"<tr>{cell(each.name)}{cell(shown)}{cell(each.origin.replace('_', ' '))}</tr>")
    return f"<h2>What it rests on</h2>{table('assumptions', [head(w) for w in ('what', 'value', 'origin')], rows, '')}"


def _jobs(advice: Advice) -> str:
    rows = sorted((row for row in advice.inspected.rows if row.volume), key=lambda row: -row.volume)
    heads = [head(words) for words in ("job", "grade", "from", "ran for", "moved", "placed within", "cap is", "flags")]
    shown = []
    for row in rows[:_MOST_ROWS]:
        facts = row.facts
        error, flags = facts.get("error_seconds"), _first(facts.get("flags") or ())
        cells = [cell(row.name), cell(row.quality or NOTHING), cell(facts.get("source") or NOTHING)]
        cells.append(cell(duration(row.seconds), row.seconds))
        cells.append(cell(byte_scale(row.volume, pure=False).show(row.volume), row.volume))
        cells.append(cell(duration(error) if error is not None else NOTHING, error, number=True))
        cells.append(cell(str(facts.get("bandwidth_origin") or "given").replace("_", " ")))
        shown.append(f'<tr>{"".join(cells)}<td class="said">{escape(flags)}</td></tr>')
    more = len(advice.inspected.rows) - len(shown)
    caption = f"{len(shown)} jobs, by the bytes they moved; {more:,} more are not shown." if more else ""
    return f"<h2>Jobs</h2>{table('jobs', heads, shown, caption)}"


def _first(flags: Sequence[str]) -> str:
    """The first of some remarks, and how many more there are: a table is no place for all."""
    return "" if not flags else flags[0] if len(flags) == 1 else f"{flags[0]} (+{len(flags) - 1})"


def _listed(title: str, lines: Iterable[str]) -> str:
    said = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>{escape(title)}</h2><ul>{said}</ul>" if said else ""
