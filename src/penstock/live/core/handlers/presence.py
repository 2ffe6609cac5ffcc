"""Members that come to the controller, come back and leave."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from penstock.live.core import checks, records
from penstock.live.core.checks import Refused
from penstock.live.core.handlers.steps import Handlers, end_operation, heard, nothing_open, route_of
from penstock.live.core.members import App, Member, Stage
from penstock.live.core.sessions import Session, may_speak_for, owner
from penstock.live.core.state import GRACE
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.core import Core

_MOST_MEMBER = 2**32 - 1
MEMBERS_PER_NODE = 2
_PROVED = ("user", "account", "qos", "unpaced")  # labels that a job cannot give itself


def _register(core: Core, session: Session, message: wire.Register) -> None:
    session.need("client")
    if core.state.draining:
        raise Refused("draining", "the controller takes nobody new; go on at your fallback")
    key = owner(core.state, session.identity, message.job, message.uid)
    checks.number(message.member, "member", most=_MOST_MEMBER)
    checks.number(message.nodes, "nodes", least=1)
    release = checks.amount(message.release, "release")
    progress = checks.amount(message.progress, "progress")
    labels = _believed(session, checks.labels(message.labels))
    cap = checks.cap(message.cap)
    _check_kind(core, message.kind)
    known = session.member
    if known is not None and (known.stage is not Stage.IDLE or _key(known.app) != (*key, message.kind)):
        raise Refused("busy", f"this connection already speaks for a member of {known.app.job!r}")
    given = message.member, message.nodes, cap, release, progress, labels, message.kind
    member = _join(core, session, key, *given)
    _replace(core, session, member)
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
    kind: str = wire.BYTES,
) -> Member:
    """Make a member of a job, and of its application if that is new."""
    state = core.state
    app = state.known(kind).get(key)
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
    fallback = state.parts(share, kind)
    record = records.Registered(
        app.number if app else state.next_app, *key, number, share, cap, release, progress, labels or {}, fallback,
        _account(core, session, key[0]), kind,
    )  # fmt: skip
    core.record(record)
    member = state.apps[record.app].members[number]
    member.hb = -1
    heard(core, member, member.hb)
    _bind(core, session, member)
    return member


def _replace(core: Core, session: Session, new: Member) -> None:
    """A new agent of a node has the segments of the one before, which is dead: what that one was granted is over.

    It has taken the rates out of the segments before it registers. Another life of the job has a segment of its own. A
    word of a dead agent may come late: who came by an older connection replaces nobody.
    """
    where = [new.labels.get(name, "") for name in ("node", "restart")]
    if not session.identity.for_node or not where[0]:
        return
    for old in list(new.app.members.values()):
        alike = old is not new and [old.labels.get(name, "") for name in ("node", "restart")] == where
        if alike and old.connection <= session.identity.connection:
            core.dead(old, "another agent speaks for its node")


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
    member.connection = max(member.connection, session.identity.connection)
    core.watch(member)


def _welcome(core: Core, session: Session, req: int, member: Member) -> None:
    """Tell a member its ids, and what it may use when nobody tells it a rate."""
    state = core.state
    bytes_ = member.app.kind == wire.BYTES
    fallback = state.told(member.fallback) if bytes_ else {"": min(member.fallback.values(), default=0.0)}
    operations = state.operations(member.nodes) if bytes_ else 0.0
    floor = fallback[""] if core.settings.floor is None else core.settings.floor
    paths = {each.target: each.path for each in core.settings.resources if each.target and each.path}
    told = wire.Registered(req, *member.key, fallback, floor, state.routes.targets, paths, operations)
    core.send(session.number, told)


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
        checks.counted(message.op.direction, message.kind)
    member = _returning(core, session, message)
    if member is None:
        key = owner(core.state, session.identity, message.job or session.identity.job or "", message.uid)
        _check_kind(core, message.kind)
        member = _join(core, session, key, message.member, message.nodes, cap, kind=message.kind)
    elif message.hb < member.hb:
        return  # it has said more since
    else:
        _bind(core, session, member)
    _welcome(core, session, message.req, member)
    heard(core, member, message.hb)
    if message.op is None:
        nothing_open(core, member)
    elif member.stage is not Stage.IDLE or message.op.op > member.last_op:
        _go_on(core, member, message.op, rate, leased=message.lease_left > 0.0)


def _check_open(core: Core, op: wire.OpenOp) -> None:
    checks.number(op.op, "op")
    checks.volume(op.volume)
    checks.amount(op.done, "done")
    checks.amount(op.posted, "posted")
    checks.confidence(op.confidence)
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


def _go_on(core: Core, member: Member, op: wire.OpenOp, rate: float, leased: bool) -> None:
    """A member is back with an operation: until it acks a new rate, it may be using any that it ever had.

    Without a lease it is at its fallback, or unpaced; what it can use unpaced is nothing that it was ever granted.
    """
    state = core.state
    route = route_of(core, member.app, op.direction, op.targets)
    if member.op is not None and member.op.number != op.op:
        # With another operation under way it uses nothing for the one that we know of.
        end_operation(core, member, member.op.number, member.op.reported, "over when it came back")
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
            op.confidence,
        )
    )
    core.entered(member)


def _check_kind(core: Core, kind: str) -> None:
    if kind not in {resource.kind for resource in core.settings.resources}:
        raise Refused("value", f"kind is {kind[:80]!r}, of which nothing is shared here")


def _key(app: App) -> tuple[str, int, str]:
    return app.job, app.uid, app.kind


TAKE: Handlers = {
    wire.Register: _register,
    wire.Resync: _resync,
    wire.Goodbye: _goodbye,
}
