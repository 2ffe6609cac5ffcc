"""Months of a trace in which nothing ran, cut out: simulated clocks are exact to a billionth of the time they show.

Logs picked from several years would be simulated with instants a tenth of a second wide. Where nothing runs nothing can
happen, so a long gap may be closed to an hour without changing any job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.traces.job import Job

LONG = 30 * 86400.0  # a trace that is longer has its gaps closed
GAP = 86400.0
LEFT = 3600.0


def without_gaps(jobs: Sequence[Job]) -> tuple[list[Job], list[str]]:
    """The jobs, by start, with days without any job made hours; and a note if there were some."""
    if not jobs or max(job.end for job in jobs) - jobs[0].start <= LONG:
        return list(jobs), []
    moved, closed, count = [], 0.0, 0
    until = jobs[0].start
    for job in jobs:
        if job.start - until > GAP:
            closed += job.start - until - LEFT
            count += 1
        until = max(until, job.end)
        moved.append(replace(job, start=job.start - closed))
    if not count:
        return list(jobs), []
    days = closed / 86400.0
    gaps = "gap of" if count == 1 else "gaps, together"
    return moved, [f"{count} {gaps} {days:,.0f} days in which nothing ran, made an hour each"]
