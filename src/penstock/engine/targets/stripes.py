"""Applications on targets, in arrays: which transfers an operation is made of, and all that changes while they run.

An operation of V bytes on n targets is n independent transfers of V/n, one on each target of its application, and is
over with the last (P4 §2.2). A target divides its *time*: a transfer that has a target to itself moves at its own
peak, b(n)/n or what the target can do at most. So the View of a target is in seconds: capacity and limits are 1, and
what remains of a transfer is the time that it would take alone. Where sharing costs (interference), a target with k
applications moving has less than all of its time to divide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, FloatTable, Ints
from penstock.kernels.numba_types import numba_type
from penstock.kernels.tournament import empty_tree
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Sharing
from penstock.policies.sharing.view import View, empty_view


class Stripes(NamedTuple):
    """`m` applications on `N` targets; application i has the stripes `first[i] : first[i + 1]`, one per target."""

    first: Ints  # m + 1
    owner: Ints  # s: whose it is
    target: Ints  # s: which target
    place: Ints  # s: which one it is among the applications of that target, in scenario order
    seconds: Floats  # s: seconds alone per byte of the whole operation
    alone: Floats  # m: the most of these: an operation alone takes that long per byte
    row: Ints  # N + 1: the rows of a target in the View
    occupant: Ints  # s: who is at each place, target after target
    memory: Ints  # N + 1: the policy's memory for a target
    efficiency: FloatTable  # N × k: what a target has to divide with 1, 2, … applications moving; empty: always 1


class Bounds(NamedTuple):
    """How far a run goes. Times count from its beginning."""

    deadline: Floats  # m: when an application is cut off; infinity: never
    end: float  # of the window; infinity: without one
    first: int  # 1: the run stops with the first completion (P4); 0: with the last, or the window


class StripeState(NamedTuple):
    """Where everything stands. Times count from the beginning of the run."""

    operation: Ints  # m: the operation it computes towards or transfers; first[i + 1] in the tail; -1 before release
    since: Floats  # m: when its current compute or operation started
    until: Floats  # m: when it completes or is cut off; infinity as long as that is not known
    cut: Ints  # m: 1: cut off
    done: Floats  # m: ideal progress in seconds, finished phases only
    compute_done: Floats  # m: finished phases only
    transferred: Floats  # m: finished operations only
    io_seconds: Floats  # m: during finished operations
    iterations: Floats  # m: completed ones, for ω
    iteration_seconds: Floats  # m: their total length alone
    under_way: Ints  # m: transfers of its operation that are not over
    active: Ints  # N: rows in use
    updated: Floats  # N: until when the rows have been moved
    busy: Floats  # N: seconds with a transfer
    tree: Floats  # the next completion on each target
    touched: Ints  # targets on which something happened, which must decide anew
    is_touched: Ints  # N
    stripe: Ints  # s: of each row of the View
    spare: Floats  # what the policy of the target that is asked remembered before; empty without interference
    broken: Floats  # s: bytes of operations that were cut off
    lost: Floats  # s: by place: seconds that it had lost when its transfer there was over; 0 while there is one
    heap_time: Floats
    heap_application: Ints
    clock: Floats  # now; number of the next tick; the first completion, as far as known; the last end, likewise
    # Heap entries; events; touched targets; decisions with only ticks ahead; applications whose end is not known; with
    # how many moving the target that is to decide is asked, 0: with all
    counts: Ints


NOW, TICK, FIRST_END, LAST_END = range(4)
# MOVING: with how many moving a target is asked, MOVED: with how many it was before; 0: not yet
WAITING, EVENTS, TOUCHED, IDLE, LEFT, MOVING, MOVED = range(7)
SETTLED = -1  # in place of MOVED: the answer to come holds

STRIPES = numba_type(Stripes)
BOUNDS = numba_type(Bounds)
STRIPE_STATE = numba_type(StripeState)


ALWAYS_ALL: FloatTable = np.empty((0, 0))


def stripes_of(
    count: Ints, target: Ints, peak: Floats, limit: Floats, policy: Sharing, efficiency: FloatTable = ALWAYS_ALL
) -> Stripes:
    """Compile who is where.

    `target` lists, application after application, its `count` targets; `peak` is what an application moves on each of
    them when nothing limits it, `limit` what a target moves at most.
    """
    first = np.concatenate([[0], np.cumsum(count)])
    owner = np.repeat(np.arange(count.size), count)
    order = np.argsort(target, kind="stable")
    row = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=limit.size))])
    place = np.empty_like(target)
    place[order] = np.arange(target.size) - row[target[order]]
    seconds = 1.0 / (count[owner] * np.minimum(peak[owner], limit[target]))
    return Stripes(
        first=first,
        owner=owner,
        target=target,
        place=place,
        seconds=seconds,
        alone=np.maximum.reduceat(seconds, first[:-1]),
        row=row,
        occupant=owner[order],
        memory=policy.memory * row,
        efficiency=efficiency,
    )


def efficiencies(of_targets: Sequence[Sequence[float] | None]) -> FloatTable:
    """What targets have to divide with 1, 2, … applications moving, the last value repeated; empty if always all."""
    if all(each is None for each in of_targets):
        return ALWAYS_ALL
    most = max(len(each) for each in of_targets if each is not None)
    rows = [each or (1.0,) for each in of_targets]
    return np.array([[*each, *[each[-1]] * (most - len(each))] for each in rows], dtype=np.float64)


def with_memory(
    stripes: Stripes, policy: Sharing, foresight: Foresight | None, origin: float
) -> tuple[Stripes, Floats]:
    """What the policy remembers at first, target after target; one that plans ahead plans for each target."""
    if policy.prepare is None:
        return stripes, np.zeros(stripes.memory[-1])
    parts = [_planned(stripes, policy, foresight, origin, target) for target in range(stripes.row.size - 1)]
    sizes = np.cumsum([0] + [part.size for part in parts])
    return stripes._replace(memory=sizes), np.concatenate(parts)


def _planned(stripes: Stripes, policy: Sharing, foresight: Foresight | None, origin: float, target: int) -> Floats:
    """The plan for one target: of its jobs only what is transferred there. `foresight` counts a second per byte."""
    here = np.flatnonzero(stripes.target == target)
    if here.size == 0:
        return np.empty(0)
    if foresight is not None:
        own = foresight.pick(stripes.owner[here])
        seconds = stripes.seconds[here]
        foresight = own._replace(
            start=own.start - origin,
            until=own.untils() - origin,
            seconds=own.seconds * np.repeat(seconds, np.diff(own.first)),
            mean_seconds=own.mean_seconds * seconds,
            everyone=foresight,
        )
    return policy.initial_memory(here.size, foresight)


def initial_stripe_state(program: Program, stripes: Stripes, deadline: Floats, origin: float) -> StripeState:
    """Nothing has happened; every application waits for its release, and for its deadline if it has one.

    In the heap, i + m stands for the deadline of application i.
    """
    m, targets = len(program.names), stripes.row.size - 1
    due = np.flatnonzero(deadline < np.inf)
    times = np.concatenate([program.start - origin, deadline[due]])
    order = np.argsort(times, kind="stable")  # a sorted array is a heap
    return StripeState(
        operation=np.full(m, -1, np.int64),
        **{name: np.zeros(m) for name in _PER_APPLICATION},
        done=program.progress.copy(),
        until=np.full(m, np.inf),
        cut=np.zeros(m, np.int64),
        under_way=np.zeros(m, np.int64),
        active=np.zeros(targets, np.int64),
        updated=np.zeros(targets),
        busy=np.zeros(targets),
        tree=empty_tree(targets),
        touched=np.zeros(targets, np.int64),
        is_touched=np.zeros(targets, np.int64),
        stripe=np.zeros(stripes.target.size, np.int64),
        spare=np.zeros(int(np.diff(stripes.memory).max()) if stripes.efficiency.size else 0),
        broken=np.zeros(stripes.target.size),
        lost=np.zeros(stripes.target.size),
        heap_time=times[order],
        heap_application=np.concatenate([np.arange(m), m + due])[order],
        clock=np.array([0.0, 1.0, np.inf, 0.0]),
        counts=np.array([times.size, 0, 0, 0, m, 0, 0], np.int64),
    )


_PER_APPLICATION = ("since", "compute_done", "transferred", "io_seconds", "iterations", "iteration_seconds")


def stripes_view(stripes: Stripes, policy: Sharing, memory: Floats, end: float = np.inf) -> View:
    """Room for every transfer to be active at once, the rows of a target side by side."""
    return empty_view(stripes.target.size, policy.settings_array(), memory)._replace(
        capacity=1.0, end=policy.window * end
    )
