"""What goes into the core and what comes out of it. The core knows no clock, no socket and no file."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.wire.messages import FromClient, Message


@dataclass(frozen=True, slots=True)
class Identity:
    """Who is at the other end of a connection, as far as that was proved."""

    kind: str  # peer, munge, hmac
    uid: int
    role: str = "client"
    job: str | None = None  # the only one it may speak for; None: any job of this uid
    pid: int | None = None  # on this host
    nodes: int | None = None  # the most that the job has, if the proof says so
    account: str = ""  # that pays for the job, if the proof says so
    trusted: bool = False  # of the house: its word on other controllers is enough to end this one


@dataclass(frozen=True, slots=True)
class Connected:
    """Somebody was let in."""

    session: int
    identity: Identity
    epoch_seen: int = 0


@dataclass(frozen=True, slots=True)
class Frame:
    """Somebody says something; admins and hooks, too."""

    session: int
    message: FromClient


@dataclass(frozen=True, slots=True)
class Closed:
    """A connection has ended, however it did."""

    session: int


@dataclass(frozen=True, slots=True)
class ProcessDead:
    """The process behind a member has ended, for certain."""

    app: int
    member: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


Input = Connected | Frame | Closed | ProcessDead | Tick


@dataclass(frozen=True, slots=True)
class WriteRecords:
    """To be written before anything that follows it is sent."""

    record: Message


@dataclass(frozen=True, slots=True)
class Send:
    """To be sent. A Rate replaces one to the same session that has not left yet."""

    session: int
    message: Message


@dataclass(frozen=True, slots=True)
class Close:
    """To be closed, after what was sent to it before."""

    session: int
    code: str


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Step again at this time, if nothing else happens before."""

    time: float


Output = WriteRecords | Send | Close | WakeAt
