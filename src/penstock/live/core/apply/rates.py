"""Rates in the controller's state: told, taken, and what members can make of them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from penstock.live.core import charges as charging
from penstock.live.core import records
from penstock.live.core.apply.steps import Changes, enter_row, fold, member_of, set_rate, set_usable
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.state import ControllerState


def _granted(state: ControllerState, record: records.Granted) -> None:
    member = member_of(state, record)
    fold(state, member)
    state.rev = max(state.rev, record.rev)
    free = bool(record.flags & (wire.FREE | wire.MONITOR))
    charging.grant(member, (record.epoch, record.rev), record.rate, free)
    if member.row is not None:
        set_rate(state, member.row)
        if record.small:
            state.rows.wanted[member.row.index] = state.rows.rate[member.row.index]
    state.charges.put(member)


def _measured(state: ControllerState, record: records.Measured) -> None:
    member = member_of(state, record)
    member.usable = inf if record.usable is None else record.usable
    if member.row is not None:
        set_usable(state, member.row)


def _acked(state: ControllerState, record: records.Acked) -> None:
    member = member_of(state, record)
    rev = (record.epoch, record.rev)
    charging.ack(member, rev, record.rate)
    if record.free and member.free is None:
        member.free = rev
    if member.row is None:
        enter_row(state, member)
    state.charges.put(member)


CHANGES: Changes = {
    records.Acked: _acked,
    records.Granted: _granted,
    records.Measured: _measured,
}
