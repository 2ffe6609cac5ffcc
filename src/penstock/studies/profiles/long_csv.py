"""Profiles in the plain form: a CSV with one run per line, columns for application, targets and bandwidth.

The unit stands in the header (`bandwidth_MiB/s`, `bw (GB/s)`), in the cell (`1.2 GB/s`), or it is bytes per second.
Benchmarks write `mbps` for megabytes per second, so that is how it is read.
"""

from __future__ import annotations

import re

from penstock.model.units import Refusal, quantity, shown
from penstock.studies.profiles.source import ACCEPTED, NUMBER, Measurement, MeasurementFile, Measurements

COLUMNS = {
    "application": ("application", "app", "name", "job", "pattern"),
    "targets": ("targets", "n", "count", "osts", "ost_count", "stripe_count", "io_nodes", "ions", "forwarders"),
}
_BANDWIDTH = re.compile(r"(?:bandwidth|bw|throughput)(?:[\s_]*[(\[]?(?P<unit>[a-z]+(?:/s|/sec|ps))[)\]]?)?", re.I)
_PER_SECOND = re.compile(r"([kmgtpe]?)(i?)bps", re.I)


def recognises(source: MeasurementFile) -> bool:
    """Whether it has a header at all; this is the form for all that is nothing else."""
    return bool(source.header)


def read(source: MeasurementFile) -> Measurements:
    """All runs."""
    application, targets = (_column(source, what, names) for what, names in COLUMNS.items())
    bandwidth, unit = _bandwidth(source)
    runs = [
        Measurement(source.name(row, application), source.whole(row, targets), source.rate(row, bandwidth, unit))
        for row in source.rows()
    ]
    notes = [f"{source.path}: {bandwidth} is read as {unit}, bytes and not bits"] * bandwidth.lower().endswith("bps")
    return Measurements(runs, unit, (*notes, *_mixed(source, bandwidth, unit)))


def _mixed(source: MeasurementFile, bandwidth: str, unit: str) -> list[str]:
    """A note on cells with a unit of their own: one that was forgotten in others makes them wrong by a thousand."""
    cells = [row.cells[bandwidth] for row in source.rows()]
    named = [cell for cell in cells if not NUMBER.fullmatch(cell)]  # 1e9 has no unit
    own = {found[0]: cell for cell in named if (found := re.search(r"[A-Za-z]\S*$", cell.strip()))}
    bare = len(cells) - len(named)
    units = [*own, *([unit] if bare else [])]
    if len(set(units)) < 2:
        return []
    rest = f", and the {bare} without one in {unit}" if bare else ""
    return [f"{source.path}: {bandwidth} has values in {' and '.join(own)}{rest}; each is read as it says"]


def _column(source: MeasurementFile, what: str, names: tuple[str, ...]) -> str:
    return _only(source, what, [column for column in source.header if column.lower().replace(" ", "_") in names], names)


def _bandwidth(source: MeasurementFile) -> tuple[str, str]:
    matches = {column: match for column in source.header if (match := _BANDWIDTH.fullmatch(column))}
    examples = ("bandwidth", "bw", "bandwidth_MiB/s")
    column = _only(source, "bandwidth", list(matches), examples)
    unit = _unit(matches[column]["unit"])
    try:
        quantity(f"1 {unit}", "bytes/s")
    except Refusal:
        source.refuse_header(
            f"the column {column!r} has the unit {unit!r}; a bandwidth is in bytes, as in MB/s or MiB/s"
        )
    return column, unit


def _unit(word: str | None) -> str:
    if word is None or word.lower().startswith("bytes"):
        return "B/s"
    match = _PER_SECOND.fullmatch(word)
    if match is None:
        return word
    prefix, binary = match.groups()
    return f"{prefix.upper()}iB/s" if binary else f"{prefix.upper().replace('K', 'k')}B/s"


def _only(source: MeasurementFile, what: str, found: list[str], names: tuple[str, ...]) -> str:
    if len(found) == 1:
        return found[0]
    if found:
        source.refuse_header(f"has the columns {' and '.join(map(repr, found))} for the {what}; keep one of them")
    known = shown(", ".join(source.header))
    source.refuse_header(f"has no column for the {what} ({', '.join(names)}), only {known}; {ACCEPTED}")
