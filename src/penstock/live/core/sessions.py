"""Who is at the other end of each connection, and for whom it may speak."""

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


def owner(state: ControllerState, identity: Identity, job: str) -> tuple[str, int]:
    """The job and its user, if this identity may speak for it."""
    checks.name(job, "job")
    if identity.job is not None and identity.job != job:
        raise Refused("forbidden", f"you were let in for job {identity.job!r}, not for {job!r}")
    known = state.jobs.get(job)
    uid = identity.uid if known is None or known.uid < 0 else known.uid
    if identity.uid not in (uid, ROOT):
        raise Refused("forbidden", f"job {job!r} is another user's")
    return job, uid


def may_speak_for(state: ControllerState, identity: Identity, app: App) -> None:
    """Refuse a connection that names an application of somebody else."""
    if owner(state, identity, app.job) != (app.job, app.uid) and identity.uid != ROOT:
        raise Refused("forbidden", f"application {app.number} is another user's")
