"""The event loop with a burst buffer between the applications and the file system."""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.engine.tier.arrays import (
    CONTENTS,
    EVENTS,
    MOVES,
    NOW,
    PEAK,
    READS,
    RECORDS,
    SCRIPT,
    TICK,
    TIER,
    TIMETABLE,
    WRITES,
    WRONG,
    BufferContents,
    Script,
    TierState,
    Timetable,
)
from penstock.engine.tier.common import common_full_at, settle_common, share_freed
from penstock.engine.tier.parts import grow, settle_parts
from penstock.engine.tier.rules import ask, held_by, leave_common, move, settle, soonest, take_rates
from penstock.engine.tier.sharing import share_flows
from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import inlined, kernel, part
from penstock.policies.buffering.in_turn import keep_parts
from penstock.policies.buffering.policy import Divide
from penstock.policies.buffering.port import fit_port, fit_port_straight
from penstock.policies.buffering.view import FLOWS, STRATEGY, Flows
from penstock.policies.sharing.policy import Decide
from penstock.policies.sharing.rules import next_tick
from penstock.policies.sharing.view import POLICY, ROOM, View

DONE, STALLED, REFUSED, BUDGET_SPENT, ROOM_SPENT = range(5)
NOTHING, ALL = -2, -1

_F = types.float64[::1]


@inlined
def _record(state: TierState, contents: BufferContents, now: float) -> None:
    """Keep what everybody holds, if there is room for it, and the most that all have held together."""
    in_all = 0.0
    for k in range(state.doing.size):
        in_all += held_by(state, k)
    state.clock[PEAK] = max(state.clock[PEAK], in_all)
    if contents.time.size > 0:
        slot = state.counts[RECORDS]
        state.counts[RECORDS] = slot + 1
        contents.time[slot] = now
        for k in range(state.doing.size):
            contents.output[slot, k] = state.produced[k] - state.sent[k]
            contents.input[slot, k] = state.fetched[k] - state.consumed[k]


@inlined
def _at(flows: Flows, now: float, rows: int, share: float) -> Flows:
    """So many of the flows, now, with a share of the file system's bandwidth."""
    return Flows(
        now,
        share * flows.read_limit,
        share * flows.write_limit,
        share * flows.joint_limit,
        flows.port_limit,
        part(flows.application, 0, rows),
        part(flows.reading, 0, rows),
        part(flows.cap, 0, rows),
        part(flows.under, 0, rows),
        part(flows.over, 0, rows),
        part(flows.grows, 0, rows),
        part(flows.crossing, 0, rows),
        part(flows.beside, 0, rows),
        part(flows.beside_rate, 0, rows),
        part(flows.blocked, 0, rows),
        part(flows.held, 0, rows),
        part(flows.room, 0, rows),
        part(flows.due, 0, rows),
        part(flows.ahead, 0, rows),
        part(flows.stuck, 0, rows),
        part(flows.lag, 0, rows),
        part(flows.planned, 0, rows),
        part(flows.key, 0, rows),
        part(flows.rows, 0, rows),
    )


@inlined
def _left_by(script: Script, moving: int) -> float:
    """The share of the file system's bandwidth that there is while so many applications move."""
    if script.efficiency.size == 0:
        return 1.0
    return script.efficiency[min(max(moving, 1), script.efficiency.size) - 1]  # type: ignore[no-any-return]


@inlined
def _movers(flows: Flows, rates: Floats, rows: int, might: bool) -> int:
    """How many applications move something to or from the file system, or might; one's two flows follow each other."""
    count, counted = 0, -1
    for row in range(rows):
        moves = flows.cap[row] > 0.0 if might else rates[row] > SAME * flows.cap[row]
        if moves and flows.application[row] != counted:
            counted = flows.application[row]
            count += 1
    return count


@inlined
def _copy(source: Floats, target: Floats) -> None:
    for place in range(target.size):
        target[place] = source[place]


@inlined
def _wrong(flows: Flows, rates: Floats) -> int:
    """The row of a rate that cannot be; ALL if together they exceed what there is, NOTHING if all is well."""
    into, out = 0.0, 0.0
    for row in range(rates.size):
        rate = rates[row]
        if not 0.0 <= rate <= flows.cap[row] * (1.0 + SAME):
            return row
        if flows.reading[row] == 1:
            into += rate
        else:
            out += rate
    more = 1.0 + SAME
    fits = into <= flows.read_limit * more and out <= flows.write_limit * more
    return NOTHING if fits and into + out <= flows.joint_limit * more else ALL


@inlined
def _count_busy(state: TierState, flows: Flows, rates: Floats, seconds: float) -> None:
    """Seconds in which anything is read from the file system, written to it, or either."""
    reads, writes = False, False
    for row in range(rates.size):
        if rates[row] > 0.0:
            reads |= flows.reading[row] == 1
            writes |= flows.reading[row] != 1
    state.clock[READS] += seconds if reads else 0.0
    state.clock[WRITES] += seconds if writes else 0.0
    state.clock[MOVES] += seconds if reads or writes else 0.0


@inlined
def _next_tick(state: TierState, now: float, tick: float, rows: int) -> float:
    """When a sharing policy wants to be asked again, whatever happens; only if there is something to decide."""
    if not 0.0 < tick < np.inf or rows == 0:
        return np.inf
    if state.clock[TICK] <= now * (1.0 + SAME):
        state.clock[TICK] = tick * next_tick(now, tick)
    return state.clock[TICK]  # type: ignore[no-any-return]


@inlined
def _settle_all(script: Script, state: TierState, now: float) -> None:
    """Apply all that is due at this instant: ends first, then parts are given, then those that waited for one start."""
    for again in range(1 + script.waits):
        for k in range(state.doing.size):
            while settle(script, state, k, now):
                pass
        if again == 0:
            settle_parts(script, state, now)
    settle_common(script, state, now)


@inlined
def _ask_all(script: Script, plan: Timetable, state: TierState, flows: Flows) -> int:
    """Show all flows; how many there are."""
    rows = 0
    for k in range(state.doing.size):
        rows = ask(script, plan, state, flows, k, rows)
    return rows


@inlined
def _take_all(script: Script, state: TierState, flows: Flows, rates: Floats, given: Floats, now: float) -> None:
    """Set the pace of everything, and see whose parts are no longer full."""
    for k in range(state.doing.size):
        take_rates(script, state, flows, rates, k)
    grow(script, state)
    for k in range(state.doing.size):
        leave_common(script, state, k, now)
    share_freed(script, state, given)


@inlined
def _next_event(script: Script, plan: Timetable, state: TierState, flows: Flows, now: float) -> float:
    then = common_full_at(script, state, now)
    for k in range(state.doing.size):
        then = min(then, soonest(script, plan, state, flows, k, now))
    return then


@kernel(
    types.int64(
        SCRIPT, TIMETABLE, TIER, FLOWS, STRATEGY, ROOM, POLICY, types.float64, CONTENTS, _F, _F, _F, types.int64
    )
)
def run_tier(
    script: Script,
    plan: Timetable,
    state: TierState,
    flows: Flows,
    strategy: Divide,
    view: View,
    policy: Decide,
    tick: float,
    contents: BufferContents,
    rates: Floats,
    given: Floats,
    remembered: Floats,
    budget: int,
) -> int:
    """Go on until everything is drained, or until `budget` events have passed.

    A strategy divides the file system's bandwidth; or, if `tick` > 0, a sharing policy, at least every `tick` seconds.
    Where sharing costs, it is asked with what is left if all move; if fewer do, with what these leave; if more move
    then, what was given before holds. Only the last answer stays in a policy's memory, of which `remembered` has room
    for a copy.
    """
    m = state.doing.size
    now = state.clock[NOW]
    # Who follows a plan sends on at once what the plan sends; without a port nobody can tell.
    straight = plan.time.size > 0 and flows.port_limit < np.inf
    while budget > 0:
        if 0 < contents.time.size <= state.counts[RECORDS]:
            return ROOM_SPENT
        _settle_all(script, state, now)
        _record(state, contents, now)
        _copy(view.memory, remembered)
        moving, share, before, settled = -1, 1.0, 1.0, False
        while True:
            rows = _ask_all(script, plan, state, _at(flows, now, flows.cap.size, 1.0))
            if moving < 0:
                moving = _movers(flows, rates, rows, True)
                share = before = _left_by(script, moving)
            present = _at(flows, now, rows, share)
            if tick > 0.0:
                share_flows(script, state, present, view, policy, part(rates, 0, rows), given)
            else:
                strategy(present, part(rates, 0, rows))
            keep_parts(present, part(rates, 0, rows))
            number = _movers(present, rates, rows, False)
            if settled or number == moving or _left_by(script, number) == share:
                break
            settled = number > moving
            moving, share, before = number, before if settled else _left_by(script, number), share
            _copy(remembered, view.memory)
        state.counts[WRONG] = _wrong(present, part(rates, 0, rows))
        if state.counts[WRONG] != NOTHING:
            return REFUSED
        if straight:
            fit_port_straight(present, part(rates, 0, rows))
        else:
            fit_port(present, part(rates, 0, rows))
        _take_all(script, state, present, rates, given, now)
        then = _next_event(script, plan, state, flows, now)
        if then == np.inf:
            return DONE if rows == 0 else STALLED
        then = max(now, min(then, _next_tick(state, now, tick, rows)))
        _count_busy(state, present, part(rates, 0, rows), then - now)
        for k in range(m):
            move(script, state, k, then - now, straight)
        now = then
        state.clock[NOW] = now
        state.counts[EVENTS] += 1
        budget -= 1
    return BUDGET_SPENT
