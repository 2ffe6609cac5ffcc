"""What the batch system tells the controller: a job begins on some nodes, is about to end, has ended on a node.

Only the end of a node frees something: what the members on that node were using. That a job is ending frees nothing,
for its processes may write until they are killed. A job that was requeued keeps its name; `restart` tells its lives
apart, and what is said about an earlier life, or about a job or node that nobody announced, is counted and changes
nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.live.core import checks, records
from penstock.live.core.checks import Refused
from penstock.live.core.members import App, BatchJob
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.core import Core
    from penstock.live.core.sessions import Session

KINDS = ("job_start", "job_ending", "job_end", "node_down")
_MOST_RESTARTS = 2**31
_MOST_NODES = 100_000


def take(core: Core, session: Session, message: wire.Hook) -> None:
    """Do what a hook asks for, and answer; `ignored` says why nothing came of it, if nothing did."""
    session.need("hook", "admin", "node")
    _check(message)
    _check_node(session, message)
    ignored = _reason_to_ignore(core.state.jobs.get(message.job), message)
    if ignored:
        core.hooks_ignored += 1
    elif message.kind == "job_start":
        _start(core, message)
    elif message.kind == "job_end" and message.node:
        _node_ended(core, message)
    elif message.kind in ("job_ending", "job_end"):
        _note(core, message, "job_ending")
    core.send(session.number, wire.Answer(message.req, {"ok": True, **({"ignored": ignored} if ignored else {})}))


def _check(message: wire.Hook) -> None:
    checks.name(message.job, "job")
    if message.kind not in KINDS:
        raise Refused("value", f"kind is {message.kind[:80]!r}; accepted are {', '.join(KINDS)}")
    checks.number(message.nodes, "nodes", least=1)
    checks.number(message.restart, "restart", most=_MOST_RESTARTS)
    checks.number(len(message.node_names), "the number of node names", most=_MOST_NODES)
    for node in (*message.node_names, *([message.node] if message.node else [])):
        checks.name(node, "node")
    if message.account:
        checks.name(message.account, "account")
    if message.seconds_left is not None:
        checks.amount(message.seconds_left, "seconds_left")


def _check_node(session: Session, message: wire.Hook) -> None:
    """The agent of a node only says that a job has ended there."""
    who = session.identity
    if who.role == "node" and (message.kind != "job_end" or not message.node):
        raise Refused("value", "the agent of a node says job_end for its node, and nothing else")
    if who.node and message.node != who.node:
        raise Refused("value", f"you were let in for node {who.node!r}, not for {message.node!r}")


def _reason_to_ignore(job: BatchJob | None, message: wire.Hook) -> str:
    reason = ""
    if message.kind == "node_down":
        reason = "a node that is down proves nothing: its members count until their leases are over"
    elif job is not None and message.restart < job.restart:
        reason = f"it is about life {message.restart} of job {message.job!r}, which is in life {job.restart}"
    elif message.kind != "job_start" and (job is None or message.restart > job.restart):
        reason = f"life {message.restart} of job {message.job!r} was never said to begin"
    elif job is not None and message.kind == "job_end" and message.node and not job.may_have(message.node):
        reason = f"job {message.job!r} has no node {message.node!r}"
    return reason


def _start(core: Core, message: wire.Hook) -> None:
    state = core.state
    app = state.by_job.get((message.job, message.uid))
    number = 0 if app else state.next_app
    core.record(_record(message, "job_start", message.node, number))
    if app is None:
        core.watch(state.apps[number])


def _note(core: Core, message: wire.Hook, kind: str, node: str = "", app: int = 0) -> None:
    core.record(_record(message, kind, node, app))


def _node_ended(core: Core, message: wire.Hook) -> None:
    """What ran on that node is over; with the last node, the whole job is."""
    state = core.state
    job = state.jobs[message.job]
    app = state.by_job.get((message.job, job.uid))
    names = state.on_names.get((message.job, job.uid))
    if job.names:
        for each in (app, names):
            _free(core, each, message.node)
    if len(job.over | {message.node}) < (len(job.names) or job.nodes):
        _note(core, message, "job_end", message.node)
        return
    for each in (app, names):
        _free(core, each, "")
    known = app is not None and app.number in state.apps
    _note(core, message, "job_end", "", app.number if app is not None and known else 0)


def _free(core: Core, app: App | None, node: str) -> None:
    """The members of a node, or all: whoever says that it is on that node is."""
    for member in list(app.members.values()) if app is not None else ():
        if not node or member.labels.get("node") == node:
            core.dead(member, "its job has ended")


def _record(message: wire.Hook, kind: str, node: str, app: int) -> records.Hooked:
    return records.Hooked(
        kind,
        message.job,
        node,
        message.uid,
        max(message.nodes, len(set(message.node_names))),
        message.seconds_left,
        app,
        message.account,
        message.restart,
        tuple(sorted(set(message.node_names))),
    )
