"""Who is there, in the controller's state: jobs and members that come, go and are let go."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from penstock.live.core import records
from penstock.live.core.apply.steps import Changes, cut_off, end_operation, member_of
from penstock.live.core.members import App, BatchJob, Member, Stage
from penstock.wire.messages import BYTES

if TYPE_CHECKING:
    from penstock.live.core.state import ControllerState

_SPARE_PLACES = 1024


def _registered(state: ControllerState, record: records.Registered) -> None:
    app = state.apps.get(record.app)
    if app is None:
        app = _new_app(state, record.app, record.job, record.uid, record.kind)
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


def _new_app(state: ControllerState, number: int, job: str, uid: int, kind: str = BYTES) -> App:
    app = App(number, job, uid, state.next_place, release=state.now, progress=0.0, since=state.now, kind=kind)
    app.empty_since = state.now
    state.next_app = max(state.next_app, number + 1)
    state.next_place += 1
    state.add(app)
    return app


def _gone(state: ControllerState, record: records.Gone) -> None:
    member = member_of(state, record)
    end_operation(state, member, member.op.reported if member.op else 0.0)
    member.stage = Stage.GONE
    state.charges.put(member)
    app = member.app
    del app.members[member.number]
    state.losses.put(app)
    if not app.members:
        app.empty_since = state.now
        state.history.over(app)
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
        cut_off(state, member)
    if not app.members:
        _forget(state, app)


def _started(state: ControllerState, record: records.Hooked) -> BatchJob:
    """What is known of a job now. Said again, by every node and by a bridge, a start takes nothing back."""
    ends = inf if record.seconds_left is None else state.now + record.seconds_left
    job = BatchJob(record.uid, record.nodes, ends, record.account, record.restart, record.node_names)
    before = state.jobs.get(record.job)
    if before is not None and (before.uid, before.restart) == (job.uid, job.restart):
        job.nodes, job.names = max(job.nodes, before.nodes), job.names or before.names
        job.account, job.ends = job.account or before.account, before.ends if ends == inf else ends
        job.over, job.ending = before.over, before.ending
    return job


def _hooked(state: ControllerState, record: records.Hooked) -> None:
    if record.kind == "job_start":
        state.jobs[record.job] = _started(state, record)
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


CHANGES: Changes = {
    records.Registered: _registered,
    records.Gone: _gone,
    records.Hooked: _hooked,
    records.Evicted: _evicted,
    records.Forgotten: _forgotten,
}
