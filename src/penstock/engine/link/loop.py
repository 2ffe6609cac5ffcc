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
    CAPACITY,
    CHAINS,
    ENDED,
    EVENTS,
    IDLE,
    LIMITED,
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
from penstock.policies.sharing.rules import mean_iteration, movers, next_tick
from penstock.policies.sharing.view import POLICY, RATES, ROOM, View

MOST_IDLE = 1_000_000

# How `run` came to stop.
DONE, PAUSED, BUDGET_SPENT, ROOM_SPENT, STALLED, REFUSED, SOMEONE_ENDED, STOPPED, WALLTIME_OVER = range(9)


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
            # A compute that its walltime ends leads nowhere.
            if state.counts[LIMITED] == 0 or now + work <= state.until[application] * (1.0 + SAME):
                _wait(state, application, now + work)
        else:
            state.compute_done[application] += work
            state.done[application] += work
            _post(chains, state, view, application, now)
    else:
        state.since[application] = now
        tail = chains.tail[application]
        # The end of a last compute is no event: its time is settled here.
        last = chains.end if state.counts[LIMITED] == 0 else min(chains.end, state.until[application])
        if chains.endless[application] == 0 and now + tail <= last * (1.0 + SAME):
            state.completion[application] = min(now + tail, last)
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
def _row_of(view: View, active: int, application: int) -> int:
    """Where the operation of `application` is in the View; -1 if it has posted none."""
    found = -1
    for row in range(active):
        if view.application[row] == application:
            found = row
    return found


@inlined
def _cut_off(chains: Chains, state: LinkState, view: View, segments: Segments, application: int, now: float) -> None:
    """Its walltime is over: what it has moved or computed counts as done, and it is gone."""
    row = _row_of(view, state.counts[ACTIVE], application)
    operation = state.operation[application]
    if row >= 0:
        _record(segments, state, view, row, now, True)
        moved = chains.volume[operation] - max(0.0, view.remaining[row])
        state.transferred[application] += moved
        state.done[application] += moved / chains.limit[operation]
        _drop(view, state, row)
    else:
        state.compute_done[application] += now - state.since[application]
        state.done[application] += now - state.since[application]
    state.operation[application] = -2 - operation
    state.cut[application] = now
    state.counts[ENDED] += chains.watching


@inlined
def _end_walltimes(chains: Chains, state: LinkState, view: View, segments: Segments, now: float) -> None:
    """Cut off whose walltime is over now and who has not finished; forget the walltimes of those who have."""
    while state.counts[LIMITED] > 0:
        application = state.limit_application[0]
        finished = not np.isnan(state.completion[application])
        if not finished and state.limit_time[0] > now * (1.0 + SAME):
            break
        pop(state.limit_time, state.limit_application, state.counts[LIMITED])
        state.counts[LIMITED] -= 1
        if not finished:
            _cut_off(chains, state, view, segments, application, now)


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
def left_by(efficiency: Floats, count: int) -> float:
    """The share of the capacity that there is while so many move."""
    return efficiency[min(count, efficiency.size) - 1]  # type: ignore[no-any-return]


@inlined
def _copy(source: Floats, target: Floats) -> None:
    for i in range(source.size):
        target[i] = source[i]


@kernel(types.void(CHAINS, STATE, ROOM, POLICY, RATES, types.float64, types.float64))
def _ask_disturbed(
    chains: Chains, state: LinkState, view: View, policy: Decide, rates: Floats, now: float, lost: float
) -> None:
    """Ask with what is left if all active ones move; if fewer do, they disturb each other less: ask with that.

    Should more move then, there would not be as much: what was given before holds. A decision that does not count
    leaves nothing behind in the policy's memory.
    """
    active = state.counts[ACTIVE]
    count, share, settled = active, left_by(chains.efficiency, active), False
    before = share
    _copy(view.memory, state.remembered)
    while True:
        policy(rows_shown(view, now, view.capacity * share, 0, active, view.memory, lost), part(rates, 0, active))
        number = movers(rates, view.limit, active)
        if settled or number == count or left_by(chains.efficiency, number) == share:
            break
        settled = number > count
        count, share, before = number, before if settled else left_by(chains.efficiency, number), share
        _copy(state.remembered, view.memory)
        for row in range(active):
            rates[row] = 0.0
    state.clock[CAPACITY] = view.capacity * share


@inlined
def _ask(chains: Chains, state: LinkState, view: View, policy: Decide, rates: Floats, now: float) -> None:
    """Let the policy decide."""
    lost = lost_by_all(chains, state, view, now)
    active = state.counts[ACTIVE]
    if chains.efficiency.size > 0:
        _ask_disturbed(chains, state, view, policy, rates, now, lost)
    else:
        policy(rows_shown(view, now, view.capacity, 0, active, view.memory, lost), part(rates, 0, active))


@inlined
def _next_instant(chains: Chains, state: LinkState, completion: float) -> float:
    """When something happens next: a completion, a release, the end of a compute or a walltime, or of it all."""
    then = min(completion, chains.end)
    if state.counts[LIMITED] > 0:
        then = min(then, state.limit_time[0])
    return min(then, state.heap_time[0]) if state.counts[WAITING] > 0 else then


@inlined
def _pass_ticks(state: LinkState, tick: float, now: float) -> None:
    """Make the next tick one that lies ahead."""
    if tick > 0.0 and state.clock[TICK] * tick <= now * (1.0 + SAME):
        state.clock[TICK] = next_tick(now, tick)


@inlined
def _walltime_over(state: LinkState) -> bool:
    """Whether the next walltime is over, or plays no part any more."""
    due = state.limit_time[0] <= state.clock[NOW] * (1.0 + SAME)
    return due or not np.isnan(state.completion[state.limit_application[0]])


@inlined
def _after_instant(chains: Chains, state: LinkState, segments: Segments) -> int:
    """Whether to go on: not when all is over, someone has ended or may join, or what comes next has no room."""
    status = BUDGET_SPENT
    if state.counts[LIMITED] > 0 and _walltime_over(state):
        return WALLTIME_OVER
    ended = state.counts[ENDED]
    state.counts[ENDED] = 0
    if chains.end == np.inf and state.counts[ACTIVE] + state.counts[WAITING] + state.counts[LIMITED] == 0:
        status = DONE
    elif ended > 0:
        status = SOMEONE_ENDED
    elif state.clock[NOW] * (1.0 + SAME) >= state.clock[STOP]:
        status = STOPPED
    elif 0 < segments.start.size < state.counts[SEGMENTS] + 2 * state.since.size:
        status = ROOM_SPENT
    return status


RUN = types.int64(
    CHAINS, STATE, ROOM, POLICY, SEGMENTS_TYPE, RATES, types.float64, types.int64, types.boolean, types.boolean
)


@kernel(RUN)
def _run(
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
    """As `run`, but it also stops where walltimes are over: to deal with them in here would slow the loop down."""
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
                _ask(chains, state, view, policy, rates, now)
            if segments.start.size > 0:
                _record_changes(view, state, segments, rates, now)
            soonest, in_all = take(rates, view.rate, view.limit, view.remaining, active)
            capacity = view.capacity if chains.efficiency.size == 0 else state.clock[CAPACITY]
            if not in_all <= capacity * (1.0 + SAME):
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


@kernel(RUN)
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
    last = state.counts[EVENTS] + budget
    status = WALLTIME_OVER
    while status == WALLTIME_OVER:
        left = last - state.counts[EVENTS]
        status = _run(chains, state, view, policy, segments, rates, tick, left, pausing, resuming)
        resuming = False
        if status in (DONE, WALLTIME_OVER):
            # Last at an instant: what ends with its walltime has ended in time.
            _end_walltimes(chains, state, view, segments, state.clock[NOW])
        if status == WALLTIME_OVER:
            status = _after_instant(chains, state, segments)
            if status == BUDGET_SPENT and state.counts[EVENTS] < last:
                status = WALLTIME_OVER
    return status


@kernel(types.void(CHAINS, STATE, ROOM, types.int64, types.float64))
def admit(chains: Chains, state: LinkState, view: View, application: int, now: float) -> None:
    """Let an application that was held back start now."""
    chains.release[application] = now
    if chains.walltime[application] < np.inf:
        until = now + chains.walltime[application]
        state.until[application] = until
        push(state.limit_time, state.limit_application, state.counts[LIMITED], until, application)
        state.counts[LIMITED] += 1
    _enter(chains, state, view, application, chains.first[application], now)


@kernel(types.void(CHAINS, STATE, ROOM, SEGMENTS_TYPE, types.float64, types.float64))
def advance(chains: Chains, state: LinkState, view: View, segments: Segments, tick: float, then: float) -> None:
    """Go on at the rates in force to an instant that the loop knows nothing of: somebody will be admitted then."""
    _advance(chains, state, view, segments, state.clock[NOW], then)
    state.clock[NOW] = then
    _pass_ticks(state, tick, then)
