"""The event loop on many targets: each is a small world with a View and decisions of its own.

Only targets on which something happens are touched: their transfers are brought up to date, and they decide anew. A
tree knows which target has the next completion. As in the loop of one bandwidth, all that happens within 1e-9 of an
instant, relative, happens at it. The run ends with the first completion of an application (P4), or when all have ended
or the window does. Who is not finished at its deadline is cut off: its transfers end, and their targets decide anew.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.engine.link.loop import BUDGET_SPENT, DONE, MOST_IDLE, PAUSED, REFUSED, STALLED
from penstock.engine.link.losses import NOT_ASKED
from penstock.engine.link.state import CHAINS, Chains
from penstock.engine.rows import move, move_row, rows_shown, take
from penstock.engine.targets.losses import mean_loss_on_target
from penstock.engine.targets.stripes import (
    BOUNDS,
    EVENTS,
    FIRST_END,
    IDLE,
    LAST_END,
    LEFT,
    MOVED,
    MOVING,
    NOW,
    SETTLED,
    STRIPE_STATE,
    STRIPES,
    TICK,
    TOUCHED,
    WAITING,
    Bounds,
    Stripes,
    StripeState,
)
from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import inlined, kernel, part
from penstock.kernels.heap import pop, push
from penstock.kernels.tournament import first, put
from penstock.policies.sharing.policy import Decide
from penstock.policies.sharing.rules import mean_iteration, movers, next_tick
from penstock.policies.sharing.view import POLICY, RATES, ROOM, View


@inlined
def _touch(state: StripeState, target: int) -> None:
    """Something happened on this target: it decides once all that happens now is applied."""
    if state.is_touched[target] == 0:
        state.is_touched[target] = 1
        state.touched[state.counts[TOUCHED]] = target
        state.counts[TOUCHED] += 1
        state.counts[EVENTS] += 1


@inlined
def _bring_up(stripes: Stripes, state: StripeState, view: View, target: int, now: float) -> int:
    """Move the transfers of a target up to now; the last that is over among its rows, or -1."""
    start, active = stripes.row[target], state.active[target]
    passed = now - state.updated[target]
    state.updated[target] = now
    # A policy may let everyone wait; then no completion is ahead.
    if state.tree[(state.tree.size >> 1) + target] < np.inf:
        state.busy[target] += passed
    return move(
        part(view.remaining, start, active),
        part(view.progress, start, active),
        part(view.rate, start, active),
        part(view.limit, start, active),
        active,
        passed,
        SAME * now,
    )


@inlined
def _post(chains: Chains, stripes: Stripes, state: StripeState, view: View, application: int, now: float) -> None:
    """Start a transfer on each target of `application`."""
    volume = chains.volume[state.operation[application]]
    state.since[application] = now
    state.under_way[application] = stripes.first[application + 1] - stripes.first[application]
    omega = mean_iteration(state.iteration_seconds[application], state.iterations[application])
    for stripe in range(stripes.first[application], stripes.first[application + 1]):
        target = stripes.target[stripe]
        _bring_up(stripes, state, view, target, now)
        row = stripes.row[target] + state.active[target]
        state.active[target] += 1
        state.stripe[row] = stripe
        view.application[row] = stripes.place[stripe]
        view.nodes[row] = chains.nodes[application]
        view.limit[row] = 1.0
        view.remaining[row] = volume * stripes.seconds[stripe]
        view.posted[row] = now
        view.release[row] = chains.release[application]
        view.progress[row] = state.done[application]
        view.omega[row] = omega
        view.rate[row] = 0.0
        state.lost[stripes.row[target] + stripes.place[stripe]] = 0.0
        _touch(state, target)


@inlined
def _settle(state: StripeState, application: int, end: float) -> None:
    """The end of an application is known, be it that it lies ahead: that of a last compute is no event."""
    state.until[application] = end
    state.clock[LAST_END] = max(state.clock[LAST_END], end)
    state.counts[LEFT] -= 1


@inlined
def _enter(
    chains: Chains,
    stripes: Stripes,
    bounds: Bounds,
    state: StripeState,
    view: View,
    application: int,
    operation: int,
    now: float,
) -> None:
    """Start what leads to `operation`: its compute, the operation itself if there is none, or the tail."""
    state.operation[application] = operation
    state.since[application] = now
    lost = now - chains.release[application] - state.done[application]
    for stripe in range(stripes.first[application], stripes.first[application + 1]):
        state.lost[stripes.row[stripes.target[stripe]] + stripes.place[stripe]] = lost
    if operation == chains.first[application + 1]:
        end = now + chains.tail[application]
        last = min(bounds.end, bounds.deadline[application])
        if end <= last * (1.0 + SAME):
            end = min(end, last)
            _settle(state, application, end)
            state.clock[FIRST_END] = min(state.clock[FIRST_END], end)
    elif chains.work[operation] > SAME * now:
        waiting = state.counts[WAITING]
        push(state.heap_time, state.heap_application, waiting, now + chains.work[operation], application)
        state.counts[WAITING] = waiting + 1
    else:
        state.compute_done[application] += chains.work[operation]
        state.done[application] += chains.work[operation]
        _post(chains, stripes, state, view, application, now)


@inlined
def _drop(stripes: Stripes, state: StripeState, view: View, row: int, target: int) -> None:
    """Remove a row: the last one of its target takes its place."""
    state.active[target] -= 1
    last = stripes.row[target] + state.active[target]
    move_row(view, last, row)
    state.stripe[row] = state.stripe[last]


@inlined
def _row_of(stripes: Stripes, state: StripeState, stripe: int) -> int:
    """The row of a stripe's transfer, or -1 if it is over."""
    start = stripes.row[stripes.target[stripe]]
    for row in range(start, start + state.active[stripes.target[stripe]]):
        if state.stripe[row] == stripe:
            return row
    return -1


@inlined
def _break_off(chains: Chains, stripes: Stripes, state: StripeState, view: View, application: int, now: float) -> None:
    """End the transfers of an operation before they are over; what they have moved is moved."""
    count = stripes.first[application + 1] - stripes.first[application]
    volume = chains.volume[state.operation[application]]
    moved = float(count - state.under_way[application])
    for stripe in range(stripes.first[application], stripes.first[application + 1]):
        row = _row_of(stripes, state, stripe)
        state.broken[stripe] = volume / count
        if row >= 0:
            target = stripes.target[stripe]
            _bring_up(stripes, state, view, target, now)
            over = 1.0 - max(0.0, view.remaining[row]) / (volume * stripes.seconds[stripe])
            moved += over
            state.broken[stripe] = volume * over / count
            _drop(stripes, state, view, row, target)
            put(state.tree, target, np.inf)
            _touch(state, target)
    state.transferred[application] += volume * moved / count
    state.io_seconds[application] += now - state.since[application]
    state.under_way[application] = 0
    state.since[application] = now


@inlined
def _cut_off(chains: Chains, stripes: Stripes, state: StripeState, view: View, application: int, now: float) -> None:
    """The deadline of an application has come; nothing happens if its end is known."""
    if state.until[application] == np.inf:
        state.cut[application] = 1
        _settle(state, application, now)
        if state.under_way[application] > 0:
            _break_off(chains, stripes, state, view, application, now)


@inlined
def _wake(chains: Chains, stripes: Stripes, bounds: Bounds, state: StripeState, view: View, now: float) -> None:
    """Take the first of the heap: a release, a compute that leads to an operation, or a deadline."""
    application = state.heap_application[0]
    pop(state.heap_time, state.heap_application, state.counts[WAITING])
    state.counts[WAITING] -= 1
    if application >= state.cut.size:
        _cut_off(chains, stripes, state, view, application - state.cut.size, now)
        return
    operation = state.operation[application]
    if state.cut[application] == 1:
        return
    if operation < 0:
        _enter(chains, stripes, bounds, state, view, application, chains.first[application], now)
    else:
        state.compute_done[application] += chains.work[operation]
        state.done[application] += chains.work[operation]
        _post(chains, stripes, state, view, application, now)


@inlined
def _end_operation(
    chains: Chains, stripes: Stripes, bounds: Bounds, state: StripeState, view: View, application: int, now: float
) -> None:
    """The last transfer of an operation is over: credit it exactly and go on to what follows."""
    operation = state.operation[application]
    seconds = chains.volume[operation] * stripes.alone[application]
    state.transferred[application] += chains.volume[operation]
    state.done[application] += seconds
    state.io_seconds[application] += now - state.since[application]
    if operation > chains.first[application] or chains.work[operation] > 0.0:
        state.iterations[application] += 1.0
        state.iteration_seconds[application] += chains.work[operation] + seconds
    _enter(chains, stripes, bounds, state, view, application, operation + 1, now)


@inlined
def _complete_on(
    chains: Chains, stripes: Stripes, bounds: Bounds, state: StripeState, view: View, target: int, now: float
) -> None:
    """Bring a target up to date and end the transfers that are over."""
    start = stripes.row[target]
    row = start + _bring_up(stripes, state, view, target, now)
    put(state.tree, target, np.inf)
    _touch(state, target)
    # Downwards: the last row takes the place of one that is over, and that has been looked at.
    while row >= start:
        if view.remaining[row] <= view.rate[row] * SAME * now:
            application = stripes.owner[state.stripe[row]]
            state.lost[start + view.application[row]] = now - view.release[row] - view.progress[row]
            _drop(stripes, state, view, row, target)
            state.under_way[application] -= 1
            if state.under_way[application] == 0:
                _end_operation(chains, stripes, bounds, state, view, application, now)
        row -= 1


@inlined
def lost_on(chains: Chains, stripes: Stripes, state: StripeState, view: View, target: int, now: float) -> float:
    """The mean loss of those who use a target, if the policy asks for it."""
    if chains.losses == 0:
        return NOT_ASKED
    return mean_loss_on_target(
        now,
        view.release,
        view.progress,
        stripes.row[target],
        state.active[target],
        stripes.row[target + 1],
        stripes.occupant,
        state.operation,
        chains.release,
        state.until,
        state.lost,
    )


@inlined
def _end_of_all(bounds: Bounds, state: StripeState) -> float:
    """When the run stops, as far as known."""
    end = min(bounds.end, state.clock[FIRST_END]) if bounds.first == 1 else bounds.end
    return state.clock[LAST_END] if end == np.inf and state.counts[LEFT] == 0 else end


@inlined
def _next_instant(bounds: Bounds, state: StripeState, tick: float) -> float:
    """When something happens next: a completion, a release, the end of a compute, a tick, or the end of it all."""
    then = min(state.tree[1], _end_of_all(bounds, state))
    if state.counts[WAITING] > 0:
        then = min(then, state.heap_time[0])
    return min(then, state.clock[TICK] * tick) if tick > 0.0 else then  # type: ignore[no-any-return]


@inlined
def _apply(chains: Chains, stripes: Stripes, bounds: Bounds, state: StripeState, view: View, now: float) -> None:
    """All that happens at an instant."""
    nearly = now + SAME * now
    while state.tree[1] <= nearly:
        _complete_on(chains, stripes, bounds, state, view, first(state.tree), now)
    while state.counts[WAITING] > 0 and state.heap_time[0] <= nearly:
        _wake(chains, stripes, bounds, state, view, now)


@inlined
def _pass_tick(stripes: Stripes, state: StripeState, view: View, tick: float, now: float) -> None:
    """At a tick every target with transfers decides."""
    if state.clock[TICK] * tick <= now * (1.0 + SAME):
        state.clock[TICK] = next_tick(now, tick)
        for target in range(state.active.size):
            if state.active[target] > 0:
                _bring_up(stripes, state, view, target, now)
                _touch(state, target)


@inlined
def _left_by(stripes: Stripes, target: int, moving: int) -> float:
    """The share of its time that a target has to divide while so many move."""
    return stripes.efficiency[target, min(moving, stripes.efficiency.shape[1]) - 1]  # type: ignore[no-any-return]


@inlined
def _asked_for(state: StripeState, target: int) -> int:
    """With how many moving the policy is asked: at first as if all did."""
    return state.counts[MOVING] if state.counts[MOVING] > 0 else state.active[target]  # type: ignore[no-any-return]


@inlined
def capacity_of(stripes: Stripes, state: StripeState, view: View, target: int) -> float:
    """How much of its time a target has to divide, with as many applications moving as it is asked for."""
    if stripes.efficiency.size == 0:
        return view.capacity
    return _left_by(stripes, target, _asked_for(state, target))


@inlined
def _keep_memory(stripes: Stripes, state: StripeState, view: View, target: int, resuming: bool) -> None:
    """Note what the policy remembers before it is asked for the first time, in case that it is asked again."""
    if stripes.efficiency.size > 0 and state.counts[MOVING] == 0 and not resuming:
        start = stripes.memory[target]
        for k in range(stripes.memory[target + 1] - start):
            state.spare[k] = view.memory[start + k]


@inlined
def _others_move(stripes: Stripes, state: StripeState, view: View, rates: Floats, target: int) -> bool:
    """Whether to ask again: fewer get a rate than were counted, and disturb each other less.

    Should more move then, there would not be as much: what was given before holds. A decision that does not count
    leaves nothing behind in the policy's memory.
    """
    if stripes.efficiency.size == 0 or state.counts[MOVED] == SETTLED:
        return False
    active, asked = state.active[target], _asked_for(state, target)
    number = movers(rates, part(view.limit, stripes.row[target], active), active)
    if _left_by(stripes, target, number) == _left_by(stripes, target, asked):
        return False
    if number < asked:
        state.counts[MOVING], state.counts[MOVED] = number, asked
    else:
        state.counts[MOVING], state.counts[MOVED] = state.counts[MOVED], SETTLED
    for row in range(active):
        rates[row] = 0.0
    start = stripes.memory[target]
    for k in range(stripes.memory[target + 1] - start):
        view.memory[start + k] = state.spare[k]
    return True


@inlined
def _put_in_force(stripes: Stripes, state: StripeState, view: View, rates: Floats, target: int, now: float) -> bool:
    """Put a decision's rates in force on its target; whether they are proper."""
    capacity = capacity_of(stripes, state, view, target)
    start, active = stripes.row[target], state.active[target]
    soonest, in_all = take(
        rates,
        part(view.rate, start, active),
        part(view.limit, start, active),
        part(view.remaining, start, active),
        active,
    )
    put(state.tree, target, now + soonest)
    return in_all <= capacity * (1.0 + SAME)


@kernel(
    types.int64(
        CHAINS,
        STRIPES,
        BOUNDS,
        STRIPE_STATE,
        ROOM,
        POLICY,
        RATES,
        types.float64,
        types.int64,
        types.boolean,
        types.boolean,
    )
)
def run_targets(
    chains: Chains,
    stripes: Stripes,
    bounds: Bounds,
    state: StripeState,
    view: View,
    policy: Decide,
    rates: Floats,
    tick: float,
    budget: int,
    pausing: bool,
    resuming: bool,
) -> int:
    """Go on until the end, until `budget` instants have passed, or, `pausing`, until a decision is needed.

    The target that is to decide is the last of those touched. After a pause the caller puts its rates into `rates` and
    calls again with `resuming`.
    """
    now = state.clock[NOW]
    while budget > 0:
        while state.counts[TOUCHED] > 0:
            target = state.touched[state.counts[TOUCHED] - 1]
            active = state.active[target]
            if active > 0:
                _keep_memory(stripes, state, view, target, resuming)
                if pausing and not resuming:
                    return PAUSED
                if not pausing:
                    memory = stripes.memory[target]
                    own = part(view.memory, memory, stripes.memory[target + 1] - memory)
                    lost = lost_on(chains, stripes, state, view, target, now)
                    capacity = capacity_of(stripes, state, view, target)
                    policy(
                        rows_shown(view, now, capacity, stripes.row[target], active, own, lost),
                        part(rates, 0, active),
                    )
                resuming = False
                if _others_move(stripes, state, view, rates, target):
                    continue
                if not _put_in_force(stripes, state, view, rates, target, now):
                    return REFUSED
                state.counts[MOVING] = state.counts[MOVED] = 0
            state.counts[TOUCHED] -= 1
            state.is_touched[target] = 0
        then = _next_instant(bounds, state, tick)
        if then == np.inf or (tick > 0.0 and _next_instant(bounds, state, 0.0) == np.inf):
            # Nothing will happen but ticks. A policy may have its reasons to wait, but not for ever.
            state.counts[IDLE] += 1
            if then == np.inf or state.counts[IDLE] > MOST_IDLE:
                return STALLED
        end = _end_of_all(bounds, state)
        over = then * (1.0 + SAME) >= end
        now = end if over else then
        state.clock[NOW] = now
        if over:
            for target in range(state.active.size):
                _bring_up(stripes, state, view, target, now)
            return DONE
        _apply(chains, stripes, bounds, state, view, now)
        if tick > 0.0:
            _pass_tick(stripes, state, view, tick, now)
        budget -= 1
    return BUDGET_SPENT
