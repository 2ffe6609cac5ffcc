"""Operations in the controller's state: announced, met again after an outage, longer than said, ended, lost."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

from penstock.live.core import charges as charging
from penstock.live.core import records
from penstock.live.core.apply.steps import (
    Changes,
    begin_phase,
    cut_off,
    end_operation,
    enter_row,
    fold,
    hold_rate,
    leave_row,
    member_of,
)
from penstock.live.core.members import Op, Stage
from penstock.wire.messages import BYTES, METADATA

if TYPE_CHECKING:
    from penstock.live.core.state import ControllerState

_NO_NEWS = 1e-9  # of a volume: a report this close to what was expected says nothing new


def _posted(state: ControllerState, record: records.Posted) -> None:
    member = member_of(state, record)
    route = state.routes.find(record.direction, record.targets)
    member.op = Op(record.op, record.volume, route, record.cap, state.now, state.now, record.confidence)
    member.op.said = record.volume if record.said is None else record.said
    member.op.program = record.program
    member.app.program = record.program or member.app.program
    member.app.period = nan if record.period is None else record.period
    charging.release(member)
    hold_rate(state, member, record.rev, record.held)
    begin_phase(state, member.app, state.now, record.work)
    member.app.announced += record.volume
    enter_row(state, member)


def _resynced(state: ControllerState, record: records.Resynced) -> None:
    member = member_of(state, record)
    app, known = member.app, member.op
    leave_row(state, member)
    route = state.routes.find(record.direction, record.targets)
    posted = state.now - record.posted
    if known is None or known.number != record.op:
        app.announced += record.volume
        app.phase_bytes += known.reported if known else 0.0
    member.op = Op(record.op, record.volume, route, record.cap, posted, state.now, record.confidence)
    member.op.done = member.op.reported = record.done
    member.op.said = record.volume
    hold_rate(state, member, record.rev, record.held)
    member.rate = record.rate
    begin_phase(state, app, posted, max(0.0, posted - app.since))
    enter_row(state, member)


def _extended(state: ControllerState, record: records.Extended) -> None:
    member = member_of(state, record)
    assert member.op is not None
    member.op.volume += record.more
    member.op.said = member.op.volume if record.said is None else record.said
    member.app.announced += record.more
    if member.row is not None:
        state.rows.remaining[member.row.index] += record.more


def _progressed(state: ControllerState, record: records.Progressed) -> None:
    member = member_of(state, record)
    op, row = member.op, member.row
    assert op is not None
    op.reported = record.done
    if row is not None:
        state.rows.settle(row, state.now)
    fold(state, member)
    alone = row is not None and len(row.members) == 1
    expected = op.volume - state.rows.remaining[row.index] if row is not None and alone else op.done
    ahead = float(expected - record.done)
    if abs(ahead) > _NO_NEWS * op.volume:
        op.done = record.done
        if row is not None:
            state.rows.remaining[row.index] += ahead
            state.rows.progress[row.index] -= ahead / state.rows.limit[row.index]


def _ended(state: ControllerState, record: records.Ended) -> None:
    member = member_of(state, record)
    member.last_op = max(member.last_op, record.op)
    end_operation(state, member, record.done)


def _orphaned(state: ControllerState, record: records.Orphaned) -> None:
    cut_off(state, member_of(state, record))


def _expired(state: ControllerState, record: records.Expired) -> None:
    member = member_of(state, record)
    leave_row(state, member)
    charging.release(member)
    member.stage, member.lost_at = Stage.LOST, state.now
    way = "write" if member.app.kind == BYTES else METADATA
    route = member.op.route if member.op else state.routes.find(way, ())
    member.rate = member.charge = state.fallback(member, route)
    state.charges.put(member)


def _located(state: ControllerState, record: records.Located) -> None:
    """Its charge goes where its bytes go, whether there is room or not: nobody else is raised there until there is."""
    member = member_of(state, record)
    app, op, seen = member.app, member.op, member.row is not None
    assert op is not None
    leave_row(state, member)
    op.route = state.routes.find(op.route.key[0], record.targets)
    app.seen_on[op.route.key[0]] = op.route.key[1]
    if member.free is not None:
        charging.unpaced(member, member.free, state.limit(member))
    if seen:
        enter_row(state, member)
    state.charges.put(member)


def _adrift(state: ControllerState, record: records.Adrift) -> None:
    member = member_of(state, record)
    assert member.op is not None
    leave_row(state, member)
    member.op.done = member.op.reported = record.done
    member.op.since = state.now
    member.stage, member.lost_at = Stage.POSTED, inf
    hold_rate(state, member, record.rev, record.held)
    state.charges.put(member)


CHANGES: Changes = {
    records.Posted: _posted,
    records.Extended: _extended,
    records.Progressed: _progressed,
    records.Ended: _ended,
    records.Orphaned: _orphaned,
    records.Expired: _expired,
    records.Resynced: _resynced,
    records.Adrift: _adrift,
    records.Located: _located,
}
