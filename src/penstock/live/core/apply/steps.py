"""Steps that several records of the controller take: an operation enters the rows for policies, moves, leaves, ends."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import TYPE_CHECKING, Any

from penstock.live.core import charges as charging
from penstock.live.core.members import App, Member, RouteRow, Stage
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.state import ControllerState

_KEPT = 31  # volumes of phases that a run is judged by, and one more
# What each kind of record does to the state.
Changes = dict[type[wire.Message], Callable[["ControllerState", Any], None]]


def member_of(state: ControllerState, record: Any) -> Member:
    """Whom a record is about."""
    return state.apps[record.app].members[record.member]


def hold_rate(state: ControllerState, member: Member, rev: int, rate: float) -> None:
    """A member says which rate it holds."""
    assert member.op is not None
    member.last_op = max(member.last_op, member.op.number)
    member.usable = inf
    state.rev = max(state.rev, rev)
    charging.hold(member, (state.epoch, rev), rate)


def begin_phase(state: ControllerState, app: App, posted: float, work: float) -> None:
    """The first operation of a job that computed: its work counts as progress."""
    if not app.active:
        app.posted = posted
        app.work = work
        app.progress += work
        app.phase_bytes = app.phase_limit = 0.0
        state.losses.put(app)


def enter_row(state: ControllerState, member: Member) -> None:
    """A member can be told a rate for its operation: put it where policies see it, unless it is exempt."""
    member.stage, member.lost_at = Stage.POSTED, inf
    app, op, rows = member.app, member.op, state.rows
    assert op is not None
    if not state.is_exempt(member):
        if (row := rows.by_key.get((app.number, op.route.key))) is not None:
            rows.settle(row, state.now)
        else:
            row = rows.add(app, op.route, state.now)
            rows.progress[row.index] = app.progress + _moved(app) / state.limit(member)
        row.members[member.number] = member
        member.row = row
        resize(state, row, op.volume - op.done)
    state.charges.put(member)


def _moved(app: App) -> float:
    """Bytes of the present phase, as far as members told."""
    return app.phase_bytes + sum(member.op.done for member in app.members.values() if member.op is not None)


def resize(state: ControllerState, row: RouteRow, more: float) -> None:
    """What a row can use and has to move after members came or went."""
    rows, i = state.rows, row.index
    rows.remaining[i] += more
    most = state.limit_on(row.route)
    limit = min(sum([state.limit(member, most) for member in row.members.values()]), most)
    rows.limit[i] = limit
    rows.confidence[i] = min(member.op.confidence for member in row.members.values() if member.op is not None)
    rows.nodes[i] = row.app.nodes
    row.app.phase_limit = max(row.app.phase_limit, limit)
    set_usable(state, row)
    set_rate(state, row)


def set_rate(state: ControllerState, row: RouteRow) -> None:
    """The rate of a row is what its members were told; while everyone goes unpaced, what they would be told."""
    if state.chosen != "monitor":
        state.rows.set_rate(row, sum([member.rate for member in row.members.values()]), state.now)


def set_usable(state: ControllerState, row: RouteRow) -> None:
    """What a row can make use of, once a member was measured to be slower than its rate."""
    members = row.members.values()
    seen = any(member.usable < inf for member in members)
    state.rows.usable[row.index] = sum(state.able(member) for member in members) if seen else inf


def leave_row(state: ControllerState, member: Member) -> None:
    """A member can be told no rate: policies do not see it."""
    row, op = member.row, member.op
    if row is None or op is None:
        return
    state.rows.settle(row, state.now)
    fold(state, member)
    del row.members[member.number]
    member.row = None
    if row.members:
        resize(state, row, op.done - op.volume)
    else:
        state.rows.drop(row)


def fold(state: ControllerState, member: Member) -> None:
    """Move a member's operation up to now. One that goes unpaced is only known by its reports."""
    op = member.op
    assert op is not None
    op.done = op.done_at(state.now, 0.0 if member.free else member.rate)
    op.since = state.now


def end_operation(state: ControllerState, member: Member, done: float) -> None:
    """A member uses nothing and has no operation; the phase is over with the last of them."""
    app, open_op = member.app, member.op
    leave_row(state, member)
    charging.release(member)
    member.op, member.stage, member.lost_at = None, Stage.IDLE, inf
    state.charges.put(member)
    if open_op is not None:
        if open_op.program and done > 0.0:
            app.volumes = [*app.volumes[-_KEPT:], done]
            app.most_nodes = max(app.most_nodes, round(app.nodes))
        app.phase_bytes += done
        app.moved += done
        if all(each.op is None for each in app.members.values()):
            _end_phase(state, app)


def _end_phase(state: ControllerState, app: App) -> None:
    seconds = app.phase_bytes / app.phase_limit if app.phase_limit > 0.0 else 0.0
    app.progress += seconds
    if app.operations > 0 or app.work > 0.0:
        app.iterations += 1.0
        app.iteration_seconds += app.work + seconds
    app.operations += 1
    app.posted = nan
    app.since = state.now
    state.losses.put(app)


def cut_off(state: ControllerState, member: Member) -> None:
    """A member cannot be reached: policies do not see it, what it may use stays charged."""
    leave_row(state, member)
    if member.stage is Stage.POSTED:
        member.stage = Stage.ORPHAN
    state.charges.put(member)
