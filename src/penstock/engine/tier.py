"""The event loop with a burst buffer between the applications and the file system (P5 §3).

Everything is counted per application in totals: bytes that it has produced and that have been sent to the file system,
bytes that have been fetched from it and consumed. What is produced but not sent, and fetched but not consumed, is in
the buffer. An application writes at its cap while its part of the buffer has room, else at the rate at which it sends;
it reads at its cap while something fetched is there, else at the rate at which it fetches. Ahead is fetched up to the
end of the first read phase that has not started. A strategy divides the file system's bandwidth among the flows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.buffering.strategy import Divide
from penstock.buffering.view import FLOWS, STRATEGY, Flows
from penstock.engine.program import Floats, Ints
from penstock.engine.rows import rows_shown
from penstock.kernels import inlined, kernel, part
from penstock.sharing.policy import Decide
from penstock.sharing.view import POLICY, ROOM, SAME, View

AWAY, COMPUTING, READING, WRITING, OVER = range(5)
DONE, STALLED, BUDGET_SPENT, ROOM_SPENT = range(4)
NOW = 0
EVENTS, RECORDS, LEFT = range(3)


class Script(NamedTuple):
    """What applications do: phases `first[k] : first[k + 1]`, none of them empty."""

    first: Ints  # m + 1
    kind: Ints  # COMPUTING, READING, WRITING
    amount: Floats
    starts: Floats  # when it would start, and end, were nothing in its way, counted from the release
    stops: Floats
    nodes: Floats  # m
    release: Floats  # m
    read_cap: Floats  # m
    write_cap: Floats  # m
    space: Floats  # m: its part of the buffer


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
    full: Ints
    producing: Floats  # rates
    sending: Floats
    fetching: Floats
    consuming: Floats
    completion: Floats
    computed: Floats  # seconds of finished computes
    compute_began: Floats
    out_posted: Floats  # since when something is to be sent
    in_posted: Floats
    iterations: Floats  # completed operations that count, for ω
    iteration_seconds: Floats
    out_row: Ints  # its flows in the present decision, -1: none
    in_row: Ints
    clock: Floats
    counts: Ints


class Contents(NamedTuple):
    """Room for what the buffers hold after each event; empty arrays: do not record."""

    time: Floats
    output: Floats  # events × m
    input: Floats


_F = types.float64[::1]
_I = types.int64[::1]
_F2 = types.float64[:, ::1]
SCRIPT = types.NamedTuple([_I, _I] + [_F] * 8, Script)
TIER = types.NamedTuple([_I] * 4 + [_F] * 7 + [_I] + [_F] * 11 + [_I, _I, _F, _I], TierState)
CONTENTS = types.NamedTuple([_F, _F2, _F2], Contents)


@inlined
def _seek(script: Script, k: int, phase: int, kind: int) -> int:
    """The first phase of a kind, from one on."""
    while phase < script.first[k + 1] and script.kind[phase] != kind:
        phase += 1
    return phase


@inlined
def _amount(script: Script, k: int, phase: int) -> float:
    return script.amount[phase] if phase < script.first[k + 1] else 0.0  # type: ignore[no-any-return]


@inlined
def _advance(script: Script, state: TierState, k: int, now: float) -> None:
    """Enter the next phase, or complete."""
    phase = state.phase[k]
    if state.doing[k] == COMPUTING:
        state.computed[k] += script.amount[phase - 1]
    if phase == script.first[k + 1]:
        state.doing[k] = OVER
        state.completion[k] = now
        state.until[k] = np.inf
        return
    state.phase[k] = phase + 1
    state.doing[k] = script.kind[phase]
    state.until[k] = np.inf
    if script.kind[phase] == COMPUTING:
        state.until[k] = now + script.amount[phase]
        state.compute_began[k] = now
    elif script.kind[phase] == WRITING:
        state.goal[k] = state.produced[k] + script.amount[phase]
        state.out_posted[k] = now
        state.next_write[k] = _seek(script, k, phase + 1, WRITING)
    else:
        state.goal[k] = state.consumed[k] + script.amount[phase]
        state.in_posted[k] = now
        state.next_read[k] = _seek(script, k, phase + 1, READING)
        state.horizon[k] += _amount(script, k, state.next_read[k])


@inlined
def _room(script: Script, state: TierState, k: int) -> float:
    held = (state.produced[k] - state.sent[k]) + (state.fetched[k] - state.consumed[k])
    return script.space[k] - held  # type: ignore[no-any-return]


@inlined
def _filling(state: TierState, k: int) -> float:
    return (state.producing[k] - state.sending[k]) + (state.fetching[k] - state.consuming[k])  # type: ignore[no-any-return]


@inlined
def _end_operation(state: TierState, k: int) -> None:
    """Put the totals exactly where they belong: rounding must leave no bytes that were never there."""
    if state.doing[k] == READING:
        if state.fetched[k] == state.consumed[k]:
            state.fetched[k] = state.goal[k]
        state.consumed[k] = state.goal[k]
        state.fetched[k] = max(state.fetched[k], state.consumed[k])
    else:
        if state.sent[k] == state.produced[k]:
            state.sent[k] = state.goal[k]
        state.produced[k] = state.goal[k]
        state.sent[k] = min(state.sent[k], state.produced[k])


@inlined
def _count_iteration(script: Script, state: TierState, k: int) -> None:
    """An operation is an iteration unless it is the very first phase of all."""
    phase = state.phase[k] - 1
    if phase > script.first[k]:
        state.iterations[k] += 1.0
        before = script.stops[script.first[k]] if script.kind[script.first[k]] != COMPUTING else 0.0
        state.iteration_seconds[k] = script.stops[phase] - before


@inlined
def _settle(script: Script, state: TierState, k: int, now: float) -> bool:
    """Apply one thing that is due at this instant; whether there was one."""
    slack = SAME * now
    doing = state.doing[k]
    if state.until[k] <= now + slack:
        state.producing[k] = state.consuming[k] = 0.0
        _advance(script, state, k, now)
        return True
    pace = state.producing[k] if doing == WRITING else state.consuming[k]
    reached = state.produced[k] if doing == WRITING else state.consumed[k]
    if (doing in (READING, WRITING)) and pace > 0.0 and state.goal[k] - reached <= pace * slack:
        _end_operation(state, k)
        _count_iteration(script, state, k)
        state.producing[k] = state.consuming[k] = 0.0
        _advance(script, state, k, now)
        return True
    held = state.produced[k] - state.sent[k]
    if doing != WRITING and held > 0.0 and state.sending[k] > 0.0 and held <= state.sending[k] * slack:
        state.sent[k] = state.produced[k]
        return True
    missing = state.horizon[k] - state.fetched[k]
    if missing > 0.0 and state.fetching[k] > 0.0 and missing <= state.fetching[k] * slack:
        state.fetched[k] = state.horizon[k]
        return True
    there = state.fetched[k] - state.consumed[k]
    shrinking = state.consuming[k] - state.fetching[k]
    if doing == READING and there > 0.0 and shrinking > 0.0 and there <= shrinking * slack:
        state.consumed[k] = state.fetched[k]
        return True
    if state.full[k] == 0:
        filling = _filling(state, k)
        if filling > 0.0 and _room(script, state, k) <= filling * slack:
            state.full[k] = 1
            return True
    return False


@inlined
def _due(script: Script, state: TierState, k: int, phase: int, now: float) -> float:
    """When a phase to come will start, if nothing holds the application up until then; infinity if there is none."""
    if phase >= script.first[k + 1]:
        return np.inf
    if state.doing[k] == AWAY:
        return state.until[k] + script.starts[phase]  # type: ignore[no-any-return]
    current = state.phase[k] - 1
    left = 0.0
    if state.doing[k] == COMPUTING:
        left = state.until[k] - now
    elif state.doing[k] == READING:
        left = (state.goal[k] - state.consumed[k]) / script.read_cap[k]
    elif state.doing[k] == WRITING:
        left = (state.goal[k] - state.produced[k]) / script.write_cap[k]
    return now + left + (script.starts[phase] - script.stops[current])  # type: ignore[no-any-return]


@inlined
def _ask(script: Script, state: TierState, flows: Flows, k: int, now: float, rows: int) -> int:
    """Add the flows of an application; how many there are then."""
    doing, room = state.doing[k], max(0.0, _room(script, state, k))
    state.out_row[k] = state.in_row[k] = -1
    held = state.produced[k] - state.sent[k]
    if doing == WRITING or held > 0.0:
        state.out_row[k] = rows
        flows.application[rows], flows.reading[rows] = k, 0
        flows.cap[rows], flows.pace[rows] = script.write_cap[k], script.write_cap[k]
        flows.under[rows] = -1
        flows.blocked[rows] = doing == WRITING and state.full[k] == 1
        flows.held[rows], flows.room[rows] = held, room
        flows.due[rows] = now if doing == WRITING else _due(script, state, k, state.next_write[k], now)
        flows.ahead[rows] = (
            state.goal[k] - state.produced[k] if doing == WRITING else _amount(script, k, state.next_write[k])
        )
        rows += 1
    if state.fetched[k] < state.horizon[k]:
        under = -1 if doing == READING or state.full[k] == 0 else state.out_row[k]
        if doing == READING or state.full[k] == 0 or (doing != WRITING and under >= 0):
            state.in_row[k] = rows
            there = state.fetched[k] - state.consumed[k]
            flows.application[rows], flows.reading[rows] = k, 1
            flows.cap[rows], flows.pace[rows] = script.read_cap[k], script.read_cap[k]
            flows.under[rows] = under
            flows.blocked[rows] = doing == READING and there <= 0.0
            flows.held[rows], flows.room[rows] = there, room
            flows.due[rows] = now if doing == READING else _due(script, state, k, state.next_read[k], now)
            flows.ahead[rows] = state.horizon[k] - state.consumed[k]
            rows += 1
    return rows


@inlined
def _decided(script: Script, state: TierState, rates: Floats, k: int) -> None:
    """Set the pace of all four totals from the rates granted."""
    state.sending[k] = rates[state.out_row[k]] if state.out_row[k] >= 0 else 0.0
    state.fetching[k] = rates[state.in_row[k]] if state.in_row[k] >= 0 else 0.0
    state.producing[k] = state.consuming[k] = 0.0
    if state.doing[k] == WRITING:
        state.producing[k] = state.sending[k] if state.full[k] == 1 else script.write_cap[k]
    elif state.doing[k] == READING:
        ahead = state.fetched[k] > state.consumed[k]
        state.consuming[k] = script.read_cap[k] if ahead else state.fetching[k]


@inlined
def _soonest(script: Script, state: TierState, k: int, now: float) -> float:
    """When something happens to an application, as things stand."""
    doing = state.doing[k]
    then = state.until[k]
    if doing == WRITING:
        then = min(then, now + (state.goal[k] - state.produced[k]) / state.producing[k])
    elif doing == READING:
        then = min(then, now + (state.goal[k] - state.consumed[k]) / state.consuming[k])
        there, shrinking = state.fetched[k] - state.consumed[k], state.consuming[k] - state.fetching[k]
        if there > 0.0 and shrinking > 0.0:
            then = min(then, now + there / shrinking)
    if doing != WRITING and state.produced[k] > state.sent[k]:
        then = min(then, now + (state.produced[k] - state.sent[k]) / state.sending[k])
    if state.fetched[k] < state.horizon[k]:
        then = min(then, now + (state.horizon[k] - state.fetched[k]) / state.fetching[k])
    if state.full[k] == 0:
        filling = _filling(state, k)
        if filling > 0.0:
            then = min(then, now + max(0.0, _room(script, state, k)) / filling)
    return then  # type: ignore[no-any-return]


@inlined
def _move(script: Script, state: TierState, k: int, seconds: float) -> None:
    """Let the bytes flow."""
    if script.space[k] > 0.0 and _filling(state, k) < 0.0:
        state.full[k] = 0
    state.produced[k] += state.producing[k] * seconds
    state.sent[k] += state.sending[k] * seconds
    state.fetched[k] += state.fetching[k] * seconds
    state.consumed[k] += state.consuming[k] * seconds


@inlined
def _record(state: TierState, contents: Contents, now: float) -> None:
    if contents.time.size > 0:
        slot = state.counts[RECORDS]
        state.counts[RECORDS] = slot + 1
        contents.time[slot] = now
        for k in range(state.doing.size):
            contents.output[slot, k] = state.produced[k] - state.sent[k]
            contents.input[slot, k] = state.fetched[k] - state.consumed[k]


@inlined
def _front(flows: Flows, now: float, rows: int) -> Flows:
    """The flows of this decision."""
    return Flows(
        now,
        flows.read_limit,
        flows.write_limit,
        flows.joint_limit,
        part(flows.application, 0, rows),
        part(flows.reading, 0, rows),
        part(flows.cap, 0, rows),
        part(flows.under, 0, rows),
        part(flows.blocked, 0, rows),
        part(flows.held, 0, rows),
        part(flows.room, 0, rows),
        part(flows.due, 0, rows),
        part(flows.ahead, 0, rows),
        part(flows.pace, 0, rows),
        part(flows.key, 0, rows),
        part(flows.rows, 0, rows),
    )


@inlined
def _show(script: Script, state: TierState, flows: Flows, view: View, row: int, place: int, capacity: float) -> None:
    """Make a flow a row of the View of a sharing policy, in which nobody can use more than there is."""
    k = flows.application[row]
    reading = flows.reading[row]
    compute = state.computed[k]
    if state.doing[k] == COMPUTING:
        compute += flows.now - state.compute_began[k]
    moved = state.produced[k] / script.write_cap[k] + state.consumed[k] / script.read_cap[k]
    iterations = state.iterations[k]
    view.application[place] = 2 * k + reading
    view.nodes[place] = script.nodes[k]
    view.limit[place] = min(flows.cap[row], capacity)
    left = state.horizon[k] - state.fetched[k] if reading == 1 else _to_send(state, k)
    view.remaining[place] = left
    view.posted[place] = state.in_posted[k] if reading == 1 else state.out_posted[k]
    view.release[place] = script.release[k]
    view.progress[place] = compute + moved
    view.omega[place] = state.iteration_seconds[k] / iterations if iterations > 0.0 else np.nan
    view.rate[place] = state.fetching[k] if reading == 1 else state.sending[k]


@inlined
def _to_send(state: TierState, k: int) -> float:
    waiting = state.goal[k] - state.produced[k] if state.doing[k] == WRITING else 0.0
    return (state.produced[k] - state.sent[k]) + waiting  # type: ignore[no-any-return]


@inlined
def _share(
    script: Script,
    state: TierState,
    flows: Flows,
    view: View,
    policy: Decide,
    rates: Floats,
    given: Floats,
    way: int,
    limit: float,
) -> None:
    """Let a sharing policy divide one limit among the flows of a direction (2: of both)."""
    rows, usable = 0, 0.0
    for row in range(rates.size):
        if way in (2, flows.reading[row]):
            if flows.under[row] >= 0 and way != 2:
                flows.cap[row] = min(flows.cap[row], rates[flows.under[row]])
            _show(script, state, flows, view, row, rows, limit)
            usable += flows.cap[row]
            given[rows] = 0.0
            rows += 1
    if rows == 0:
        return
    shown = rows_shown(view, flows.now, 0, rows, view.memory)
    policy(_with_capacity(shown, min(limit, usable)), part(given, 0, rows))
    rows = 0
    for row in range(rates.size):
        if way in (2, flows.reading[row]):
            rates[row] = given[rows]
            rows += 1


@inlined
def _with_capacity(view: View, capacity: float) -> View:
    return View(
        view.now,
        view.begin,
        view.end,
        capacity,
        view.application,
        view.nodes,
        view.limit,
        view.remaining,
        view.posted,
        view.release,
        view.progress,
        view.omega,
        view.rate,
        view.settings,
        view.memory,
        view.key,
        view.rows,
    )


@inlined
def _share_all(
    script: Script, state: TierState, flows: Flows, view: View, policy: Decide, rates: Floats, given: Floats
) -> None:
    """Let a sharing policy divide what the file system has: as one, or each direction for itself."""
    if flows.joint_limit < flows.read_limit + flows.write_limit:
        _share(script, state, flows, view, policy, rates, given, 2, flows.joint_limit)
        for row in range(rates.size):
            if flows.under[row] >= 0:
                rates[row] = min(rates[row], rates[flows.under[row]])
    else:
        _share(script, state, flows, view, policy, rates, given, 0, flows.write_limit)
        _share(script, state, flows, view, policy, rates, given, 1, flows.read_limit)


@kernel(types.int64(SCRIPT, TIER, FLOWS, STRATEGY, ROOM, POLICY, types.boolean, CONTENTS, _F, _F, types.int64))
def run_tier(
    script: Script,
    state: TierState,
    flows: Flows,
    strategy: Divide,
    view: View,
    policy: Decide,
    sharing: bool,
    contents: Contents,
    rates: Floats,
    given: Floats,
    budget: int,
) -> int:
    """Go on until everything is drained, or until `budget` events have passed.

    A strategy divides the file system's bandwidth, or, `sharing`, a policy that knows nothing of buffers.
    """
    m = state.doing.size
    now = state.clock[NOW]
    while budget > 0:
        if 0 < contents.time.size <= state.counts[RECORDS]:
            return ROOM_SPENT
        for k in range(m):
            while _settle(script, state, k, now):
                pass
        _record(state, contents, now)
        rows = 0
        for k in range(m):
            rows = _ask(script, state, flows, k, now, rows)
        if rows > 0:
            asked = _front(flows, now, rows)
            if sharing:
                _share_all(script, state, asked, view, policy, part(rates, 0, rows), given)
            else:
                strategy(asked, part(rates, 0, rows))
        then = np.inf
        for k in range(m):
            _decided(script, state, rates, k)
            then = min(then, _soonest(script, state, k, now))
        if then == np.inf:
            return DONE if rows == 0 else STALLED
        then = max(now, then)
        for k in range(m):
            _move(script, state, k, then - now)
        now = then
        state.clock[NOW] = now
        state.counts[EVENTS] += 1
        budget -= 1
    return BUDGET_SPENT
