"""CSV and Parquet: transfers (job, start, end, bytes, direction[, nodes]) or a time series (time, job, read, written).

Times are dates or numbers of seconds. In a time series a row holds the bytes since the job's row before it, or of one
step if that is longer ago; the step is the usual spacing of times in the file. Rows need not be in order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.traces.columns import OddRows, arrow, codes, instants, numbers, texts
from penstock.traces.pieces import ABSURD
from penstock.traces.result import Skipped, number_of
from penstock.traces.tables.moved import Moved

TRANSFERS = ("job", "start", "end", "bytes", "direction")
SERIES = ("time", "job", "read", "written")
_ABSURD = "negative or absurd bytes"
_WRITES = {"write": True, "written": True, "w": True, "read": False, "r": False}


def read_columnar(file: Path) -> Moved:
    """The rows of a CSV or Parquet file in one of the two forms."""
    table, broken = (_parquet(file), 0) if file.suffix.lower() == ".parquet" else _csv(file)
    table = table.rename_columns([name.strip().lower() for name in table.column_names])
    if broken and not table.num_rows:
        raise InvalidOption(f"{file}: has no row of {table.num_columns} fields, as its header has")
    lost = (
        (Skipped(str(file), f"{number_of(broken, 'row')} with more or fewer fields than the header"),) if broken else ()
    )
    if set(TRANSFERS) <= set(table.column_names):
        found = _transfers(table, file)
        return found._replace(skipped=lost + found.skipped)
    if set(SERIES) <= set(table.column_names):
        found = _series(table, file)
        return found._replace(skipped=lost + found.skipped)
    raise InvalidOption(
        f"{file}: needs the columns {', '.join(TRANSFERS)} (transfers) or {', '.join(SERIES)} (a time series); "
        f"it has {', '.join(table.column_names)}"
    )


def _csv(file: Path) -> tuple[Any, int]:
    """The table, and how many rows did not fit its header."""
    csv, pa = arrow("csv"), arrow()
    odd = OddRows()
    try:
        with file.open("rb") as stream:
            head = stream.readline().decode("utf-8-sig")
        names = [name.strip() for name in head.replace(";", ",").strip().split(",")]
        table = csv.read_csv(
            str(file),
            parse_options=csv.ParseOptions(
                delimiter=";" if head.count(";") > head.count(",") else ",", invalid_row_handler=odd
            ),
            convert_options=csv.ConvertOptions(column_types={name: pa.string() for name in names if name}),
        )
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise InvalidOption(f"{file}: is not CSV: {str(error).splitlines()[0]}") from None
    return table, odd.count


def _parquet(file: Path) -> Any:
    pa = arrow()
    try:
        return arrow("parquet").read_table(str(file))
    except (pa.ArrowException, ValueError, OSError) as error:
        raise InvalidOption(f"{file}: is not Parquet: {str(error).splitlines()[0]}") from None


def _transfers(table: Any, file: Path) -> Moved:
    start, end = instants(table.column("start")), instants(table.column("end"))
    volume = numbers(table.column("bytes"))
    words, code = codes(table.column("direction"))
    ways = [_WRITES.get((word or "").strip().lower()) for word in words.to_pylist()]
    known = np.array([way is not None for way in ways])[code]
    writes = np.array([bool(way) for way in ways])[code]
    nodes = numbers(table.column("nodes"), 0.0) if "nodes" in table.column_names else np.zeros(len(start))
    good = known & (volume >= 0) & (volume < ABSURD) & (end >= start) & np.isfinite(start) & np.isfinite(end)
    reasons = (
        ("a direction other than read or write", ~known),
        ("end before start", end < start),
        (_ABSURD, (volume < 0) | (volume >= ABSURD)),
    )
    skipped = _bad(file, ~good, reasons)
    some = np.flatnonzero(good & (volume > 0))
    jobs = texts(_job_codes(table), some)
    return Moved(jobs, start[some], end[some], volume[some], writes[some], nodes[some], "dxt", None, skipped)


def _series(table: Any, file: Path) -> Moved:
    time = instants(table.column("time"))
    read, written = numbers(table.column("read")), numbers(table.column("written"))
    names, code = _job_codes(table)
    odd = (read < 0) | (written < 0) | (read >= ABSURD) | (written >= ABSURD)
    good = np.isfinite(time) & np.isfinite(read) & np.isfinite(written) & ~odd
    skipped = _bad(file, ~good, (("no time", ~np.isfinite(time)), (_ABSURD, odd)))
    rows = np.flatnonzero(good)
    order = rows[np.lexsort((time[rows], code[rows]))]
    first = np.concatenate([[True], code[order][1:] != code[order][:-1]])
    steps = np.diff(np.unique(time[rows]))
    step = float(np.median(steps)) if len(steps) else 1.0
    # Of a job's first row, and after a pause in which it was not seen, the bytes are those of one step.
    before = np.concatenate([[-np.inf], time[order][:-1]])
    begin = np.where(first | (time[order] - before > 1.5 * step), time[order] - step, before)
    jobs = texts((names, code), order)
    columns = [(read[order], False), (written[order], True)]
    volume = np.concatenate([amount for amount, _ in columns])
    twice = (np.concatenate([begin, begin]), np.concatenate([time[order], time[order]]))
    writes = np.repeat([way for _, way in columns], len(order))
    some = volume > 0
    return Moved(
        [job for job, keep in zip(jobs * 2, some.tolist(), strict=True) if keep],
        twice[0][some], twice[1][some], volume[some], writes[some], np.zeros(int(some.sum())), "heatmap", step, skipped,
    )  # fmt: skip


def _job_codes(table: Any) -> Any:
    pa = arrow()
    column = table.column("job")
    return codes(column if pa.types.is_string(column.type) else column.cast(pa.string()))


def _bad(file: Path, bad: Any, reasons: tuple[tuple[str, Floats | Any], ...]) -> tuple[Skipped, ...]:
    """Why rows were left out: the first reason that fits, and how many."""
    found = []
    left = bad.copy()
    for words, hit in (*reasons, ("no number where one is needed", bad)):
        some = left & hit
        if some.any():
            found.append(
                Skipped(
                    str(file),
                    f"{number_of(int(some.sum()), 'row')} with {words}, the first in row {int(some.argmax()) + 1}",
                )
            )
        left &= ~hit
    return tuple(found)
