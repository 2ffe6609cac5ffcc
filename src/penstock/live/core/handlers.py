"""What members, operators and hooks say, and what becomes of it.

Every message is looked up by the connection that it came by, so nobody can speak for another; ids that it names are
only compared.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from penstock.live.core import admin, charges, checks, hooks, records
from penstock.live.core.checks import Refused
from penstock.live.core.measuring import measure
from penstock.live.core.members import App, Member, Op, Stage
from penstock.live.core.resources import Route
from penstock.live.core.sessions import Session, may_speak_for, owner
from penstock.live.core.state import GRACE
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.core import Core

_MOST_MEMBER = 2**32 - 1
MEMBERS_PER_NODE = 2
_PROVED = ("user", "account", "qos")  # labels that a job cannot give itself
# How far a job's own measure of its work may be from ours, in seconds and relative to the time that has passed.
_AGREES, _AGREES_LONG = 1e-3, 1e-8


def take(core: Core, session: Session, message: wire.FromClient) -> None:
    """Do what a message asks for, or raise Refused."""
    if (epoch := getattr(message, "epoch", 0)) > core.state.epoch:
        core.met_newer(session, getattr(message, "req", 0), epoch)
        return
    if (handler := _TAKE.get(type(message))) is None:
        raise Refused("decode", f"{type(message).__name__} is only said before one is let in")
    handler(core, session, message)


# --- coming and going


def _register(core: Core, session: Session, message: wire.Register) -> None:
    session.need("client")
    if core.state.draining:
        raise Refused("draining", "the controller takes nobody new; go on at your fallback")
    key = owner(core.state, session.identity, message.job)
    checks.number(message.member, "member", most=_MOST_MEMBER)
    checks.number(message.nodes, "nodes", least=1)
    release = checks.amount(message.release, "release")
    progress = checks.amount(message.progress, "progress")
    labels = _believed(session, checks.labels(message.labels))
    cap = checks.cap(message.cap)
    if session.member is not None and (session.member.stage is not Stage.IDLE or _key(session.member.app) != key):
        raise Refused("busy", f"this connection already speaks for a member of {session.member.app.job!r}")
    member = _join(core, session, key, message.member, message.nodes, cap, release, progress, labels)
    core.dirty = True
    _welcome(core, session, message.req, member)


def _join(
    core: Core,
    session: Session,
    key: tuple[str, int],
    asked: int,
    nodes: int,
    cap: float | None,
    release: float = 0.0,
    progress: float = 0.0,
    labels: dict[str, str] | None = None,
) -> Member:
    """Make a member of a job, and of its application if that is new."""
    state = core.state
    app = state.by_job.get(key)
    if app is not None and app.evicted:
        raise Refused("forbidden", f"job {key[0]!r} was evicted by an operator; come back later")
    members = app.members if app else {}
    number = session.member.number if session.member else _number(members, asked)
    if number not in members and len(members) >= (most := _most_members(core, session, key[0])):
        text = f"job {key[0]!r} has {len(members)} members already; {most} are accepted, two for each of its nodes"
        raise Refused("quota", text if most > core.settings.members_per_job else text.partition(",")[0])
    if app is None and state.jobs_of[key[1]] >= core.settings.jobs_per_user and not session.identity.trusted:
        raise Refused("quota", f"user {key[1]} has {state.jobs_of[key[1]]:,} jobs already; no more are accepted")
    share = _nodes(core, session, key[0], nodes, members, number)
    fallback = state.parts(share)
    record = records.Registered(
        app.number if app else state.next_app, *key, number, share, cap, release, progress, labels or {}, fallback,
        _account(core, session, key[0]),
    )  # fmt: skip
    core.record(record)
    member = state.apps[record.app].members[number]
    member.hb = -1
    _heard(core, member, member.hb)
    _bind(core, session, member)
    return member


def _believed(session: Session, labels: dict[str, str]) -> dict[str, str]:
    """The labels that anybody may say of itself: those that shares and operators go by are not among them."""
    return labels if session.identity.trusted else {name: labels[name] for name in labels if name not in _PROVED}


def _account(core: Core, session: Session, job: str) -> str:
    """The account of a job, by whoever knows it."""
    hook = core.state.jobs.get(job)
    return session.identity.account or (hook.account if hook else "")


def _number(members: dict[int, Member], asked: int) -> int:
    """The number asked for, unless somebody else may be using it: a lease is not taken over by claiming a number."""
    known = members.get(asked)
    if known is None or (known.stage is Stage.IDLE and known.session is None):
        return asked
    return next(number for number in range(len(members) + 1) if number not in members)


def _nodes(core: Core, session: Session, job: str, asked: int, members: dict[int, Member], number: int) -> float:
    """For how many nodes a member speaks: no more than the job has left, as far as we know, but something.

    What a job says of its own nodes is not believed: without the word of the batch system or a token it has one.
    """
    nodes = float(min(asked, core.settings.machine_nodes))
    known = _known_nodes(core, session, job)
    if known == inf and session.identity.trusted:
        return nodes
    known = 1.0 if known == inf else known
    # One that is lost may be dead, and its successor needs its nodes; if it is not, both are charged.
    others = (member for each, member in members.items() if each != number and member.stage is not Stage.LOST)
    left = known - sum(member.nodes for member in others)
    return min(nodes, max(left, known / _most_members(core, session, job)))


def _known_nodes(core: Core, session: Session, job: str) -> float:
    """The nodes of a job by the word of the batch system or a token; infinity without."""
    hook, proved = core.state.jobs.get(job), session.identity.nodes
    return min(hook.nodes if hook else inf, proved if proved is not None else inf)


def _most_members(core: Core, session: Session, job: str) -> int:
    """How many members a job may have: a node needs one, and another while that one is replaced."""
    known = _known_nodes(core, session, job)
    most = core.settings.members_per_job
    return most if known == inf else max(most, int(MEMBERS_PER_NODE * min(known, core.settings.machine_nodes)))


def _bind(core: Core, session: Session, member: Member) -> None:
    """From now on this connection, and no older one, speaks for a member."""
    old = member.session
    if old is not None and old != session.number:
        member.session = None
        core.sessions[old].member = None
        core.refuse(old, 0, "superseded", "a newer connection speaks for this member")
    session.member = member
    member.session = session.number
    core.watch(member)


def _welcome(core: Core, session: Session, req: int, member: Member) -> None:
    """Tell a member its ids, and what it may use when nobody tells it a rate."""
    state = core.state
    fallback = state.told(member.fallback)
    floor = fallback[""] if core.settings.floor is None else core.settings.floor
    paths = {each.target: each.path for each in core.settings.resources if each.target and each.path}
    core.send(session.number, wire.Registered(req, *member.key, fallback, floor, state.routes.targets, paths))


def _goodbye(core: Core, session: Session, message: wire.Goodbye) -> None:
    core.dead(session.bound(), "it said goodbye")


def _resync(core: Core, session: Session, message: wire.Resync) -> None:
    session.need("client")
    checks.number(message.member, "member", most=_MOST_MEMBER)
    checks.number(message.nodes, "nodes", least=1)
    checks.number(message.hb, "hb")
    rate = checks.amount(message.rate, "rate")
    cap = checks.cap(message.cap)
    if message.op is not None:
        _check_open(core, message.op)
    member = _returning(core, session, message)
    if member is None:
        key = owner(core.state, session.identity, message.job or session.identity.job or "")
        member = _join(core, session, key, message.member, message.nodes, cap)
    elif message.hb < member.hb:
        return  # it has said more since
    else:
        _bind(core, session, member)
    _welcome(core, session, message.req, member)
    _heard(core, member, message.hb)
    if message.op is None:
        _nothing_open(core, member)
    elif member.stage is not Stage.IDLE or message.op.op > member.last_op:
        _go_on(core, member, message.op, rate, leased=message.lease_left > 0.0)


def _nothing_open(core: Core, member: Member) -> None:
    """A member says that it has no operation, so it uses nothing, whatever we took it for."""
    if member.op is not None:
        _end(core, member, member.op.number, member.op.reported, "over when it came back")
    elif member.stage is Stage.LOST:
        _end(core, member, member.last_op, 0.0, "nothing when it came back")


def _check_open(core: Core, op: wire.OpenOp) -> None:
    checks.number(op.op, "op")
    checks.volume(op.volume)
    checks.amount(op.done, "done")
    checks.amount(op.posted, "posted")
    checks.way(op.direction, op.targets, core.state.routes.targets)


def _returning(core: Core, session: Session, message: wire.Resync) -> Member | None:
    """Whom a connection says that it speaks for; None if we do not know of it, as after a lost journal."""
    state = core.state
    app = state.apps.get(message.app)
    if message.job and (app is None or app.job != message.job or message.member not in app.members):
        return None
    if app is None:
        raise Refused("unknown_app", f"there is no application {message.app}; register")
    may_speak_for(state, session.identity, app)
    if app.evicted:
        raise Refused("forbidden", f"job {app.job!r} was evicted by an operator; come back later")
    if (member := app.members.get(message.member)) is None:
        raise Refused("unknown_app", f"application {app.number} has no member {message.member}; register")
    if session.member is not None and session.member is not member:
        raise Refused("busy", "this connection already speaks for another member")
    return member


def _route(core: Core, app: App, direction: str, targets: tuple[str, ...]) -> Route:
    """What an operation uses: the targets that it names, else those that bytes of its job were last seen on."""
    return core.state.routes.find(direction, targets or app.seen_on.get(direction, ()))


def _go_on(core: Core, member: Member, op: wire.OpenOp, rate: float, leased: bool) -> None:
    """A member is back with an operation: until it acks a new rate, it may be using any that it ever had.

    Without a lease it is at its fallback, or unpaced; what it can use unpaced is nothing that it was ever granted.
    """
    state = core.state
    route = _route(core, member.app, op.direction, op.targets)
    if member.op is not None and member.op.number != op.op:
        # With another operation under way it uses nothing for the one that we know of.
        _end(core, member, member.op.number, member.op.reported, "over when it came back")
    cap = member.op.cap if member.op is not None else None
    fallback = min(state.fallback(member, route), wire.MOST_NUMBER)
    held = max(member.charge, fallback)
    if state.now < state.grace_until:
        # It may have been granted what we know nothing of: as much as anybody could have granted it.
        held = max(held, min(rate, state.limit_on(route, member.cap if cap is None else cap)))
    # Only when we may have forgotten it can an operation be older than the last that we know of.
    ago = op.posted if state.mode == GRACE else min(op.posted, max(0.0, state.now - member.app.since))
    core.record(
        records.Resynced(
            *member.key,
            op.op,
            op.volume,
            min(op.done, op.volume),
            *route.key,
            cap,
            ago,
            min(rate, held if leased else fallback),
            held,
            state.rev + 1,
        )
    )
    core.entered(member)


# --- operations


def _post(core: Core, session: Session, message: wire.Post) -> None:
    state, member = core.state, session.bound()
    checks.number(message.op, "op")
    checks.number(message.hb, "hb")
    checks.volume(message.volume)
    cap = checks.cap(message.cap)
    checks.way(message.direction, message.targets, state.routes.targets)
    if not 0.0 < message.confidence <= 1.0:
        raise Refused("value", f"confidence is {message.confidence:g}; a number above 0 and up to 1 is accepted")
    if member.op is not None:
        if member.stage is Stage.POSTED and message.op == member.op.number:
            core.renew(member)
            return
        raise Refused("busy", f"operation {member.op.number} is still open; end it, or extend it")
    if message.op <= member.last_op:
        raise Refused("value", f"op is {message.op}; the last was {member.last_op}, and numbers rise")
    _heard(core, member, message.hb)
    route = _route(core, member.app, message.direction, message.targets)
    if why := _why_not(core, member.app, route):
        _let_go(core, member)
        raise Refused("draining", f"{why}; go on at your fallback")
    held = min(state.fallback(member, route), wire.MOST_NUMBER) if member.stage is Stage.LOST else 0.0
    core.record(
        records.Posted(
            *member.key,
            message.op,
            message.volume,
            *route.key,
            message.confidence,
            cap,
            _work(core, member.app, message.work),
            held,
            state.rev + 1,
        )
    )
    core.entered(member)


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


def _let_go(core: Core, member: Member) -> None:
    """A member begins without a lease: it goes by its fallback."""
    if member.stage is not Stage.LOST:
        core.record(records.Expired(*member.key))
        core.watch(member)
        core.dirty = True


def _extend(core: Core, session: Session, message: wire.Extend) -> None:
    member = _with_op(session, message.op)
    more = checks.volume(message.more)
    assert member.op is not None
    checks.volume(member.op.volume + more)
    core.record(records.Extended(*member.key, more))
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
    _end(core, member, op, done, reason)


def _end(core: Core, member: Member, op: int, done: float, reason: str) -> None:
    core.record(records.Ended(*member.key, op, done, reason))
    core.dirty = True


def _with_op(session: Session, op: int) -> Member:
    member = session.bound()
    if member.op is None or member.op.number != op:
        raise Refused("unknown_op", f"operation {op} is not open")
    return member


# --- leases


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
    unseen = member.row is None and member.app.job not in core.state.exempt
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
    if message.hb <= member.hb:
        return
    _heard(core, member, message.hb)
    if message.op == 0:
        _nothing_open(core, member)
        return
    if member.op is None:
        if message.op is not None and message.op > member.last_op:
            _let_go(core, member)  # its announcement was refused, or lost
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


def _heard(core: Core, member: Member, hb: int) -> None:
    """A beat arrived: whatever it makes last is over when it has been silent for so long from now."""
    member.hb = max(member.hb, hb)
    member.reclaim = core.state.now + core.settings.waiting


_TAKE: dict[type[wire.Message], Callable[[Core, Session, Any], None]] = {
    wire.Register: _register,
    wire.Resync: _resync,
    wire.Post: _post,
    wire.Extend: _extend,
    wire.Ack: _ack,
    wire.Beat: _beat,
    wire.Complete: _complete,
    wire.Cancel: _cancel,
    wire.Goodbye: _goodbye,
    wire.Admin: admin.take,
    wire.Hook: hooks.take,
}


def _key(app: App) -> tuple[str, int]:
    return app.job, app.uid
