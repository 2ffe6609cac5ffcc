"""Sharing policies in the loop with a burst buffer: they see each flow as an application, and nothing of the buffer."""

from __future__ import annotations

from numba import types

from penstock.engine.rows import rows_shown
from penstock.engine.tier.arrays import AWAY, OVER, SCRIPT, TIER, WRITING, Script, TierState
from penstock.engine.tier.rules import progress_of
from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined, kernel, part
from penstock.policies.buffering.in_turn import room_made
from penstock.policies.buffering.view import FLOWS, Flows
from penstock.policies.sharing.policy import Decide
from penstock.policies.sharing.rules import loss, mean_iteration
from penstock.policies.sharing.view import POLICY, RATES, ROOM, View

_OUT, _IN, _BOTH = range(3)
_UNSEEN = -1


@inlined
def _keep_direction(flows: Flows, rates: Floats, way: int, limit: float) -> None:
    """Slow all flows of a direction down alike if together they exceed its own limit."""
    in_all = 0.0
    for row in range(rates.size):
        if flows.reading[row] == way:
            in_all += rates[row]
    if in_all > limit:
        for row in range(rates.size):
            if flows.reading[row] == way:
                rates[row] *= limit / in_all


@inlined
def _show(script: Script, state: TierState, flows: Flows, view: View, row: int, place: int, capacity: float) -> None:
    """Make a flow a row of the View, in which nobody can use more than there is."""
    k = flows.application[row]
    reading = flows.reading[row]
    view.application[place] = 2 * k + reading
    view.nodes[place] = script.nodes[k]
    view.limit[place] = min(flows.cap[row], capacity)
    view.remaining[place] = _to_fetch(script, state, k) if reading == 1 else _to_send(state, k)
    view.posted[place] = state.in_posted[k] if reading == 1 else state.out_posted[k]
    view.release[place] = script.release[k]
    view.progress[place] = progress_of(script, state, k, flows.now)
    view.omega[place] = mean_iteration(state.iteration_seconds[k], state.iterations[k])
    view.rate[place] = state.fetching[k] if reading == 1 else state.sending[k]


@inlined
def _mean_loss(script: Script, state: TierState, now: float) -> float:
    """The mean of 1 - yield over all that are released and not finished, whatever flows they have; 0 if none is."""
    in_all, there = 0.0, 0
    for k in range(state.doing.size):
        if state.doing[k] not in (AWAY, OVER):
            age = now - script.release[k]
            in_all += loss(age - progress_of(script, state, k, now), age)
            there += 1
    return in_all / max(there, 1)


@inlined
def _to_fetch(script: Script, state: TierState, k: int) -> float:
    """Without a buffer, what is read now; else also what is read next."""
    buffered = state.space[k] > 0.0 or script.common > 0.0
    return (state.horizon[k] if buffered else state.goal[k]) - state.fetched[k]  # type: ignore[no-any-return]


@inlined
def _to_send(state: TierState, k: int) -> float:
    waiting = state.goal[k] - state.produced[k] if state.doing[k] == WRITING else 0.0
    return (state.produced[k] - state.sent[k]) + waiting  # type: ignore[no-any-return]


# By itself: with a policy that takes its time a call costs nothing, and the loop compiles faster without three copies.
@kernel(types.void(SCRIPT, TIER, FLOWS, ROOM, POLICY, RATES, RATES, types.int64, types.float64))
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
    """Let it divide one limit among the flows of a direction, or of both."""
    rows, usable = 0, 0.0
    for row in range(rates.size):
        flows.rows[row] = _UNSEEN
        if way in (_BOTH, flows.reading[row]):
            rates[row] = 0.0
        # Who reads what is all there asks for nothing here.
        if way in (_BOTH, flows.reading[row]) and flows.cap[row] > 0.0:
            flows.rows[row] = rows
            if way == _IN:
                flows.cap[row] = min(flows.cap[row], room_made(flows, rates, row))
            _show(script, state, flows, view, row, rows, limit)
            usable += flows.cap[row]
            given[rows] = 0.0
            rows += 1
    if rows == 0:
        return
    lost = _mean_loss(script, state, flows.now)
    policy(rows_shown(view, flows.now, min(limit, usable), 0, rows, view.memory, lost), part(given, 0, rows))
    for row in range(rates.size):
        if flows.rows[row] != _UNSEEN:
            rates[row] = given[flows.rows[row]]


@inlined
def share_flows(
    script: Script, state: TierState, flows: Flows, view: View, policy: Decide, rates: Floats, given: Floats
) -> None:
    """Let a sharing policy divide what the file system has: as one, or each direction for itself."""
    if flows.joint_limit < flows.read_limit + flows.write_limit:
        _share(script, state, flows, view, policy, rates, given, _BOTH, flows.joint_limit)
        _keep_direction(flows, rates, _OUT, flows.write_limit)
        _keep_direction(flows, rates, _IN, flows.read_limit)
    else:
        _share(script, state, flows, view, policy, rates, given, _OUT, flows.write_limit)
        _share(script, state, flows, view, policy, rates, given, _IN, flows.read_limit)
