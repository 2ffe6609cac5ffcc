"""The Standard Workload Format: who ran when on how many processors. It has no I/O, so a model must be stated.

Eighteen numbers a line, padded with spaces; −1 is unknown; comments begin with a semicolon and may hold the date of the
first second. A wait of −1 means that the submit time is the start.
"""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.kernels.arrays import Floats
from penstock.traces.build import build
from penstock.traces.columns import OddRows, arrow, floats
from penstock.traces.io_model import JobDemand, Model, assumed, io_model
from penstock.traces.job import Job
from penstock.traces.options import Options
from penstock.traces.result import Imported, Skipped, number_of

FIELDS = (
    "job", "submit", "wait", "run", "processors", "cpu", "memory", "asked_processors", "asked_time", "asked_memory",
    "status", "user", "group", "program", "queue", "partition", "preceding", "think",
)  # fmt: skip
_TAKEN = ("job", "submit", "wait", "run", "processors", "asked_processors", "user", "program")
_EPOCH = re.compile(rb"^;\s*UnixStartTime:\s*(\d+)", re.MULTILINE)


class Swf(NamedTuple):
    """Jobs that ran, by start; `start` is in seconds since 1970 where the header says when the log begins."""

    job: Floats
    start: Floats
    seconds: Floats
    processors: Floats
    user: Floats
    program: Floats
    skipped: tuple[Skipped, ...]


def import_swf(
    file: str | Path, options: Options | None = None, *, io: str | None = None, cores_per_node: int = 1
) -> Imported:
    """A scenario from an SWF file, `.gz` or not; `io` is a model of when jobs move bytes, and how many."""
    options, begun = options or Options(), time.perf_counter()
    if io is None:
        raise InvalidOption(
            "SWF has no I/O; state a model of it: --io period=1h,fraction=10%, --io apex or --io classes.csv"
        )
    model = io_model(io)
    options, missing, words = assumed(options)
    found = read_swf(file)
    jobs = list(_jobs(found, model, options.node_bandwidth or 0.0, cores_per_node))
    if not any(job.pieces.total for job in jobs):
        raise InvalidOption(
            f"--io is {io!r}, which gives no job of {file} any I/O; SWF counts no bytes: add fraction=10%"
        )
    return build(
        jobs,
        options,
        kind="swf",
        what=str(file),
        begun=begun,
        skipped=found.skipped,
        notes=[f"all I/O is assumed: {io}", *words],
        assumed=missing,
    )


def read_swf(file: str | Path) -> Swf:
    """The jobs of an SWF file as columns."""
    path = Path(file)
    raw = _bytes(path)
    epoch = _EPOCH.search(raw[:65536])
    table, broken = _table(raw, path)
    column = {name: floats(table.column(name)) for name in _TAKEN}
    processors = np.where(column["processors"] > 0, column["processors"], column["asked_processors"])
    start = column["submit"] + np.maximum(column["wait"], 0.0) + (float(epoch[1]) if epoch else 0.0)
    ran = (column["run"] > 0) & (processors > 0) & (start >= 0)
    skipped = [Skipped(str(path), f"{number_of(broken, 'line')} without 18 numbers")] if broken else []
    if not ran.all():
        skipped.append(
            Skipped(
                str(path), f"{number_of(int((~ran).sum()), 'job')} ran for no known time or on no processors", False
            )
        )
    order = np.flatnonzero(ran)[np.argsort(start[ran], kind="stable")]
    rest = (column["job"], start, column["run"], processors, column["user"], column["program"])
    return Swf._make([*(each[order] for each in rest), tuple(skipped)])


def _bytes(path: Path) -> bytes:
    with reading(path, InvalidOption, "expected a file in the Standard Workload Format"):
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            try:
                raw = gzip.decompress(raw)
            except (EOFError, OSError) as error:
                raise InvalidOption(f"{path}: is damaged: {error}") from None
    if not raw.strip():
        raise InvalidOption(f"{path}: is empty; expected a file in the Standard Workload Format")
    return raw


def _table(raw: bytes, path: Path) -> tuple[Any, int]:
    """Spaces made one, comments left out, and the rest read as numbers."""
    csv, pa = arrow("csv"), arrow()
    lines = b"\n".join(_plain(raw))
    odd = OddRows()
    try:
        table = csv.read_csv(
            pa.BufferReader(lines + b"\n"),
            csv.ReadOptions(column_names=list(FIELDS), use_threads=False),
            csv.ParseOptions(delimiter=" ", quote_char=False, invalid_row_handler=odd),
            csv.ConvertOptions(include_columns=list(_TAKEN), column_types=dict.fromkeys(FIELDS, pa.float64())),
        )
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InvalidOption(f"{path}: is not in the Standard Workload Format: {reason}") from None
    if not table.num_rows:
        raise InvalidOption(f"{path}: has no line of 18 numbers; expected the Standard Workload Format")
    return table, odd.count


def _plain(raw: bytes) -> Iterable[bytes]:
    for line in raw.splitlines():
        words = line.split()
        if words and not words[0].startswith(b";"):
            yield b" ".join(words)


def _jobs(found: Swf, model: Model, node_bandwidth: float, cores_per_node: int) -> Iterable[Job]:
    columns = (found.job, found.start, found.seconds, found.processors, found.user, found.program)
    for job, start, seconds, processors, user, program in zip(*(column.tolist() for column in columns), strict=True):
        nodes = -(-int(processors) // cores_per_node)
        kin = f"{user:.0f} {program:.0f}"
        rate = nodes * node_bandwidth
        pieces = model(JobDemand(seconds, nodes, int(processors), rate, np.nan, np.nan, kin))
        yield Job(
            id=f"{job:.0f}",
            user=f"{user:.0f}",
            executable=f"app{program:.0f}" if program >= 0 else "job",
            start=start,
            seconds=seconds,
            pieces=pieces,
            source="model",
            timed=False,
            nodes=nodes,
            nodes_origin="measured" if cores_per_node == 1 else "assumed",
            processes=int(processors),
        )
