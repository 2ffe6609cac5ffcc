"""The fluid event loop. Between events all rates are constant; at an event the policy sets them anew.

Times count from the beginning of the run. Compute ends are known when they start and never move, so they wait in a
heap. Active transfers lie side by side in the arrays of the View; their completions follow from the rates in force.
All that happens within 1e-9 of an instant, relative, happens at it: first everything is applied, then the policy
decides once.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.engine.link.losses import NOT_ASKED, mean_loss
from penstock.engine.link.state import (
    ACTIVE,
    CHAINS,
    ENDED,
    EVENTS,
    IDLE,
    NOW,
    SEGMENTS,
    SEGMENTS_TYPE,
    STATE,
    STOP,
    TICK,
    WAITING,
    Chains,
    LinkState,
    Segments,
)
from penstock.engine.rows import move, move_row, rows_shown, take
from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import inlined, kernel, part
from penstock.kernels.heap import pop, push
from penstock.policies.sharing.policy import Decide
from penstock.policies.sharing.rules import mean_iteration, next_tick
from penstock.policies.sharing.view import POLICY, RATES, ROOM, View

MOST_IDLE = 1_000_000

# How `run` came to stop.
DONE, PAUSED, BUDGET_SPENT, ROOM_SPENT, STALLED, REFUSED, SOMEONE_ENDED, STOPPED = range(8)


@inlined
def _post(chains: Chains, state: LinkState, view: View, application: int, now: float) -> None:
    """Make the operation that `application` has reached a new row of the View."""
    row = state.counts[ACTIVE]
    state.counts[ACTIVE] = row + 1
    operation = state.operation[application]
    view.application[row] = application
    view.nodes[row] = chains.nodes[application]
    view.limit[row] = chains.limit[operation]
    view.remaining[row] = chains.volume[operation]
    view.posted[row] = now
    view.release[row] = chains.release[application]
    view.progress[row] = state.done[application]
    view.omega[row] = mean_iteration(state.iteration_seconds[application], state.iterations[application])
    view.rate[row] = 0.0
    state.lost[application] = 0.0
    state.segment_start[row] = now


@inlined
def _drop(view: View, state: LinkState, row: int) -> None:
    """Remove a row: the last one takes its place."""
    last = state.counts[ACTIVE] - 1
    state.counts[ACTIVE] = last
    move_row(view, last, row)
    state.segment_start[row] = state.segment_start[last]


@inlined
def _wait(state: LinkState, application: int, until: float) -> None:
    """Come back to `application` at that time."""
    waiting = state.counts[WAITING]
    push(state.heap_time, state.heap_application, waiting, until, application)
    state.counts[WAITING] = waiting + 1


@inlined
def _enter(chains: Chains, state: LinkState, view: View, application: int, operation: int, now: float) -> None:
    """Start what leads to `operation`: its compute, the operation itself if there is none, or the tail."""
    state.operation[application] = operation
    state.lost[application] = now - chains.release[application] - state.done[application]
    if operation < chains.first[application + 1]:
        work = chains.work[operation]
        if work > SAME * now:
            state.since[application] = now
            _wait(state, application, now + work)
        else:
            state.compute_done[application] += work
            state.done[application] += work
            _post(chains, state, view, application, now)
    else:
        state.since[application] = now
        tail = chains.tail[application]
        # The end of a last compute is no event: its time is settled here.
        if chains.endless[application] == 0 and now + tail <= chains.end * (1.0 + SAME):
            state.completion[application] = min(now + tail, chains.end)
            state.compute_done[application] += tail
            state.done[application] += tail
            if chains.watching > 0:
                _wait(state, application, now + tail)


@inlined
def _record(segments: Segments, state: LinkState, view: View, row: int, now: float, last: bool) -> None:
    """Close the segment of `row` at its present rate; the last of an operation even if it took no time at all."""
    if segments.start.size > 0 and (last or now > state.segment_start[row]):
        slot = state.counts[SEGMENTS]
        state.counts[SEGMENTS] = slot + 1
        segments.application[slot] = view.application[row]
        segments.operation[slot] = state.operation[view.application[row]]
        segments.start[slot] = state.segment_start[row]
        segments.stop[slot] = now
        segments.rate[slot] = view.rate[row]
    state.segment_start[row] = now


@inlined
def _complete(chains: Chains, state: LinkState, view: View, segments: Segments, row: int, now: float) -> None:
    """The operation of `row` is over: credit it exactly and go on to what follows."""
    _record(segments, state, view, row, now, True)
    application = view.application[row]
    operation = state.operation[application]
    seconds = chains.volume[operation] / chains.limit[operation]
    state.transferred[application] += chains.volume[operation]
    state.done[application] += seconds
    if operation > chains.first[application] or chains.work[operation] > 0.0:
        state.iterations[application] += 1.0
        state.iteration_seconds[application] += chains.work[operation] + seconds
    _drop(view, state, row)
    _enter(chains, state, view, application, operation + 1, now)


@inlined
def _wake(chains: Chains, state: LinkState, view: View, now: float) -> None:
    """Take the first of the heap: a release, a compute that leads to an operation, or the end of all."""
    application = state.heap_application[0]
    pop(state.heap_time, state.heap_application, state.counts[WAITING])
    state.counts[WAITING] -= 1
    operation = state.operation[application]
    if operation < 0:
        _enter(chains, state, view, application, chains.first[application], now)
    elif operation == chains.first[application + 1]:
        state.counts[ENDED] += 1
    else:
        state.compute_done[application] += chains.work[operation]
        state.done[application] += chains.work[operation]
        _post(chains, state, view, application, now)


@inlined
def _record_changes(view: View, state: LinkState, segments: Segments, rates: Floats, now: float) -> None:
    """Close the segments of those whose rate is about to change."""
    for row in range(state.counts[ACTIVE]):
        if rates[row] != view.rate[row]:
            _record(segments, state, view, row, now, False)


@inlined
def _advance(chains: Chains, state: LinkState, view: View, segments: Segments, now: float, then: float) -> None:
    """Move all transfers from `now` to `then`, and apply all that happens there."""
    nearly = SAME * then
    active = state.counts[ACTIVE]
    row = move(view.remaining, view.progress, view.rate, view.limit, active, then - now, nearly)
    # Downwards: completing a row moves the last one into its place, and that has been looked at.
    while row >= 0:
        if view.remaining[row] <= view.rate[row] * nearly:
            _complete(chains, state, view, segments, row, then)
        row -= 1
    while state.counts[WAITING] > 0 and state.heap_time[0] <= then + nearly:
        _wake(chains, state, view, then)


@inlined
def lost_by_all(chains: Chains, state: LinkState, view: View, now: float) -> float:
    """The mean loss, if the policy asks for it."""
    if chains.losses == 0:
        return NOT_ASKED
    active = state.counts[ACTIVE]
    known = (state.operation, chains.release, state.completion, state.lost)
    return mean_loss(now, active, view.release, view.progress, *known)


@inlined
def _next_instant(chains: Chains, state: LinkState, completion: float) -> float:
    """When something happens next: a completion, a release, the end of a compute, or the end of it all."""
    then = min(completion, chains.end)
    return min(then, state.heap_time[0]) if state.counts[WAITING] > 0 else then


@inlined
def _pass_ticks(state: LinkState, tick: float, now: float) -> None:
    """Make the next tick one that lies ahead."""
    if tick > 0.0 and state.clock[TICK] * tick <= now * (1.0 + SAME):
        state.clock[TICK] = next_tick(now, tick)


@inlined
def _after_instant(chains: Chains, state: LinkState, segments: Segments) -> int:
    """Whether to go on: not when all is over, someone has ended or may join, or what comes next has no room."""
    status = BUDGET_SPENT
    ended = state.counts[ENDED]
    state.counts[ENDED] = 0
    if chains.end == np.inf and state.counts[ACTIVE] + state.counts[WAITING] == 0:
        status = DONE
    elif ended > 0:
        status = SOMEONE_ENDED
    elif state.clock[NOW] * (1.0 + SAME) >= state.clock[STOP]:
        status = STOPPED
    elif 0 < segments.start.size < state.counts[SEGMENTS] + 2 * state.since.size:
        status = ROOM_SPENT
    return status


@kernel(
    types.int64(
        CHAINS, STATE, ROOM, POLICY, SEGMENTS_TYPE, RATES, types.float64, types.int64, types.boolean, types.boolean
    )
)
def run(
    chains: Chains,
    state: LinkState,
    view: View,
    policy: Decide,
    segments: Segments,
    rates: Floats,
    tick: float,
    budget: int,
    pausing: bool,
    resuming: bool,
) -> int:
    """Go on until the end, until `budget` events have passed, or, `pausing`, until a decision is needed.

    After a pause the caller puts its rates into `rates` and calls again with `resuming`. When someone has ended, the
    caller may admit others at that instant before it calls again. At the caller's stop, if something happens there, the
    run stops before it decides; else before the first instant beyond, its rates in force: then the caller goes on as
    after a pause, with the same rates.
    """
    now = state.clock[NOW]
    status = BUDGET_SPENT
    while status == BUDGET_SPENT and budget > 0:
        active = state.counts[ACTIVE]
        soonest = np.inf
        if active > 0:
            if pausing and not resuming:
                status = PAUSED
                break
            if not resuming:
                lost = lost_by_all(chains, state, view, now)
                policy(rows_shown(view, now, view.capacity, 0, active, view.memory, lost), part(rates, 0, active))
            if segments.start.size > 0:
                _record_changes(view, state, segments, rates, now)
            soonest, in_all = take(rates, view.rate, view.limit, view.remaining, active)
            if not in_all <= view.capacity * (1.0 + SAME):
                status = REFUSED
                break
        resuming = False
        then = _next_instant(chains, state, now + soonest)
        if then == np.inf and state.clock[STOP] == np.inf:
            # Nothing will happen but ticks. A policy may have its reasons to wait, but not for ever.
            state.counts[IDLE] += 1
            if tick <= 0.0 or state.counts[IDLE] > MOST_IDLE:
                status = STALLED
                break
        if tick > 0.0:
            then = min(then, state.clock[TICK] * tick)
        if then > state.clock[STOP] * (1.0 + SAME):
            status = STOPPED
            break
        if then * (1.0 + SAME) >= chains.end:
            then = chains.end
            status = DONE
        _advance(chains, state, view, segments, now, then)
        now = then
        state.clock[NOW] = now
        _pass_ticks(state, tick, now)
        state.counts[EVENTS] += 1
        budget -= 1
        if status == BUDGET_SPENT:
            status = _after_instant(chains, state, segments)
    return status


@kernel(types.void(CHAINS, STATE, ROOM, types.int64, types.float64))
def admit(chains: Chains, state: LinkState, view: View, application: int, now: float) -> None:
    """Let an application that was held back start now."""
    chains.release[application] = now
    _enter(chains, state, view, application, chains.first[application], now)


@kernel(types.void(CHAINS, STATE, ROOM, SEGMENTS_TYPE, types.float64, types.float64))
def advance(chains: Chains, state: LinkState, view: View, segments: Segments, tick: float, then: float) -> None:
    """Go on at the rates in force to an instant that the loop knows nothing of: somebody will be admitted then."""
    _advance(chains, state, view, segments, state.clock[NOW], then)
    state.clock[NOW] = then
    _pass_ticks(state, tick, then)
