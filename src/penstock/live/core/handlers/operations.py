"""Members announce operations to the controller, make them longer and end them."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from penstock.live.core import checks, records
from penstock.live.core.checks import Refused
from penstock.live.core.handlers.steps import Handlers, end_operation, heard, let_go, route_of
from penstock.live.core.history import Expected
from penstock.live.core.members import App, Member, Stage
from penstock.live.core.resources import Route
from penstock.live.core.sessions import Session
from penstock.wire import messages as wire
from penstock.wire.guesses import LEARNT

if TYPE_CHECKING:
    from penstock.live.core.core import Core

# How far a job's own measure of its work may be from ours, in seconds and relative to the time that has passed.
_AGREES, _AGREES_LONG = 1e-3, 1e-8


def _post(core: Core, session: Session, message: wire.Post) -> None:
    state, member = core.state, session.bound()
    checks.number(message.op, "op")
    checks.number(message.hb, "hb")
    checks.volume(message.volume)
    cap = checks.cap(message.cap)
    checks.way(message.direction, message.targets, state.routes.targets)
    checks.counted(message.direction, member.app.kind)
    checks.confidence(message.confidence)
    if member.op is not None:
        if member.stage is Stage.POSTED and message.op == member.op.number:
            core.renew(member)
            return
        raise Refused("busy", f"operation {member.op.number} is still open; end it, or extend it")
    if message.op <= member.last_op:
        raise Refused("value", f"op is {message.op}; the last was {member.last_op}, and numbers rise")
    heard(core, member, message.hb)
    route = route_of(core, member.app, message.direction, message.targets)
    if why := _why_not(core, member.app, route):
        let_go(core, member)
        raise Refused("draining", f"{why}; go on at your fallback")
    held = min(state.fallback(member, route), wire.MOST_NUMBER) if member.stage is Stage.LOST else 0.0
    expected = _expected(core, member.app, message)
    core.record(
        records.Posted(
            *member.key,
            message.op,
            message.volume if expected is None else expected.volume,
            *route.key,
            message.confidence if expected is None else expected.confidence,
            cap,
            _work(core, member.app, message.work),
            held,
            state.rev + 1,
            None if expected is None else message.volume,
            message.program,
            None if expected is None or isnan(expected.period) else expected.period,
        )
    )
    core.entered(member)


def _expected(core: Core, app: App, message: wire.Post) -> Expected | None:
    """What earlier runs of the job tell of a phase that nobody announced, unless this run knows better."""
    if message.program:
        checks.name(message.program, "program")
    if message.confidence >= LEARNT or not message.program:
        return None
    expected = core.state.history.expect(app.uid, message.program, round(app.nodes))
    return expected if expected is not None and expected.confidence > message.confidence else None


def _why_not(core: Core, app: App, route: Route) -> str:
    """Why no new operation is taken now, if none is."""
    state = core.state
    if state.draining:
        return "the controller takes no new operations"
    if _is_ending(core, app):
        return "your job is about to end"
    names = [state.routes.resources[k].name for k, _ in route.shares]
    out = next((name for name in names if name in state.out_of_service), None)
    return "" if out is None else f"{out!r} is out of service"


def _is_ending(core: Core, app: App) -> bool:
    job = core.state.jobs.get(app.job)
    return job is not None and job.ending and job.uid == app.uid


def _work(core: Core, app: App, told: float | None) -> float:
    """How long a job computed before it posted: its own word has more digits, ours cannot be made up."""
    seen = max(0.0, core.state.now - app.since)
    if told is not None and abs(told - seen) <= _AGREES + _AGREES_LONG * core.state.now and told >= 0.0:
        return told
    return seen


def _extend(core: Core, session: Session, message: wire.Extend) -> None:
    member = _with_op(session, message.op)
    more = checks.volume(message.more)
    assert member.op is not None
    checks.volume(member.op.volume + more)
    said = member.op.said + more
    # Where earlier runs of the job knew it, nothing changes but what it says.
    core.record(records.Extended(*member.key, max(0.0, said - member.op.volume), said))
    core.dirty = True


def _complete(core: Core, session: Session, message: wire.Complete) -> None:
    _ended(core, session, message.op, message.done, "")


def _cancel(core: Core, session: Session, message: wire.Cancel) -> None:
    _ended(core, session, message.op, message.done, "cancelled")


def _ended(core: Core, session: Session, op: int, done: float, reason: str) -> None:
    member = session.bound()
    checks.number(op, "op")
    checks.amount(done, "done")
    if member.stage is not Stage.LOST or member.op is not None:
        open_op = _with_op(session, op).op
        assert open_op is not None
        done = min(done, open_op.volume)
    else:
        done = 0.0  # it went on without us: what it moved was never announced
    end_operation(core, member, op, done, reason)


def _with_op(session: Session, op: int) -> Member:
    member = session.bound()
    if member.op is None or member.op.number != op:
        raise Refused("unknown_op", f"operation {op} is not open")
    return member


TAKE: Handlers = {
    wire.Post: _post,
    wire.Extend: _extend,
    wire.Complete: _complete,
    wire.Cancel: _cancel,
}
