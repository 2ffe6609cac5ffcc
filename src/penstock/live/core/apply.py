"""What each record does to the state."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import TYPE_CHECKING, Any

from penstock.live.core import charges as charging
from penstock.live.core import records
from penstock.live.core.members import App, BatchJob, Member, Op, RouteRow, Stage
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.state import ControllerState

_NO_NEWS = 1e-9  # of a volume: a report this close to what was expected says nothing new
_SPARE_PLACES = 1024


# --- the controller


def _started(state: ControllerState, record: records.Started) -> None:
    state.epoch = record.epoch
    state.rev = 0
    state.fenced = False
    over = state.now + state.settings.waiting
    if not record.warm:
        # A warm start owes what is left of the time that an earlier one had to wait.
        state.grace_until = max(state.grace_until, over)
    _configure(state, record)
    for member in state.members():
        _leave_row(state, member)
        member.session = None
        member.hb = -1
        member.reclaim = over
        if member.stage in (Stage.POSTED, Stage.ORPHAN):
            member.stage = Stage.RECOVERED
        state.charges.put(member)


def _configure(state: ControllerState, record: records.Started) -> None:
    """What the configuration says counts once it is another than last time; else what operators said since."""
    if record.capacity != state.configured:
        for name, capacity in record.capacity.items():
            if name in state.routes.place:
                state.capacity[state.routes.place[name]] = capacity
        state.configured = dict(record.capacity)
    if record.sharing != state.configured_sharing:
        state.sharing = state.configured_sharing = record.sharing
        state.overrun = ""
        state.memory.clear()


def _fenced(state: ControllerState, record: records.Fenced) -> None:
    state.fenced = True


def _policy_failed(state: ControllerState, record: records.PolicyFailed) -> None:
    state.failures += 1
    state.last_failure = record.text


def _overran(state: ControllerState, record: records.Overran) -> None:
    state.overrun = record.policy
    state.failures += 1
    state.last_failure = (
        f"sharing policy {record.policy!r} took more than {record.seconds:g} s for a decision; fair-share decides "
        "until an operator chooses a policy"
    )


def _decision(state: ControllerState, record: records.RatesDecided) -> None:
    rows = state.rows
    rows.settle_all(state.now)
    for number, direction, targets, rate in record.rates:
        rows.wanted[rows.by_key[number, (direction, targets)].index] = rate
    rows.floored[: rows.count] = False
    for number, direction, targets in record.floored:
        rows.floored[rows.by_key[number, (direction, targets)].index] = True
    if state.chosen == "monitor":
        rows.rate[: rows.count] = rows.wanted[: rows.count]
    state.memory.change(record.width, state.next_place, record.memory)
    state.decisions += 1
    state.decided = state.now


# --- who is there


def _registered(state: ControllerState, record: records.Registered) -> None:
    app = state.apps.get(record.app)
    if app is None:
        app = _new_app(state, record.app, record.job, record.uid)
    if app.operations == 0 and not app.active and app.members.keys() <= {record.member}:
        _begin(state, app, record)
    app.labels.update({name: value for name, value in record.labels.items() if name != "node"})
    app.account = record.account or app.account
    app.empty_since = inf
    member = app.members.get(record.member)
    if member is None:
        member = app.members[record.member] = Member(app, record.member, record.nodes)
    member.nodes, member.cap, member.labels = record.nodes, record.cap, record.labels
    member.fallback = record.fallback
    member.stage, member.lost_at, member.last_op = Stage.IDLE, inf, -1
    state.charges.put(member)
    state.losses.put(app)


def _begin(state: ControllerState, app: App, record: records.Registered) -> None:
    """Until its first operation, a job's newest word on when it began counts, unless the batch system said it."""
    if app.job not in state.jobs:
        app.release = state.now - record.release
    app.progress = record.progress
    app.since = state.now


def _new_app(state: ControllerState, number: int, job: str, uid: int) -> App:
    app = App(number, job, uid, state.next_place, release=state.now, progress=0.0, since=state.now)
    app.empty_since = state.now
    state.next_app = max(state.next_app, number + 1)
    state.next_place += 1
    state.add(app)
    return app


def _gone(state: ControllerState, record: records.Gone) -> None:
    member = _member(state, record)
    _end(state, member, member.op.reported if member.op else 0.0)
    member.stage = Stage.GONE
    state.charges.put(member)
    app = member.app
    del app.members[member.number]
    state.losses.put(app)
    if not app.members:
        app.empty_since = state.now
        if app.evicted:
            _forget(state, app)


def _forgotten(state: ControllerState, record: records.Forgotten) -> None:
    _forget(state, state.apps[record.app])


def _forget(state: ControllerState, app: App) -> None:
    state.drop(app)
    if state.next_place > 2 * len(state.apps) + _SPARE_PLACES:
        _close_ranks(state)


def _close_ranks(state: ControllerState) -> None:
    """Number the places anew, in the same order: what policies remember has a number for each."""
    apps = sorted(state.apps.values(), key=lambda app: app.place)
    state.memory.keep([app.place for app in apps])
    for place, app in enumerate(apps):
        app.place = place
    for row in state.rows.rows:
        state.rows.application[row.index] = row.app.place
    state.next_place = len(apps)
    state.losses.renew(apps)


def _evicted(state: ControllerState, record: records.Evicted) -> None:
    app = state.apps[record.app]
    app.evicted = True
    for member in app.members.values():
        _cut_off(state, member)
    if not app.members:
        _forget(state, app)


def _hooked(state: ControllerState, record: records.Hooked) -> None:
    if record.kind == "job_start":
        ends = inf if record.seconds_left is None else state.now + record.seconds_left
        state.jobs[record.job] = BatchJob(
            record.uid, record.nodes, ends, record.account, record.restart, record.node_names
        )
        if record.app:
            _new_app(state, record.app, record.job, record.uid)
        if (app := state.by_job.get((record.job, record.uid))) is not None:
            app.account = record.account or app.account
    elif record.kind == "job_ending":
        state.jobs[record.job].ending = True
    elif record.kind == "job_end" and record.node:
        if (job := state.jobs.get(record.job)) is not None:
            job.over |= {record.node}
    elif record.kind == "job_end":
        state.jobs.pop(record.job, None)
        if record.app and not state.apps[record.app].members:
            _forget(state, state.apps[record.app])


# --- operations


def _posted(state: ControllerState, record: records.Posted) -> None:
    member = _member(state, record)
    route = state.routes.find(record.direction, record.targets)
    member.op = Op(record.op, record.volume, route, record.cap, state.now, state.now, record.confidence)
    charging.release(member)
    _hold(state, member, record.rev, record.held)
    _begin_phase(state, member.app, state.now, record.work)
    member.app.announced += record.volume
    _enter(state, member)


def _resynced(state: ControllerState, record: records.Resynced) -> None:
    member = _member(state, record)
    app, known = member.app, member.op
    _leave_row(state, member)
    route = state.routes.find(record.direction, record.targets)
    posted = state.now - record.posted
    if known is None or known.number != record.op:
        app.announced += record.volume
        app.phase_bytes += known.reported if known else 0.0
    member.op = Op(record.op, record.volume, route, record.cap, posted, state.now)
    member.op.done = member.op.reported = record.done
    _hold(state, member, record.rev, record.held)
    member.rate = record.rate
    _begin_phase(state, app, posted, max(0.0, posted - app.since))
    _enter(state, member)


def _hold(state: ControllerState, member: Member, rev: int, rate: float) -> None:
    assert member.op is not None
    member.last_op = max(member.last_op, member.op.number)
    member.usable = inf
    state.rev = max(state.rev, rev)
    charging.hold(member, (state.epoch, rev), rate)


def _begin_phase(state: ControllerState, app: App, posted: float, work: float) -> None:
    if not app.active:
        app.posted = posted
        app.work = work
        app.progress += work
        app.phase_bytes = app.phase_limit = 0.0
        state.losses.put(app)


def _enter(state: ControllerState, member: Member) -> None:
    """A member can be told a rate for its operation: put it where policies see it, unless it is exempt."""
    member.stage, member.lost_at = Stage.POSTED, inf
    app, op, rows = member.app, member.op, state.rows
    assert op is not None
    if app.job not in state.exempt:
        if (row := rows.by_key.get((app.number, op.route.key))) is not None:
            rows.settle(row, state.now)
        else:
            row = rows.add(app, op.route, state.now)
            rows.progress[row.index] = app.progress + _moved(app) / state.limit(member)
        row.members[member.number] = member
        member.row = row
        _resize(state, row, op.volume - op.done)
    state.charges.put(member)


def _moved(app: App) -> float:
    """Bytes of the present phase, as far as members told."""
    return app.phase_bytes + sum(member.op.done for member in app.members.values() if member.op is not None)


def _resize(state: ControllerState, row: RouteRow, more: float) -> None:
    """What a row can use and has to move after members came or went."""
    rows, i = state.rows, row.index
    rows.remaining[i] += more
    limit = min(sum(state.limit(member) for member in row.members.values()), state.limit_on(row.route))
    rows.limit[i] = limit
    rows.nodes[i] = row.app.nodes
    row.app.phase_limit = max(row.app.phase_limit, limit)
    _set_usable(state, row)
    _set_rate(state, row)


def _set_rate(state: ControllerState, row: RouteRow) -> None:
    """The rate of a row is what its members were told; while everyone goes unpaced, what they would be told."""
    if state.chosen != "monitor":
        state.rows.set_rate(row, sum(member.rate for member in row.members.values()), state.now)


def _leave_row(state: ControllerState, member: Member) -> None:
    """A member can be told no rate: policies do not see it."""
    row, op = member.row, member.op
    if row is None or op is None:
        return
    state.rows.settle(row, state.now)
    _fold(state, member)
    del row.members[member.number]
    member.row = None
    if row.members:
        _resize(state, row, op.done - op.volume)
    else:
        state.rows.drop(row)


def _fold(state: ControllerState, member: Member) -> None:
    """Move a member's operation up to now. One that goes unpaced is only known by its reports."""
    op = member.op
    assert op is not None
    op.done = op.done_at(state.now, 0.0 if member.free else member.rate)
    op.since = state.now


def _extended(state: ControllerState, record: records.Extended) -> None:
    member = _member(state, record)
    assert member.op is not None
    member.op.volume += record.more
    member.app.announced += record.more
    if member.row is not None:
        state.rows.remaining[member.row.index] += record.more


def _progressed(state: ControllerState, record: records.Progressed) -> None:
    member = _member(state, record)
    op, row = member.op, member.row
    assert op is not None
    op.reported = record.done
    if row is not None:
        state.rows.settle(row, state.now)
    _fold(state, member)
    alone = row is not None and len(row.members) == 1
    expected = op.volume - state.rows.remaining[row.index] if row is not None and alone else op.done
    ahead = float(expected - record.done)
    if abs(ahead) > _NO_NEWS * op.volume:
        op.done = record.done
        if row is not None:
            state.rows.remaining[row.index] += ahead
            state.rows.progress[row.index] -= ahead / state.rows.limit[row.index]


def _ended(state: ControllerState, record: records.Ended) -> None:
    member = _member(state, record)
    member.last_op = max(member.last_op, record.op)
    _end(state, member, record.done)


def _end(state: ControllerState, member: Member, done: float) -> None:
    """A member uses nothing and has no operation; the phase is over with the last of them."""
    app, open_op = member.app, member.op
    _leave_row(state, member)
    charging.release(member)
    member.op, member.stage, member.lost_at = None, Stage.IDLE, inf
    state.charges.put(member)
    if open_op is not None:
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


def _orphaned(state: ControllerState, record: records.Orphaned) -> None:
    _cut_off(state, _member(state, record))


def _cut_off(state: ControllerState, member: Member) -> None:
    _leave_row(state, member)
    if member.stage is Stage.POSTED:
        member.stage = Stage.ORPHAN
    state.charges.put(member)


def _expired(state: ControllerState, record: records.Expired) -> None:
    member = _member(state, record)
    _leave_row(state, member)
    charging.release(member)
    member.stage, member.lost_at = Stage.LOST, state.now
    route = member.op.route if member.op else state.routes.find("write", ())
    member.rate = member.charge = state.fallback(member, route)
    state.charges.put(member)


def _located(state: ControllerState, record: records.Located) -> None:
    """Its charge goes where its bytes go, whether there is room or not: nobody else is raised there until there is."""
    member = _member(state, record)
    app, op, seen = member.app, member.op, member.row is not None
    assert op is not None
    _leave_row(state, member)
    op.route = state.routes.find(op.route.key[0], record.targets)
    app.seen_on[op.route.key[0]] = op.route.key[1]
    if member.free is not None:
        charging.unpaced(member, member.free, state.limit(member))
    if seen:
        _enter(state, member)
    state.charges.put(member)


def _adrift(state: ControllerState, record: records.Adrift) -> None:
    member = _member(state, record)
    assert member.op is not None
    _leave_row(state, member)
    member.op.done = member.op.reported = record.done
    member.op.since = state.now
    member.stage, member.lost_at = Stage.POSTED, inf
    _hold(state, member, record.rev, record.held)
    state.charges.put(member)


# --- rates


def _granted(state: ControllerState, record: records.Granted) -> None:
    member = _member(state, record)
    _fold(state, member)
    state.rev = max(state.rev, record.rev)
    free = bool(record.flags & (wire.FREE | wire.MONITOR))
    charging.grant(member, (record.epoch, record.rev), record.rate, free)
    if member.row is not None:
        _set_rate(state, member.row)
        if record.small:
            state.rows.wanted[member.row.index] = state.rows.rate[member.row.index]
    state.charges.put(member)


def _measured(state: ControllerState, record: records.Measured) -> None:
    member = _member(state, record)
    member.usable = inf if record.usable is None else record.usable
    if member.row is not None:
        _set_usable(state, member.row)


def _set_usable(state: ControllerState, row: RouteRow) -> None:
    members = row.members.values()
    seen = any(member.usable < inf for member in members)
    state.rows.usable[row.index] = sum(state.able(member) for member in members) if seen else inf


def _acked(state: ControllerState, record: records.Acked) -> None:
    member = _member(state, record)
    rev = (record.epoch, record.rev)
    charging.ack(member, rev, record.rate)
    if record.free and member.free is None:
        member.free = rev
    if member.row is None:
        _enter(state, member)
    state.charges.put(member)


# --- operators


def _commanded(state: ControllerState, record: records.Commanded) -> None:
    _COMMANDS[record.verb](state, record.args)


def _policy(state: ControllerState, args: dict[str, Any]) -> None:
    state.sharing = args["name"]
    state.overrun = ""
    state.memory.clear()
    state.last_failure = ""


def _capacity(state: ControllerState, args: dict[str, Any]) -> None:
    state.capacity[state.routes.place[args["resource"]]] = args["capacity"]
    for row in state.rows.rows:
        state.rows.settle(row, state.now)
        _resize(state, row, 0.0)


def _service(state: ControllerState, args: dict[str, Any]) -> None:
    others = [name for name in state.out_of_service if name != args["resource"]]
    state.out_of_service = others if args["on"] else [*others, args["resource"]]


def _mode(state: ControllerState, args: dict[str, Any]) -> None:
    state.rows.settle_all(state.now)
    state.chosen = args["mode"]
    for row in state.rows.rows:
        _set_rate(state, row)


def _drain(state: ControllerState, args: dict[str, Any]) -> None:
    state.draining = args["on"]


def _exempt(state: ControllerState, args: dict[str, Any]) -> None:
    job = args["job"]
    (state.exempt.add if args["on"] else state.exempt.discard)(job)
    for app in state.apps.values():
        if app.job == job:
            for member in app.members.values():
                if member.stage is Stage.POSTED:
                    _leave_row(state, member)
                    _enter(state, member)


_COMMANDS: dict[str, Callable[[ControllerState, dict[str, Any]], None]] = {
    "policy": _policy,
    "capacity": _capacity,
    "service": _service,
    "mode": _mode,
    "drain": _drain,
    "exempt": _exempt,
}


def _member(state: ControllerState, record: Any) -> Member:
    return state.apps[record.app].members[record.member]


CHANGES: dict[type[wire.Message], Callable[[ControllerState, Any], None]] = {
    records.Started: _started,
    records.Registered: _registered,
    records.Posted: _posted,
    records.Extended: _extended,
    records.Acked: _acked,
    records.Progressed: _progressed,
    records.Ended: _ended,
    records.Orphaned: _orphaned,
    records.Expired: _expired,
    records.Gone: _gone,
    records.Resynced: _resynced,
    records.Hooked: _hooked,
    records.Commanded: _commanded,
    records.RatesDecided: _decision,
    records.Granted: _granted,
    records.PolicyFailed: _policy_failed,
    records.Fenced: _fenced,
    records.Evicted: _evicted,
    records.Forgotten: _forgotten,
    records.Adrift: _adrift,
    records.Measured: _measured,
    records.Overran: _overran,
    records.Located: _located,
}
