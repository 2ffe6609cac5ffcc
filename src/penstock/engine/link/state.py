"""The state of a run: everything that changes, in arrays, so that a run can stop between two events and go on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, Ints
from penstock.kernels.numba_types import numba_type
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Sharing
from penstock.policies.sharing.view import View, empty_view


class Chains(NamedTuple):
    """What the loop reads of a Program."""

    capacity: float
    end: float
    efficiency: Floats  # share of the capacity with 1, 2, … moving; empty: all of it
    nodes: Floats
    release: Floats
    walltime: Floats
    start: Floats
    first: Ints
    work: Floats
    volume: Floats
    limit: Floats
    tail: Floats
    endless: Ints
    watching: int  # 1: stop whenever an application ends
    losses: int  # 1: the policy asks for the mean loss


class LinkState(NamedTuple):
    """Per application, where it stands; and the few numbers of the run itself."""

    # The operation it computes towards or transfers; first[i + 1] in the tail; -1 before release; cut off at j: -2 - j.
    operation: Ints
    since: Floats  # when its current compute started
    done: Floats  # progress in seconds, finished phases only
    compute_done: Floats  # seconds inside the run, finished phases only
    transferred: Floats  # bytes inside the run, finished operations only
    completion: Floats  # NaN until it is known
    cut: Floats  # when its walltime ended it; NaN if it has not
    until: Floats  # when its walltime will end it; infinity: never, or not started
    lost: Floats  # seconds that it had lost when its current compute started; 0 with an operation posted
    iterations: Floats  # completed ones, for ω
    iteration_seconds: Floats  # their total length alone
    heap_time: Floats
    heap_application: Ints
    limit_time: Floats  # a second heap: whose walltime ends when
    limit_application: Ints
    remembered: Floats  # the policy's memory before a decision that may not count; empty without interference
    segment_start: Floats  # per row of the View: since when its rate has been in force
    clock: Floats  # now; number of the next tick; beyond which instant not to go; capacity of the decision in force
    # Active rows; heap entries; events; recorded segments; decisions with only ticks ahead; ended now; walltimes ahead.
    counts: Ints


NOW, TICK, STOP, CAPACITY = range(4)
ACTIVE, WAITING, EVENTS, SEGMENTS, IDLE, ENDED, LIMITED = range(7)


class Segments(NamedTuple):
    """Room for recorded segments; empty arrays: do not record."""

    application: Ints
    operation: Ints  # among all of the program
    start: Floats
    stop: Floats
    rate: Floats


_F = types.float64[::1]
_I = types.int64[::1]
CHAINS = numba_type(Chains)
STATE = numba_type(LinkState)
SEGMENTS_TYPE = numba_type(Segments)


def chains_of(program: Program, origin: float, watching: bool, losses: bool) -> Chains:
    """The numbers of a program, with times counted from `origin`.

    What is "the same instant" is relative to the time that has passed, so it must not depend on the calendar: at the
    seconds since 1970 a billionth is more than a second.
    """
    return Chains(
        capacity=program.capacity,
        end=program.end - origin,
        efficiency=program.efficiency,
        nodes=program.nodes,
        release=program.release - origin,
        walltime=program.walltime,
        start=program.start - origin,
        first=program.first,
        work=program.work,
        volume=program.volume,
        limit=program.limit,
        tail=program.tail,
        endless=program.endless.astype(np.int64),
        watching=int(watching),
        losses=int(losses),
    )


def initial_state(program: Program, origin: float, held: bool) -> LinkState:
    """Nothing has happened; every application waits for its release, or, `held`, to be admitted."""
    m = len(program.names)
    order = np.argsort(program.start, kind="stable")  # a sorted array is a heap
    until = np.full(m, np.inf) if held else program.release - origin + program.walltime
    by_until = np.argsort(until, kind="stable")
    return LinkState(
        operation=np.full(m, -1, np.int64),
        since=np.zeros(m),
        done=program.progress.copy(),
        compute_done=np.zeros(m),
        transferred=np.zeros(m),
        completion=np.full(m, np.nan),
        cut=np.full(m, np.nan),
        until=until,
        lost=np.zeros(m),
        iterations=np.zeros(m),
        iteration_seconds=np.zeros(m),
        heap_time=program.start[order] - origin,
        heap_application=order.astype(np.int64),
        limit_time=until[by_until],
        limit_application=by_until.astype(np.int64),
        remembered=np.zeros(0),
        segment_start=np.zeros(m),
        clock=np.array([0.0, 1.0, np.inf, program.capacity]),
        counts=np.array([0, 0 if held else m, 0, 0, 0, 0, np.isfinite(until).sum()], np.int64),
    )


def initial_view(program: Program, origin: float, policy: Sharing, foresight: Foresight | None) -> View:
    """Room for every application to be active at once."""
    m = len(program.names)
    blank = empty_view(m, policy.settings_array(), policy.initial_memory(m, foresight))
    return blank._replace(end=policy.window * (program.end - origin), capacity=program.capacity)


def no_segments() -> Segments:
    """Do not record."""
    return segments_room(0)


def segments_room(size: int) -> Segments:
    """Room for `size` segments."""
    whole, real = np.zeros((2, size), np.int64), np.zeros((3, size))
    return Segments(*whole, *real)
