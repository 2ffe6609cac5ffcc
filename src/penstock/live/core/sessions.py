"""Who is at the other end of each connection to the controller, and for whom it may speak."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.live.core import checks
from penstock.live.core.checks import Refused
from penstock.live.core.events import Identity
from penstock.live.core.members import App, Member
from penstock.live.core.state import ControllerState

ROOT = 0


@dataclass(slots=True, eq=False)
class Session:
    """A connection, and the one member that it speaks for once it has said so."""

    number: int
    identity: Identity
    member: Member | None = None

    def bound(self) -> Member:
        """Its member."""
        if self.member is None:
            raise Refused("unknown_app", "this connection speaks for nobody yet; register first")
        return self.member

    def need(self, *roles: str) -> None:
        """Refuse what only others may say."""
        if self.identity.role not in roles:
            raise Refused("forbidden", f"this connection is one of a {self.identity.role}, which may not say that")


def owner(state: ControllerState, identity: Identity, job: str, said: int = -1) -> tuple[str, int]:
    """The job and its user, if this identity may speak for it; `said` is the user by the word of a node's agent.

    The batch system's word on a job counts for more than that of a node: a wrong agent can take nobody's name.
    """
    checks.name(job, "job")
    if identity.job is not None and identity.job != job:
        raise Refused("forbidden", f"you were let in for job {identity.job!r}, not for {job!r}")
    if said >= 0 and not identity.for_node and said != identity.uid:
        raise Refused("forbidden", "only the agent of a node says whose a job is")
    known = state.jobs.get(job)
    theirs = said if said >= 0 else identity.uid
    uid = theirs if known is None or known.uid < 0 else known.uid
    if theirs != uid and (said >= 0 or theirs != ROOT):
        raise Refused("forbidden", f"job {job!r} is another user's")
    return job, uid


def may_speak_for(state: ControllerState, identity: Identity, app: App) -> None:
    """Refuse a connection that names an application of somebody else."""
    if identity.for_node:
        return
    if owner(state, identity, app.job) != (app.job, app.uid) and identity.uid != ROOT:
        raise Refused("forbidden", f"application {app.number} is another user's")
