"""Darshan logs and Slurm's accounting of the same time, joined by job id.

From Slurm come the nodes, and when a job really began and ended: logs begin with MPI_Init. sacct prints times without a
zone, so if most logs lie a whole number of quarter hours away from their jobs, sacct's times are moved by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from penstock.traces.job import Job
from penstock.traces.options import Options
from penstock.traces.pieces import joined as all_of
from penstock.traces.result import Skipped
from penstock.traces.slurm.accounting import Accounting, read_accounting
from penstock.traces.slurm.importing import as_jobs

QUARTER = 900.0


class Joined(NamedTuple):
    """Jobs by their start; `coverage` is the share of node-hours of jobs that have logs."""

    jobs: list[Job]
    coverage: float
    notes: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def joined(jobs: Sequence[Job], file: Path, options: Options, fields: Iterable[str] | None = None) -> Joined:
    """The jobs of the logs with what Slurm knows of them, and those that only Slurm has, if these are kept."""
    accounting = read_accounting(file, fields)
    rows = as_jobs(accounting, None, options)
    by_id = _by_id(accounting)
    shift = _shift(jobs, rows, by_id)
    rows = [replace(row, start=row.start + shift) for row in rows]
    met: dict[int, list[Job]] = {}
    lone = []
    for job in jobs:
        place = _match(job, rows, by_id)
        if place is None:
            lone.append(job)
        else:
            met.setdefault(place, []).append(job)
    both = [_both(rows[place], logs) for place, logs in met.items()]
    only = [replace(row, flags=("no log",)) for i, row in enumerate(rows) if i not in met]
    kept = [*both, *(job for job in lone if job.pieces.total), *(only if options.unseen == "keep" else ())]
    kept.sort(key=lambda job: (job.start, job.id))
    return Joined(kept, _coverage(rows, met), _notes(shift, lone, only, options), accounting.skipped)


def _by_id(accounting: Accounting) -> dict[str, list[int]]:
    """Rows by every id that a job may be known under."""
    found: dict[str, list[int]] = {}
    for place, ids in enumerate(zip(accounting.id, accounting.raw_id, strict=True)):
        for each in dict.fromkeys(ids):
            found.setdefault(each, []).append(place)
    return found


def _shift(jobs: Sequence[Job], rows: Sequence[Job], by_id: dict[str, list[int]]) -> float:
    """What sacct's clock must be moved by, if most jobs agree on a zone."""
    apart = [min((job.start - rows[i].start for i in by_id[job.id]), key=abs) for job in jobs if job.id in by_id]
    if not apart or _fit(jobs, rows, by_id) > 0.5:
        return 0.0
    zone = QUARTER * round(float(np.median(apart)) / QUARTER)
    # A log starts after its job, by seconds or hours; only a start before it, or a shift that all share, is the zone.
    agree = np.mean([abs(each - zone) < QUARTER for each in apart])
    return zone if abs(zone) <= 14 * 3600 and agree > 0.5 else 0.0


def _fit(jobs: Sequence[Job], rows: Sequence[Job], by_id: dict[str, list[int]]) -> float:
    """The share of jobs whose logs lie where Slurm has the job: a table begins with a job's first byte, hours late."""
    known = [(job, [rows[i] for i in by_id[job.id]]) for job in jobs if job.id in by_id]
    within = [any(row.start - 60.0 <= job.start and job.end <= row.end + 60.0 for row in own) for job, own in known]
    return float(np.mean(within))


def _match(job: Job, rows: Sequence[Job], by_id: dict[str, list[int]]) -> int | None:
    """The run of the job's id that overlaps it; ids come round, and clusters share them."""
    for place in by_id.get(job.id, ()):
        if rows[place].start - 60.0 <= job.end and job.start <= rows[place].end + 60.0:
            return place
    return None


def _both(row: Job, logs: list[Job]) -> Job:
    start = min(row.start, *(log.start for log in logs))
    end = max(row.end, *(log.end for log in logs))
    first = max(logs, key=lambda log: log.pieces.total)
    several = len(logs) > 1
    return replace(
        first,
        start=start,
        seconds=end - start,
        pieces=all_of(log.pieces.shifted(log.start - start) for log in logs),
        nodes=row.nodes or first.nodes,
        nodes_origin="measured" if row.nodes else first.nodes_origin,
        complete=all(log.complete for log in logs),
        timed=all(log.timed for log in logs),
        resolution=None if several else first.resolution,
        io_seconds=sum(log.io_seconds or 0.0 for log in logs) or None,
        logs=sum(log.logs for log in logs),
        flags=tuple(dict.fromkeys(flag for log in logs for flag in log.flags)),
    )


def _coverage(rows: Sequence[Job], met: dict[int, list[Job]]) -> float:
    hours = np.array([(row.nodes or 1) * row.seconds for row in rows])
    return float(hours[list(met)].sum() / hours.sum()) if hours.sum() else 0.0


def _notes(shift: float, lone: Sequence[Job], only: Sequence[Job], options: Options) -> tuple[str, ...]:
    notes = []
    if shift:
        notes.append(f"sacct's times have no zone; moved by {shift / 3600:+g} h to those of the logs")
    if lone:
        notes.append(f"{len(lone):,} jobs have a log and are not in sacct's output")
    if only:
        how = "kept as jobs that only compute" if options.unseen == "keep" else "left out"
        notes.append(f"{len(only):,} jobs have no log; {how}")
    return tuple(notes)
