"""What logs hold, as a table for the terminal and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from penstock.report.parts.fitting_table import Column, FittingTable, cells
from penstock.report.parts.quantities import NOTHING, byte_scale, duration, percent, rate_scale
from penstock.report.parts.titled_table import MOST_ROWS, rest_lines

if TYPE_CHECKING:
    from penstock.traces.inspecting import Inspected, InspectedJob

MOST_REASONS = 5
_COLOUR = {"A": "green", "B": "green", "C": "yellow", "D": "red"}
_GRADES = {
    "A": "bytes placed within 0.5 % of the run time, nothing cut off",
    "B": "within 5 %",
    "C": "bursts cannot be told apart",
    "D": "cut off, or no times",
}
_ORIGINS = {
    "lower_bound": "a lower bound: no log shows what the file system could do",
    "given": "given",
    "assumed": "assumed",
}


def trace_table(found: Inspected, name: str, *, everything: bool = False) -> FittingTable:
    """A row per job, or the largest where there are too many for a screen."""
    rows = found.rows if everything else _shown(found.rows)
    checked = any(row.simulated_seconds is not None for row in rows)
    columns = [
        Column("job", cells(row.name for row in rows), right=False, folds=True),
        Column("grade", [Text(row.quality or NOTHING, style=_COLOUR.get(row.quality, "")) for row in rows]),
        Column("from", cells(row.facts.get("source") or NOTHING for row in rows), spare=4, right=False),
        Column("ran for", cells(duration(row.facts.get("seconds")) for row in rows)),
        Column("read", cells(_bytes(row.facts["read"]) for row in rows)),
        Column("written", cells(_bytes(row.facts["written"]) for row in rows)),
        Column("placed\nwithin", cells(_error(row) for row in rows), spare=5),
        Column("phases", cells(f"{row.facts['phases']:,}" for row in rows), spare=3),
        Column("cap", cells(_cap(row) for row in rows), spare=6),
        Column("nodes", cells(_nodes(row) for row in rows), spare=2),
        Column("meta-\ndata", cells(duration(row.facts.get("metadata_seconds")) for row in rows), spare=1),
    ]
    if checked:
        columns.append(Column("observed", cells(duration(row.observed_seconds) for row in rows)))
        columns.append(Column("simulated", cells(duration(row.simulated_seconds) for row in rows)))
    return FittingTable(name, columns)


def trace_lines(found: Inspected, way: str = "--json") -> list[str]:
    """What the table leaves out: jobs that an option shows, totals, the grade, the bandwidth, what was not used."""
    lines = rest_lines(len(found.rows), " that moved less", way) if way else []
    volume = sum(row.volume for row in found.rows)
    total = f"{_count(len(found.rows), 'job')} moved {_bytes(volume)}."
    lines.append(f"{total} Grade {found.grade} by bytes: {_GRADES[found.grade]}." if found.grade else total)
    if found.bandwidth is not None:
        words = _ORIGINS.get(found.bandwidth_origin, "")
        lines.append(f"Bandwidth {_rate(found.bandwidth)}{f' ({words})' if words else ''}.")
    coverage = found.more.get("node_hour_coverage")
    if coverage is not None:
        lines.append(f"Jobs with logs have {percent(coverage)} of all node-hours.")
    lines += _check_lines(found.rows)
    if found.dropped:
        lines.append(f"Dropped: {_count(found.dropped, 'log')} without volume of jobs that have others.")
    reasons = [f"Left out: {each.file}: {each.why}." for each in found.skipped]
    more = len(reasons) - MOST_REASONS
    lines += reasons[:MOST_REASONS] + ([f"Left out: {more:,} more; --json names all."] if more > 0 else [])
    return [*lines, *(f"Note: {note}." for note in found.notes), *_flag_lines(found.rows)]


def _check_lines(rows: Sequence[InspectedJob]) -> list[str]:
    apart = [
        abs(row.simulated_seconds / row.observed_seconds - 1.0)
        for row in rows
        if row.simulated_seconds is not None and row.observed_seconds
    ]
    if not apart:
        return []
    far = sum(each > 0.01 for each in apart)
    return [
        f"Simulated under fair-share: the largest difference to what was observed is {percent(max(apart))}; "
        f"{far:,} of {len(apart):,} jobs differ by more than 1 %."
    ]


def _flag_lines(rows: Sequence[InspectedJob]) -> list[str]:
    """Each remark once, with the job it is about or how many there are."""
    said: dict[str, list[str]] = {}
    for row in rows:
        for flag in row.facts.get("flags") or ():
            said.setdefault(flag, []).append(row.name)
    return [
        f"{names[0] if len(names) == 1 else _count(len(names), 'job')}: {flag}."
        for flag, names in list(said.items())[:MOST_REASONS]
    ]


def _shown(rows: Sequence[InspectedJob]) -> list[InspectedJob]:
    if len(rows) <= MOST_ROWS:
        return list(rows)
    return sorted(rows, key=lambda row: -row.volume)[:MOST_ROWS]


def _error(row: InspectedJob) -> str:
    error = row.facts.get("error_seconds")
    if row.facts.get("structure") == "unknown":
        return "unknown"
    return NOTHING if error is None else f"± {duration(error)}"


def _cap(row: InspectedJob) -> str:
    rate = row.facts.get("bandwidth")
    if rate is None:
        return NOTHING
    sign = {"lower_bound": "≥ ", "model": "~ "}.get(str(row.facts.get("bandwidth_origin")), "")
    return f"{sign}{_rate(rate)}"


def _nodes(row: InspectedJob) -> str:
    nodes, origin = row.facts.get("nodes"), row.facts.get("nodes_origin")
    if nodes is None or origin == "assumed":
        return NOTHING
    return f"{'≥ ' if origin == 'lower_bound' else ''}{nodes:,}"


def _bytes(volume: float) -> str:
    return byte_scale(volume, pure=False).show(volume) if volume else NOTHING


def _rate(rate: float) -> str:
    return f"{rate:.4g} B/s" if rate < 1e3 else rate_scale(rate).show(rate)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
