"""For a study of burst buffers: the schedule of the smallest one as a plan for a run behind one of any size."""

from __future__ import annotations

import numpy as np

from penstock.engine.tier.arrays import Timetable
from penstock.kernels.arrays import Floats
from penstock.studies.sizing.schedule import BufferSchedule


def plan_of(schedule: BufferSchedule) -> Timetable:
    """Totals that grow evenly between times; what has no time is due at once, or as soon as all else is done."""
    parts = [_flow(schedule, index, way) for index in range(len(schedule.names)) for way in (False, True)]
    first = np.cumsum([0] + [part[0].size for part in parts])
    return Timetable(first, *(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _flow(schedule: BufferSchedule, application: int, reading: bool) -> tuple[Floats, Floats, Floats]:
    """Times, totals and rates of one flow; the rows of a schedule come in time."""
    own = np.flatnonzero((schedule.application == application) & (schedule.reading == reading))
    start, end, amount = schedule.start[own], schedule.end[own], schedule.amount[own]
    early, late = np.isneginf(start), np.isposinf(end)
    before, after = float(amount[early].sum()), float(amount[late].sum())
    timed = ~(early | late)
    start, end, moved = start[timed], end[timed], amount[timed]
    done = before + np.concatenate([[0.0], np.cumsum(moved)])
    # Nothing flows between the end of a row and the start of the next, nor after the last.
    stops = np.append(end[:-1] < start[1:], True)[: end.size]
    last = float(end.max(initial=0.0))
    times = np.concatenate([[0.0], start, end[stops], [last]])
    totals = np.concatenate([[before], done[:-1], done[1:][stops], [done[-1] + after]])
    rates = np.concatenate([[0.0], moved / (end - start), np.zeros(int(stops.sum()) + 1)])
    order = np.argsort(times, kind="stable")
    return times[order], totals[order], rates[order]
