"""What the loop with a burst buffer works on: what applications do, where each stands, what is planned (P5 §3).

Everything is counted per application in totals: bytes that it has produced and that have been sent to the file system,
bytes that have been fetched from it and consumed. What is produced but not sent, and fetched but not consumed, is in
the buffer. Each application has a part of the buffer for itself from its entry to its end; beyond it, all share a
common part. The parts of those that run and the bytes of those that have ended never exceed the device (parts.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, FloatTable, Ints
from penstock.kernels.numba_types import numba_type

AWAY, COMPUTING, READING, WRITING, OVER = range(5)
NOW, TICK, COMMON_RATE, COMMON_USED, PEAK, FREE, FREED, GROWTH, THROUGH, READS, WRITES, MOVES = range(12)
EVENTS, RECORDS, COMMON_FULL, WAITING, WRONG, GROWER, HEAD = range(7)
NOBODY = -1


class Script(NamedTuple):
    """What applications do: phases `first[k] : first[k + 1]`, none of them empty."""

    first: Ints  # m + 1
    kind: Ints  # COMPUTING, READING, WRITING
    amount: Floats
    starts: Floats  # when it would start, and end, were nothing in its way, counted from the release
    stops: Floats
    read: Floats  # what its application has read, and written, when it ends
    written: Floats
    nodes: Floats  # m
    release: Floats  # m
    read_cap: Floats  # m
    write_cap: Floats  # m
    whole: Floats  # m: its own part of the buffer, if there is room for all of it
    entry: Floats  # m: from when on its input may be fetched, and it has a part
    cut: Floats  # m: when it is cut off; infinity: never
    order: Ints  # m: by release, then as in the scenario
    device: float  # what all parts have together
    common: float  # the part that anybody may use
    efficiency: Floats  # share of the file system's bandwidth with 1, 2, … applications moving; empty: all of it
    begin: float  # the first release
    waits: int  # 1: an application does not start before there is room for its whole part


class Timetable(NamedTuple):
    """What is to be sent (flow 2·k) and fetched (flow 2·k + 1) by when: totals that grow evenly between times.

    Flow f has the times `first[f] : first[f + 1]`, of which the first is 0. Without a plan there are none.
    """

    first: Ints  # 2·m + 1
    time: Floats
    total: Floats  # at that time
    rate: Floats  # from then on


class TierState(NamedTuple):
    """Where each application stands."""

    doing: Ints
    phase: Ints  # the next phase
    next_read: Ints  # the first read phase that has not started; first[k + 1] if none
    next_write: Ints
    until: Floats  # when its compute ends, or it is released
    goal: Floats  # the total at which the operation under way ends
    horizon: Floats  # the total up to which is fetched
    produced: Floats
    sent: Floats
    fetched: Floats
    consumed: Floats
    entered: Ints  # 1: it has, or had, a part, and may fetch
    space: Floats  # its part now, or what it was at its end
    beyond: Ints  # 1: its own part is full, and what more it holds is in the common one
    producing: Floats  # rates
    sending: Floats
    fetching: Floats
    consuming: Floats
    completion: Floats  # NaN: not yet, or cut off
    ended: Floats  # when it completed or was cut off
    achieved: Floats  # seconds of work alone that it had done then
    computed: Floats  # seconds of finished computes
    compute_began: Floats
    out_posted: Floats  # since when something is to be sent
    in_posted: Floats
    iterations: Floats  # completed operations that count, for ω
    iteration_seconds: Floats
    out_row: Ints  # its flows in the present decision, -1: none
    in_row: Ints
    planned: Ints  # 2·m: where in its plan each flow is
    clock: Floats
    counts: Ints


class BufferContents(NamedTuple):
    """Room for what the buffers hold after each event; empty arrays: do not record."""

    time: Floats
    output: FloatTable  # events × m
    input: FloatTable


_F = types.float64[::1]
_I = types.int64[::1]
_F2 = types.float64[:, ::1]
SCRIPT = numba_type(Script)
TIMETABLE = numba_type(Timetable)
TIER = numba_type(TierState)
CONTENTS = numba_type(BufferContents)


def no_plan(applications: int) -> Timetable:
    """A plan that says nothing."""
    return Timetable(np.zeros(2 * applications + 1, np.int64), np.zeros(0), np.zeros(0), np.zeros(0))


_FROM_ZERO = ("goal", "produced", "sent", "fetched", "consumed", "producing", "sending", "fetching", "consuming")
_LATER = ("space", "ended", "achieved")
_FOR_SHARING = ("computed", "compute_began", "out_posted", "in_posted", "iterations", "iteration_seconds")


def initial_tier(script: Script, plan: Timetable) -> TierState:
    """Nothing has happened, and the buffer is empty."""
    m = script.release.size
    next_read, next_write = _first_of(script, READING), _first_of(script, WRITING)
    # A plan says itself how far ahead to fetch.
    until = script.first[1:] - 1 if plan.time.size else np.minimum(next_read, script.first[1:] - 1)
    ahead = np.where(script.first[:-1] <= until, script.read[until], 0.0)
    return TierState(
        doing=np.full(m, AWAY),
        phase=script.first[:-1].copy(),
        next_read=next_read,
        next_write=next_write,
        until=np.full(m, np.inf) if script.waits else script.release.copy(),
        horizon=ahead,
        entered=np.zeros(m, np.int64),
        beyond=np.ones(m, np.int64),
        completion=np.full(m, np.nan),
        out_row=np.full(m, -1),
        in_row=np.full(m, -1),
        planned=plan.first[:-1].copy(),
        clock=np.zeros(12),
        counts=np.array([0, 0, int(script.common == 0.0), 0, 0, NOBODY, 0]),
        **{name: np.zeros(m) for name in (*_FROM_ZERO, *_LATER, *_FOR_SHARING)},
    )


def _first_of(script: Script, kind: int) -> Ints:
    """The first phase of a kind of each application; first[k + 1] if there is none."""
    places = np.append(np.flatnonzero(script.kind == kind), script.kind.size)
    found: Ints = places[np.searchsorted(places, script.first[:-1])]
    return np.minimum(found, script.first[1:])
