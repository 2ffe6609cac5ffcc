"""The part of a trace that is looked at: what was asked for, less its ends where the machine was not full.

Logs begin with jobs that started after somebody turned them on: those that ran already are missing, and the file
system looks idle until they are over. So a window begins and ends where four fifths of the usual nodes are busy, usual
being what is busy half of the time in which anything is. Nothing is cut out of its middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.traces.job import Job
from penstock.traces.options import window_of

BUSY = "busy"
FULL = 0.8  # of the usual nodes
FEWEST = 10  # jobs: of fewer nobody can say what is usual


class LogWindow(NamedTuple):
    """On the clock of the jobs."""

    begin: float
    end: float

    def holds(self, job: Job) -> bool:
        """Whether a job ran in it."""
        return job.start < self.end and job.end > self.begin


def chosen(jobs: Sequence[Job], text: str) -> tuple[LogWindow, list[str]]:
    """What `--window` asks for, `A..B` or `busy`, trimmed; and a note if that took something away."""
    first = min(job.start for job in jobs)
    asked = LogWindow(first, max(job.end for job in jobs)) if text == BUSY else LogWindow(*window_of(text, first))
    inside = [job for job in jobs if asked.holds(job)]
    if len(inside) < FEWEST:
        return asked, []
    at, busy = _busy(inside, asked)
    usual = _usual(at, busy)
    full = np.flatnonzero(busy >= FULL * usual)
    kept = LogWindow(float(at[full[0]]), float(at[full[-1] + 1]))
    return kept, _note(asked, kept, usual)


def _busy(jobs: Sequence[Job], window: LogWindow) -> tuple[Floats, Floats]:
    """Instants at which the number of busy nodes changes, the last being the end; and that number after each other."""
    nodes = np.array([float(job.nodes or 1) for job in jobs])
    start = np.clip([job.start for job in jobs], *window)
    end = np.clip([job.end for job in jobs], *window)
    at = np.unique(np.concatenate([start, end, window]))
    change = np.bincount(np.searchsorted(at, start), nodes, len(at)) - np.bincount(
        np.searchsorted(at, end), nodes, len(at)
    )
    return at, np.cumsum(change)[:-1]


def _usual(at: Floats, busy: Floats) -> float:
    """What is busy half of the time in which anything is."""
    order = np.argsort(busy)
    there = np.where(busy[order] > 0, np.diff(at)[order], 0.0)
    half = np.searchsorted(np.cumsum(there), there.sum() / 2.0)
    return float(busy[order][min(int(half), len(order) - 1)])


def _note(asked: LogWindow, kept: LogWindow, usual: float) -> list[str]:
    late, early = kept.begin - asked.begin, asked.end - kept.end
    if late <= 0.0 and early <= 0.0:
        return []
    return [
        f"the window begins {late / 3600:.3g} h later and ends {early / 3600:.3g} h earlier than asked for: "
        f"outside fewer than {FULL:.0%} of the usual {usual:,.0f} nodes were busy"
    ]
