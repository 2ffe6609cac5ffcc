"""Logs to jobs: every process of a job may leave a log of its own, and all of them are one job.

Logs belong together by job id and user, unless an hour or more lies between them: ids come round again, and several
clusters have the same. Without a scheduler the id is 0; then executable, user and overlap decide. Logs that moved
nothing (bash, readlink …) are dropped from a job and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from penstock.traces.darshan.evidence import Evidence, evidence
from penstock.traces.darshan.layers import Counted, Layer, counted
from penstock.traces.darshan.log import Log
from penstock.traces.job import Job, Source
from penstock.traces.pieces import coarse, joined

APART = 3600.0
_WEAKER: tuple[Source, ...] = ("counters", "heatmap", "dxt")


class IoTimes(NamedTuple):
    """Seconds that processes spent in I/O: reading and writing by the slowest, in all, and on metadata."""

    slowest: float
    mean: float
    meta: float


@dataclass(frozen=True)
class ReadLog:
    """What is kept of a log once it is read: much less than its records."""

    file: Path
    job: int
    user: int
    executable: str
    processes: int
    start: float
    seconds: float
    evidence: Evidence
    complete: bool
    resolution: float | None
    times: IoTimes
    opens: int
    stripes: dict[int, float]
    hosts: frozenset[str]
    flags: tuple[str, ...]

    @property
    def end(self) -> float:
        """When the run was over."""
        return self.start + self.seconds

    @property
    def volume(self) -> float:
        """Bytes."""
        return self.evidence.pieces.total


def seen(log: Log) -> ReadLog:
    """The gist of a log."""
    chosen = counted(log)
    found = evidence(log, chosen)
    found = found._replace(pieces=coarse(found.pieces, log.seconds))
    return ReadLog(
        file=log.file,
        job=log.job,
        user=log.user,
        executable=program(log.executable),
        processes=log.processes,
        start=log.start,
        seconds=log.seconds,
        evidence=found,
        complete=chosen.complete,
        resolution=log.heat_map.width if log.heat_map and found.source == "heatmap" else None,
        times=_times(chosen, log.processes),
        opens=int(sum(layer.counters.opens.sum() for layer in chosen.layers)),
        stripes=_stripes(log, chosen),
        hosts=log.hosts,
        flags=(*chosen.flags, *found.flags),
    )


def program(command: str) -> str:
    """The name of what was run: the last part of its path, and of a script under an interpreter that of the script."""
    words = command.split()
    name = words[0].rsplit("/", 1)[-1] if words else ""
    script = words[1] if len(words) > 1 and name.startswith("python") and words[1].endswith(".py") else ""
    return script.rsplit("/", 1)[-1] or name or "unknown"


def jobs_of(logs: Iterable[ReadLog]) -> tuple[list[Job], int]:
    """Jobs by their start, and how many logs without volume were dropped from jobs of several logs."""
    groups: dict[tuple[object, ...], list[ReadLog]] = {}
    for log in sorted(logs, key=lambda each: (each.start, str(each.file))):
        key = (log.job, log.user) if log.job else (0, log.user, log.executable)
        groups.setdefault(key, []).append(log)
    together = [part for key, group in groups.items() for part in _parts(group, APART if key[0] else 0.0)]
    jobs = [_job([log for log in part if log.volume] or part[:1]) for part in together]
    dropped = sum(len(part) - job.logs for part, job in zip(together, jobs, strict=True) if job.pieces.total)
    return sorted(jobs, key=lambda job: (job.start, job.id)), dropped


def _parts(group: list[ReadLog], gap: float) -> Iterator[list[ReadLog]]:
    """Logs by start, cut where none has been running for longer than `gap`."""
    part: list[ReadLog] = []
    until = -np.inf
    for log in group:
        if part and log.start > until + gap:
            yield part
            part = []
        part.append(log)
        until = max(until, log.end) if len(part) > 1 else log.end
    yield part


def _job(logs: list[ReadLog]) -> Job:
    largest = max(logs, key=lambda log: log.volume)
    start = min(log.start for log in logs)
    seconds = max(log.end for log in logs) - start
    hosts = frozenset[str]().union(*(log.hosts for log in logs))
    slowest, mean = _one_by_one(logs), sum(log.times.mean for log in logs)
    processes = sum(log.processes for log in logs)
    return Job(
        id=str(largest.job),
        user=str(largest.user),
        executable=largest.executable,
        start=start,
        seconds=seconds,
        pieces=coarse(joined(log.evidence.pieces.shifted(log.start - start) for log in logs), seconds),
        source=_weakest(logs),
        complete=all(log.complete for log in logs),
        timed=all(log.evidence.timed for log in logs),
        resolution=logs[0].resolution if len(logs) == 1 else None,
        nodes=len(hosts) or None,
        nodes_origin="lower_bound" if hosts else "assumed",
        processes=processes,
        io_seconds=slowest or None,
        meta_seconds=sum(log.times.meta for log in logs) / processes,
        imbalance=slowest * processes / mean if slowest and mean and processes > 1 else None,
        opens=sum(log.opens for log in logs),
        stripes=_added(log.stripes for log in logs),
        logs=len(logs),
        flags=tuple(dict.fromkeys(flag for log in logs for flag in log.flags)),
    )


def _weakest(logs: list[ReadLog]) -> Source:
    """The weakest kind of evidence that placed more than 2 % of the bytes."""
    total = sum(log.volume for log in logs)
    by = {source: sum(log.volume for log in logs if log.evidence.source == source) for source in _WEAKER}
    return next((source for source in _WEAKER if by[source] > 0.02 * total), "counters")


def _one_by_one(logs: list[ReadLog]) -> float | None:
    """Seconds of I/O, if no two logs overlap: of processes that took turns nobody knows how much was in parallel."""
    parts = list(_parts(sorted(logs, key=lambda log: log.start), 0.0))
    return sum(part[0].times.slowest for part in parts) if all(len(part) == 1 for part in parts) else None


def _times(chosen: Counted, processes: int) -> IoTimes:
    each = [_layer_times(layer, processes) for layer in chosen.layers]
    return IoTimes._make(sum(column) for column in zip(*each, strict=True)) if each else IoTimes(0.0, 0.0, 0.0)


def _layer_times(layer: Layer, processes: int) -> IoTimes:
    """The records of a rank add up; of a file that all ranks share, the log has the sum and the slowest."""
    table = layer.counters
    moving = np.maximum(table.read_seconds, 0.0) + np.maximum(table.write_seconds, 0.0)
    shared = table.rank < 0
    per_rank = np.bincount(table.rank[~shared], moving[~shared]) if (~shared).any() else np.zeros(1)
    slow = np.where(table.slowest_seconds > 0, np.minimum(table.slowest_seconds, moving), moving / processes)
    return IoTimes(
        slowest=float(per_rank.max() + slow[shared].sum()),
        mean=float(moving.sum()),
        meta=float(np.maximum(table.meta_seconds, 0.0).sum()),
    )


def _stripes(log: Log, chosen: Counted) -> dict[int, float]:
    """Bytes by the stripe count of their file."""
    found: dict[int, float] = {}
    for layer in chosen.layers if log.stripes else ():
        volume_of = layer.counters.read + layer.counters.written
        moved = volume_of > 0
        for file, volume in zip(layer.counters.file[moved].tolist(), volume_of[moved].tolist(), strict=True):
            if file in log.stripes:
                found[log.stripes[file]] = found.get(log.stripes[file], 0.0) + volume
    return found


def _added(parts: Iterable[dict[int, float]]) -> dict[int, float]:
    total: dict[int, float] = {}
    for part in parts:
        for count, volume in part.items():
            total[count] = total.get(count, 0.0) + volume
    return total
