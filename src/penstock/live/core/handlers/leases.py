"""Members hear their rates from the controller and tell it, beat by beat, that they live and how far they are."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from penstock.live.core import charges, checks, records
from penstock.live.core.checks import Refused
from penstock.live.core.handlers.steps import Handlers, heard, let_go, nothing_open
from penstock.live.core.measuring import measure
from penstock.live.core.members import Member, Op, Stage
from penstock.live.core.sessions import Session
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.core import Core


def _ack(core: Core, session: Session, message: wire.Ack) -> None:
    _acked(core, session.bound(), message.epoch, message.rev)


def _acked(core: Core, member: Member, epoch: int, rev: int) -> None:
    """Release what a member uses no more. What it says about an older epoch says nothing about this one's."""
    if epoch != core.state.epoch or member.stage is not Stage.POSTED:
        return
    if rev > member.rev:
        raise Refused("value", f"rev is {rev}; the newest that was sent is {member.rev}")
    rate = member.revs.get((epoch, rev))
    if rate is None:
        return
    left = max(told for each, told in member.revs.items() if each >= (epoch, rev))
    unseen = member.row is None and not core.state.is_exempt(member)
    if left < member.charge or unseen or (member.free is not None and member.free < (epoch, rev)):
        core.dirty |= unseen
        free = member.free is not None and member.free >= (epoch, rev)
        core.record(records.Acked(*member.key, epoch, rev, rate, free))
    else:
        charges.ack(member, (epoch, rev), rate)


def _beat(core: Core, session: Session, message: wire.Beat) -> None:
    member = session.bound()
    checks.number(message.hb, "hb")
    done = checks.amount(message.done, "done")
    checks.number(message.op or 0, "op")
    outside = checks.amount(message.outside, "outside")
    how = checks.name(message.how, "how") if message.how else ""
    if message.hb <= member.hb:
        return
    member.outside, member.how = max(member.outside, outside), how or member.how
    heard(core, member, message.hb)
    if message.op == 0:
        nothing_open(core, member)
        return
    if member.op is None:
        if message.op is not None and message.op > member.last_op:
            let_go(core, member)  # its announcement was refused, or lost
        return
    _locate(core, member, member.op, message.seen)
    done = max(member.op.reported, min(done, member.op.volume))
    if member.stage is Stage.LOST or _deaf(core, member, message):
        _set_adrift(core, member, member.op, done)
        return
    _acked(core, member, message.epoch, message.rev)
    if done > member.op.reported:
        core.record(records.Progressed(*member.key, done))
    _measured(core, member, done)
    core.renew(member)


def _locate(core: Core, member: Member, op: Op, seen: tuple[str, ...]) -> None:
    """Charge an operation that named no target where its bytes were seen."""
    checks.way(op.route.key[0], seen, core.state.routes.targets)
    direction, before = op.route.key
    if seen and core.state.routes.find(direction, seen).key[1] != before:
        core.record(records.Located(*member.key, seen))
        core.dispatch.joined[member] = None
        core.dirty = True
        if flags := core.free_flags(member):
            core.grant(member, core.state.limit(member), flags)


def _measured(core: Core, member: Member, done: float) -> None:
    """Grant less to one that leaves most of its grant over, and all again to one that uses it up."""
    usable = measure(core.state, member, done)
    if usable != member.usable:
        core.record(records.Measured(*member.key, None if usable == inf else usable))
        member.seen.clear()
        core.dirty = True


def _deaf(core: Core, member: Member, message: wire.Beat) -> bool:
    """Whether a member that is seen goes by no rate of ours although it has had the time to hear one."""
    waited = core.state.now - member.entered >= core.settings.beat
    return message.rev == 0 and member.row is not None and waited and not member.unpaced


def _set_adrift(core: Core, member: Member, op: Op, done: float) -> None:
    """A member that goes by its fallback is told a rate all the same, and counts on top until it has heard it."""
    state = core.state
    held = max(member.charge, min(state.fallback(member, op.route), wire.MOST_NUMBER))
    core.record(records.Adrift(*member.key, done, held, state.rev + 1))
    core.watch(member)
    core.renew(member)
    core.dirty = True
    if flags := core.free_flags(member):
        core.grant(member, state.limit(member), flags)


TAKE: Handlers = {
    wire.Ack: _ack,
    wire.Beat: _beat,
}
