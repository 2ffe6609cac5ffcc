"""Lustre's job_stats, dumped again and again: `lctl get_param obdfilter.*.job_stats` on the servers.

Counters grow from the moment a job is first seen by a target and vanish when it has been quiet for long; what a target
counts between two dumps moved between them. Dumps of several targets and times may follow each other in one file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.traces.tables.moved import Moved, differences, gathered

_TARGET = re.compile(r"^([\w.-]+)\.job_stats\s*=")
_JOB = re.compile(r"^-\s*job_id:\s*(.+?)\s*$")
_TIME = re.compile(r"^\s*(snapshot_time|start_time):\s*([\d.]+)")
_BYTES = re.compile(r"^\s*(read_bytes|write_bytes|read|write):.*?unit:\s*bytes.*?sum:\s*(\d+)")


class CounterReading(NamedTuple):
    """What one target had counted of one job when it was asked."""

    target: str
    job: str
    time: float
    born: float | None
    read: float
    written: float


def read_job_stats(file: Path) -> Moved:
    """The bytes of every job between dumps."""
    with reading(file, InvalidOption):
        lines = file.read_text("utf-8-sig").splitlines()
    found = list(_readings(lines))
    if not found:
        raise InvalidOption(f"{file}: has no job of job_stats; expected entries with job_id, snapshot_time, read_bytes")
    asked = {
        target: sorted({each.time for each in found if each.target == target}) for target in {e.target for e in found}
    }
    series: dict[tuple[str, str], list[CounterReading]] = {}
    for each in found:
        series.setdefault((each.target, each.job), []).append(each)
    rows = []
    for (target, job), own in series.items():
        own.sort(key=lambda each: each.time)
        born = own[0].born if own[0].born is not None else _before(asked[target], own[0].time)
        for writes in (False, True):
            values = [(each.time, each.written if writes else each.read) for each in own]
            rows += [(job, writes, *interval) for interval in differences(values, born)]
    steps = np.concatenate([np.diff(times) for times in asked.values()])
    notes = [] if len(steps) else ["each target was asked only once: bytes are spread since the counter began"]
    return gathered(rows, float(np.median(steps)) if len(steps) else None, notes)


def _before(times: list[float], first: float) -> float | None:
    """The dump before a job's first: it was not there then, so all its bytes moved since."""
    earlier = [time for time in times if time < first]
    return earlier[-1] if earlier else None


def _readings(lines: list[str]) -> Iterator[CounterReading]:
    target, job = "", ""
    times: dict[str, float] = {}
    moved: dict[str, float] = {}
    for line in [*lines, "- job_id: end"]:
        if match := _TARGET.match(line):
            if job and "snapshot_time" in times:
                yield _reading(target, job, times, moved)
            target, job, times, moved = match[1], "", {}, {}
        elif match := _JOB.match(line):
            if job and "snapshot_time" in times:
                yield _reading(target, job, times, moved)
            job, times, moved = match[1].strip("\"'"), {}, {}
        elif match := _TIME.match(line):
            times[match[1]] = float(match[2])
        elif match := _BYTES.match(line):
            moved[match[1].split("_")[0]] = float(match[2])


def _reading(target: str, job: str, times: dict[str, float], moved: dict[str, float]) -> CounterReading:
    return CounterReading(
        target, job, times["snapshot_time"], times.get("start_time"), moved.get("read", 0.0), moved.get("write", 0.0)
    )
