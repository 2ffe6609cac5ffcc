"""Runs of the loop on I/O nodes that do not disturb each other, put together into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from penstock.engine.link.execution import Run
from penstock.engine.program import Program
from penstock.engine.timeline import Timeline
from penstock.kernels.arrays import Floats, Ints


def merged(program: Program, rows: Sequence[Ints], runs: Sequence[Run]) -> Run:
    """One run of `program`, given those of its parts; `rows` says which applications each part has."""

    def whole(name: str) -> Floats:
        values = np.empty(len(program.names))
        for own, run in zip(rows, runs, strict=True):
            values[own] = getattr(run, name)
        return values

    origin = min(run.origin for run in runs)
    runs = [_counted_from(origin, run) for run in runs]
    timelines = [run.timeline for run in runs if run.timeline is not None]
    return Run(
        origin=origin,
        end=max(run.end for run in runs),
        events=sum(run.events for run in runs),
        seconds=sum(run.seconds for run in runs),
        compute_done=whole("compute_done"),
        transferred=whole("transferred"),
        io_seconds=whole("io_seconds"),
        completion=whole("completion"),
        cut=whole("cut"),
        timeline=_merged_timeline(program, rows, timelines) if timelines else None,
    )


def _counted_from(origin: float, run: Run) -> Run:
    later = run.origin - origin
    if not later:
        return run
    return replace(run, origin=origin, end=run.end + later, completion=run.completion + later, cut=run.cut + later)


def _merged_timeline(program: Program, rows: Sequence[Ints], timelines: Sequence[Timeline]) -> Timeline:
    parts = [
        replace(timeline, application=own[timeline.application]) for own, timeline in zip(rows, timelines, strict=True)
    ]
    started, stopped = np.empty((2, len(program.names)))
    for own, part in zip(rows, parts, strict=True):
        started[own], stopped[own] = part.started, part.stopped
    cut = sum(part.cut for part in parts)
    # Those that were cut off stay last; the others are in the order of their ends.
    open_ended = np.concatenate([np.arange(part.stop.size) >= part.cut for part in parts])
    order = np.lexsort([np.concatenate([part.stop for part in parts]), open_ended])
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])[order]
        for name in ("application", "operation", "start", "stop", "rate")
    }
    return Timeline(
        names=program.names,
        capacity=sum(part.capacity for part in parts),
        begin=program.begin,
        end=max(part.end for part in parts),
        started=started,
        stopped=stopped,
        cut=cut,
        **columns,
    )
