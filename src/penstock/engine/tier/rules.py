"""What happens to one application in the loop with a burst buffer, and what it asks of the file system (P5 §7.1).

It writes at its cap while the buffer has room for it, else at the rate at which it sends; it reads at its cap while
something fetched is there, else at the rate at which it fetches. Ahead is fetched up to the end of the first read phase
that has not started, or what a plan says.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.tier.arrays import (
    AWAY,
    COMMON_FULL,
    COMMON_USED,
    COMPUTING,
    FREE,
    FREED,
    GROWER,
    GROWTH,
    HEAD,
    OVER,
    READING,
    THROUGH,
    WAITING,
    WRITING,
    Script,
    TierState,
    Timetable,
)
from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import inlined
from penstock.policies.buffering.view import Flows

# Of the bytes planned, and of the time: a flow that is less off its plan is on it.
_BYTES, _TIME = 1e-12, 1e-14
_LAST_DIGITS = 1e-15  # of a time: rounding
_ROUNDING = 1e-12  # of all bytes read so far: who has so little of them ahead of itself has nothing


@inlined
def _seek(script: Script, k: int, phase: int, kind: int) -> int:
    """The first phase of a kind, from one on."""
    while phase < script.first[k + 1] and script.kind[phase] != kind:
        phase += 1
    return phase


@inlined
def amount_of(script: Script, k: int, phase: int) -> float:
    """What a phase moves; 0 after the last one."""
    return script.amount[phase] if phase < script.first[k + 1] else 0.0


@inlined
def progress_of(script: Script, state: TierState, k: int, now: float) -> float:
    """Seconds of compute and of I/O at full rate that an application has behind it."""
    compute = state.computed[k]
    if state.doing[k] == COMPUTING:
        compute += now - state.compute_began[k]
    return compute + state.produced[k] / script.write_cap[k] + state.consumed[k] / script.read_cap[k]  # type: ignore[no-any-return]


@inlined
def _end(state: TierState, k: int, now: float, achieved: float) -> None:
    """It has nothing more to do but to drain."""
    state.doing[k] = OVER
    state.until[k] = np.inf
    state.producing[k] = state.consuming[k] = state.fetching[k] = 0.0
    state.ended[k] = now
    state.achieved[k] = achieved


@inlined
def _cut_off(script: Script, state: TierState, k: int, now: float) -> None:
    """End it where it stands: what it has written drains, what was fetched for it is dropped."""
    _end(state, k, now, progress_of(script, state, k, now))
    state.consumed[k] = state.horizon[k] = state.fetched[k]


@inlined
def advance(script: Script, state: TierState, k: int, now: float) -> None:
    """Enter the next phase, or complete."""
    phase = state.phase[k]
    state.producing[k] = state.consuming[k] = 0.0
    if state.doing[k] == COMPUTING:
        state.computed[k] += script.amount[phase - 1]
    if phase == script.first[k + 1]:
        state.completion[k] = now
        _end(state, k, now, script.stops[phase - 1])
        return
    state.phase[k] = phase + 1
    state.doing[k] = script.kind[phase]
    state.until[k] = np.inf
    if script.kind[phase] == COMPUTING:
        state.until[k] = now + script.amount[phase]
        state.compute_began[k] = now
    elif script.kind[phase] == WRITING:
        state.goal[k] = script.written[phase]
        state.out_posted[k] = now
        state.next_write[k] = _seek(script, k, phase + 1, WRITING)
    else:
        state.goal[k] = script.read[phase]
        state.in_posted[k] = now
        state.next_read[k] = _seek(script, k, phase + 1, READING)
        if state.next_read[k] < script.first[k + 1]:
            state.horizon[k] = max(state.horizon[k], script.read[state.next_read[k]])


@inlined
def an_instant(script: Script, now: float) -> float:
    """Seconds that count as nothing: of the time since the first release, lest late clocks swallow short phases."""
    return SAME * abs(now - script.begin) + _LAST_DIGITS * now


@inlined
def held_by(state: TierState, k: int) -> float:
    """Everything that an application has in the buffer."""
    return (state.produced[k] - state.sent[k]) + (state.fetched[k] - state.consumed[k])  # type: ignore[no-any-return]


@inlined
def filling_of(state: TierState, k: int) -> float:
    """How fast that grows."""
    return (state.producing[k] - state.sending[k]) + (state.fetching[k] - state.consuming[k])  # type: ignore[no-any-return]


@inlined
def growth_of(state: TierState, k: int) -> float:
    """How fast its part grows."""
    return state.clock[GROWTH] if state.counts[GROWER] == k else 0.0


@inlined
def is_full(state: TierState, k: int) -> bool:
    """Whether there is no room for more of it: neither in its own part nor in the common one."""
    return state.beyond[k] == 1 and state.counts[COMMON_FULL] == 1  # type: ignore[no-any-return]


@inlined
def takes_no_input(script: Script, state: TierState, k: int) -> bool:
    """Whether nothing more is fetched ahead: who has a part of his own leaves the common one to those who write."""
    return state.beyond[k] == 1 and (script.whole[k] > 0.0 or state.counts[COMMON_FULL] == 1)  # type: ignore[no-any-return]


@inlined
def _end_operation(script: Script, state: TierState, k: int) -> None:
    """Put the totals exactly where they belong: rounding must leave no bytes that were never there."""
    if state.doing[k] == READING:
        if abs(state.fetched[k] - state.consumed[k]) <= _ROUNDING * state.goal[k]:
            state.fetched[k] = state.goal[k]
        state.consumed[k] = state.goal[k]
        state.fetched[k] = max(state.fetched[k], state.consumed[k])
    else:
        if state.sent[k] == state.produced[k]:
            state.sent[k] = state.goal[k]
        state.produced[k] = state.goal[k]
        state.sent[k] = min(state.sent[k], state.produced[k])
    # An operation is an iteration unless it is the very first phase of all.
    phase, opening = state.phase[k] - 1, script.first[k]
    if phase > opening:
        state.iterations[k] += 1.0
        before = script.stops[opening] if script.kind[opening] != COMPUTING else 0.0
        state.iteration_seconds[k] = script.stops[phase] - before


@inlined
def _phase_over(script: Script, state: TierState, k: int, now: float, slack: float) -> bool:
    """Whether the present phase ends at this instant; if so, the next one has begun."""
    doing = state.doing[k]
    over = state.until[k] <= now + slack
    if doing in (READING, WRITING):
        pace = state.producing[k] if doing == WRITING else state.consuming[k]
        reached = state.produced[k] if doing == WRITING else state.consumed[k]
        over = pace > 0.0 and state.goal[k] - reached <= pace * slack
        if over:
            _end_operation(script, state, k)
    if over:
        advance(script, state, k, now)
    return over  # type: ignore[no-any-return]


@inlined
def settle(script: Script, state: TierState, k: int, now: float) -> bool:
    """Apply one thing that is due at this instant; whether there was one."""
    slack = an_instant(script, now)
    done = _phase_over(script, state, k, now, slack)
    if not done:
        held, shrinking = state.produced[k] - state.sent[k], state.sending[k] - state.producing[k]
        if held > 0.0 and shrinking > 0.0 and held <= shrinking * slack:
            state.sent[k] = state.produced[k]
            done = True
    if not done:
        missing = state.horizon[k] - state.fetched[k]
        if missing > 0.0 and state.fetching[k] > 0.0 and missing <= state.fetching[k] * slack:
            state.fetched[k] = state.horizon[k]
            done = True
    if not done and state.doing[k] == READING:
        there, shrinking = state.fetched[k] - state.consumed[k], state.consuming[k] - state.fetching[k]
        if there > 0.0 and shrinking > 0.0 and there <= shrinking * slack:
            state.consumed[k] = state.fetched[k]
            done = True
    if not done and state.beyond[k] == 0:
        filling = filling_of(state, k) - growth_of(state, k)
        if filling > 0.0 and state.space[k] - held_by(state, k) <= filling * slack:
            state.beyond[k] = 1
            done = True
    if not done and state.doing[k] != OVER and script.cut[k] <= now + slack:
        _cut_off(script, state, k, now)
        done = True
    # Of those that have ended, nothing but what they hold is in the way of others.
    full = state.doing[k] == OVER and state.beyond[k] == 1 and state.space[k] > 0.0
    if not done and full and held_by(state, k) <= state.space[k] * (1.0 + SAME):
        state.beyond[k] = 0
        done = True
    return done


@inlined
def _left_of_phase(script: Script, state: TierState, k: int, now: float) -> float:
    """Seconds to the end of the present phase, if nothing holds it up."""
    if state.doing[k] == READING:
        return (state.goal[k] - state.consumed[k]) / script.read_cap[k]  # type: ignore[no-any-return]
    if state.doing[k] == WRITING:
        return (state.goal[k] - state.produced[k]) / script.write_cap[k]  # type: ignore[no-any-return]
    return state.until[k] - now  # type: ignore[no-any-return]


@inlined
def _starts_at(script: Script, state: TierState, k: int, phase: int, now: float) -> float:
    """When a phase to come will start, if nothing holds the application up until then; infinity if there is none."""
    if phase >= script.first[k + 1] or state.doing[k] == OVER:
        return np.inf
    left = _left_of_phase(script, state, k, now)
    if state.doing[k] == AWAY:
        return now + left + script.starts[phase]  # type: ignore[no-any-return]
    return now + left + (script.starts[phase] - script.stops[state.phase[k] - 1])  # type: ignore[no-any-return]


@inlined
def _reaches_at(
    script: Script, state: TierState, totals: Floats, k: int, goal: float, cap: float, reached: float, now: float
) -> float:
    """When the total of one direction reaches a goal, if nothing holds the application up; infinity: never."""
    current = max(state.phase[k] - 1, script.first[k])
    low, high = current, script.first[k + 1]
    while low < high:
        middle = (low + high) >> 1
        if totals[middle] > goal:
            high = middle
        else:
            low = middle + 1
    if low == script.first[k + 1]:
        return np.inf
    if low == state.phase[k] - 1:
        return now + (goal - reached) / cap
    into = goal - (totals[low] - script.amount[low])
    return _starts_at(script, state, k, low, now) + into / cap  # type: ignore[no-any-return]


@inlined
def follow_plan(plan: Timetable, state: TierState, flows: Flows, row: int, flow: int, moved: float) -> None:
    """Show a flow where it is against its plan."""
    flows.lag[row] = flows.planned[row] = 0.0
    if plan.time.size == 0:
        return
    now = flows.now
    place = state.planned[flow]
    while place + 1 < plan.first[flow + 1] and plan.time[place + 1] <= now:
        place += 1
    state.planned[flow] = place
    total = plan.total[place] + plan.rate[place] * (now - plan.time[place])
    lag, rate = total - moved, plan.rate[place]
    if abs(lag) > _BYTES * total + _TIME * now * max(rate, flows.cap[row]):
        flows.lag[row] = lag
    flows.planned[row] = rate
    # A buffer may be drained and filled faster than its application writes and reads.
    ahead = flows.room[row] > 0.0 or flows.due[row] > now
    if ahead if flows.reading[row] == 1 else flows.held[row] > 0.0:
        flows.cap[row] = max(flows.cap[row], rate)


@inlined
def is_buffered(script: Script, state: TierState, k: int) -> bool:
    """Whether what it writes goes into the buffer."""
    return state.space[k] > 0.0 or script.common > 0.0 or state.counts[GROWER] == k


@inlined
def _drains_cross(script: Script, state: TierState, k: int) -> int:
    """How often what an application drains crosses the port: twice, if as much is written to a full buffer at once."""
    if not is_buffered(script, state, k):
        return 0
    grower = state.counts[GROWER]
    taken = grower >= 0 and state.doing[grower] == WRITING and is_full(state, grower)
    again = (state.doing[k] == WRITING and is_full(state, k)) or (state.doing[k] == OVER and taken)
    return 2 if again or (script.common > 0.0 and state.counts[WAITING] > 0) else 1


@inlined
def _ask_out(script: Script, plan: Timetable, state: TierState, flows: Flows, k: int, row: int, room: float) -> None:
    """A flow from the buffer to the file system, or past it."""
    now, writing = flows.now, state.doing[k] == WRITING
    state.out_row[k] = row
    flows.application[row], flows.reading[row] = k, 0
    flows.cap[row], flows.under[row] = script.write_cap[k], -1
    flows.blocked[row] = writing and is_full(state, k)
    flows.held[row], flows.room[row] = state.produced[k] - state.sent[k], room
    flows.due[row] = now if writing else _starts_at(script, state, k, state.next_write[k], now)
    flows.ahead[row] = state.goal[k] - state.produced[k] if writing else amount_of(script, k, state.next_write[k])
    made, cap = state.produced[k], script.write_cap[k]
    flows.stuck[row] = _reaches_at(script, state, script.written, k, made + room, cap, made, now)
    # What is in the common part of the buffer goes first, and leaves room there.
    flows.over[row] = state.doing[k] == OVER and (script.common == 0.0 or state.beyond[k] == 0)
    flows.grows[row] = 0
    flows.crossing[row] = _drains_cross(script, state, k)
    flows.beside[row] = script.write_cap[k] if writing and not is_full(state, k) else 0.0
    follow_plan(plan, state, flows, row, 2 * k, state.sent[k])


@inlined
def _ask_in(script: Script, plan: Timetable, state: TierState, flows: Flows, k: int, row: int, room: float) -> None:
    """A flow from the file system to the buffer, or past it; a full part of one's own takes no more than leaves it."""
    now, reading = flows.now, state.doing[k] == READING
    there = state.fetched[k] - state.consumed[k]
    state.in_row[k] = row
    flows.application[row], flows.reading[row] = k, 1
    flows.cap[row] = script.read_cap[k]
    own = script.whole[k] > 0.0 or script.common == 0.0
    full = own and takes_no_input(script, state, k) and not reading
    flows.under[row] = state.out_row[k] if full else -1
    flows.grows[row] = full and state.counts[GROWER] == k
    flows.over[row] = 0
    flows.crossing[row] = not (reading and there <= 0.0)
    flows.beside[row] = script.read_cap[k] if reading and there > 0.0 else 0.0
    flows.blocked[row] = reading and there <= 0.0
    flows.held[row], flows.room[row] = there, room
    flows.due[row] = now if reading else _starts_at(script, state, k, state.next_read[k], now)
    flows.ahead[row] = state.horizon[k] - state.consumed[k]
    used, cap = state.consumed[k], script.read_cap[k]
    flows.stuck[row] = _reaches_at(script, state, script.read, k, state.fetched[k], cap, used, now)
    follow_plan(plan, state, flows, row, 2 * k + 1, state.fetched[k])


@inlined
def ask(script: Script, plan: Timetable, state: TierState, flows: Flows, k: int, rows: int) -> int:
    """Add the flows of an application; how many there are then."""
    doing, full = state.doing[k], takes_no_input(script, state, k)
    own = 0.0 if state.beyond[k] == 1 else max(0.0, state.space[k] - held_by(state, k))
    common = 0.0 if is_full(state, k) else max(0.0, script.common - state.clock[COMMON_USED])
    state.out_row[k] = state.in_row[k] = -1
    if doing == WRITING or state.produced[k] > state.sent[k]:
        _ask_out(script, plan, state, flows, k, rows, own + common)
        rows += 1
    # Into a full common part all together fetch no more than leaves it, and nothing while somebody writes to it.
    leaves = state.counts[WAITING] == 0
    if script.whole[k] > 0.0 or script.common == 0.0:
        leaves = state.out_row[k] >= 0 or state.counts[GROWER] == k
    fits = doing == READING or not full or (doing != WRITING and leaves)
    ahead = fits and state.entered[k] == 1 and state.fetched[k] < state.horizon[k]
    # Who reads what is all there asks nothing of the file system, but of the port.
    reads = flows.port_limit < np.inf and doing == READING
    if ahead or reads:
        _ask_in(script, plan, state, flows, k, rows, own if script.whole[k] > 0.0 else common)
        if not ahead:
            flows.cap[rows] = 0.0
        rows += 1
    return rows


@inlined
def take_rates(script: Script, state: TierState, flows: Flows, rates: Floats, k: int) -> None:
    """Set the pace of all four totals from the rates granted."""
    state.sending[k] = rates[state.out_row[k]] if state.out_row[k] >= 0 else 0.0
    state.fetching[k] = rates[state.in_row[k]] if state.in_row[k] >= 0 else 0.0
    state.producing[k] = state.consuming[k] = 0.0
    port = flows.port_limit < np.inf
    if state.doing[k] == WRITING:
        into = flows.beside_rate[state.out_row[k]] if port else script.write_cap[k]
        state.producing[k] = min(state.sending[k], script.write_cap[k]) if is_full(state, k) else into
    elif state.doing[k] == READING:
        ahead = state.fetched[k] > state.consumed[k]
        out = flows.beside_rate[state.in_row[k]] if port else script.read_cap[k]
        state.consuming[k] = out if ahead else min(state.fetching[k], script.read_cap[k])
    if port:
        _keep_port(script, state, k)


@inlined
def _keep_port(script: Script, state: TierState, k: int) -> None:
    """Behind a slow port a flow may be faster than its application: nothing leaves, or enters, that has no room to."""
    if state.doing[k] == WRITING and state.produced[k] <= state.sent[k]:
        state.sending[k] = min(state.sending[k], state.producing[k])
    if state.doing[k] == READING and takes_no_input(script, state, k):
        state.fetching[k] = min(state.fetching[k], max(state.consuming[k], state.sending[k]))


@inlined
def leave_common(script: Script, state: TierState, k: int, now: float) -> None:
    """Who drains what is in its own part, or has a part that grows faster, frees nothing of the common one."""
    growth = growth_of(state, k)
    if state.beyond[k] == 1 and (state.space[k] > 0.0 or growth > 0.0):
        filling = filling_of(state, k) - growth
        if filling < 0.0 and held_by(state, k) - state.space[k] <= -filling * an_instant(script, now):
            state.beyond[k] = 0


@inlined
def soonest(script: Script, plan: Timetable, state: TierState, flows: Flows, k: int, now: float) -> float:
    """When something happens to an application, as things stand."""
    then = state.until[k]
    if state.doing[k] == WRITING:
        then = min(then, now + (state.goal[k] - state.produced[k]) / state.producing[k])
    elif state.doing[k] == READING:
        then = min(then, now + (state.goal[k] - state.consumed[k]) / state.consuming[k])
        there, shrinking = state.fetched[k] - state.consumed[k], state.consuming[k] - state.fetching[k]
        if there > 0.0 and shrinking > 0.0:
            then = min(then, now + there / shrinking)
    held, shrinking = state.produced[k] - state.sent[k], state.sending[k] - state.producing[k]
    if held > 0.0 and shrinking > 0.0:
        then = min(then, now + held / shrinking)
    if state.fetched[k] < state.horizon[k]:
        then = min(then, now + (state.horizon[k] - state.fetched[k]) / state.fetching[k])
    growth = growth_of(state, k)
    filling = filling_of(state, k) - growth
    if state.beyond[k] == 0 and filling > 0.0:
        then = min(then, now + max(0.0, state.space[k] - held_by(state, k)) / filling)
    elif state.beyond[k] == 1 and filling < 0.0 and (state.space[k] > 0.0 or growth > 0.0):
        then = min(then, now + (held_by(state, k) - state.space[k]) / -filling)
    if state.doing[k] != OVER:
        then = min(then, script.cut[k], _part_changes(script, state, k, now))
    if plan.time.size > 0:
        then = min(then, _plan_changes(plan, state, flows, state.out_row[k], 2 * k, state.sending[k], now))
        then = min(then, _plan_changes(plan, state, flows, state.in_row[k], 2 * k + 1, state.fetching[k], now))
    return then  # type: ignore[no-any-return]


@inlined
def _part_changes(script: Script, state: TierState, k: int, now: float) -> float:
    """When it enters, has its whole part, or has room enough to start."""
    if state.entered[k] == 0 and script.entry[k] > now + an_instant(script, now):
        return script.entry[k]  # type: ignore[no-any-return]
    if growth_of(state, k) > 0.0:
        return now + max(0.0, script.whole[k] - state.space[k]) / state.clock[GROWTH]  # type: ignore[no-any-return]
    waits = script.waits == 1 and state.entered[k] == 0 and script.order[state.counts[HEAD]] == k
    if waits and state.clock[FREED] > 0.0:
        return now + max(0.0, script.whole[k] - state.clock[FREE]) / state.clock[FREED]  # type: ignore[no-any-return]
    return np.inf


@inlined
def _plan_changes(
    plan: Timetable, state: TierState, flows: Flows, row: int, flow: int, rate: float, now: float
) -> float:
    """When the plan of a flow changes, or the flow meets its plan."""
    if row < 0:
        return np.inf
    following = state.planned[flow] + 1
    then = plan.time[following] if following < plan.first[flow + 1] else np.inf
    lag, closing = flows.lag[row], rate - flows.planned[row]
    if lag * closing > 0.0:
        then = min(then, now + lag / closing)
    return then


@inlined
def _through(script: Script, state: TierState, k: int, differences: bool) -> float:
    """How fast bytes enter the buffer: not those that go straight from an application or to one.

    `differences`: whatever is written and sent, or fetched and read, at once goes straight.
    """
    if differences:
        written = max(0.0, state.producing[k] - state.sending[k])
        return written + max(0.0, state.fetching[k] - state.consuming[k])  # type: ignore[no-any-return]
    straight = state.doing[k] == READING and state.fetched[k] <= state.consumed[k]
    fetched = state.fetching[k] - (state.consuming[k] if straight else 0.0)
    written = state.producing[k] if is_buffered(script, state, k) else 0.0
    return written + max(0.0, fetched)  # type: ignore[no-any-return]


@inlined
def move(script: Script, state: TierState, k: int, seconds: float, differences: bool) -> None:
    """Let the bytes flow, and its part grow."""
    state.clock[THROUGH] += _through(script, state, k, differences) * seconds
    state.produced[k] += state.producing[k] * seconds
    state.sent[k] += state.sending[k] * seconds
    state.fetched[k] += state.fetching[k] * seconds
    state.consumed[k] += state.consuming[k] * seconds
    state.space[k] += growth_of(state, k) * seconds
