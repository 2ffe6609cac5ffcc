"""What goes into the controller's core and what comes out of it. The core knows no clock, no socket and no file."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

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
    for_node: bool = False  # speaks for all jobs of a node, whosesoever they are
    node: str = ""  # the only one that it may speak for, if the proof says so
    connection: int = -1  # of a lane: the session of its node's connection, which tells agents of a node apart


class Event(msgspec.Struct, frozen=True):
    """What goes in or comes out. A turn makes thousands of them, and these cost a tenth of what a dataclass does."""


class Connected(Event, frozen=True):
    """Somebody was let in."""

    session: int
    identity: Identity
    epoch_seen: int = 0


class Frame(Event, frozen=True):
    """Somebody says something; admins and hooks, too."""

    session: int
    message: FromClient


class Closed(Event, frozen=True):
    """A connection has ended, however it did."""

    session: int


class ProcessDead(Event, frozen=True):
    """The process behind a member has ended, for certain."""

    app: int
    member: int


class Tick(Event, frozen=True):
    """Time has passed."""


Input = Connected | Frame | Closed | ProcessDead | Tick


class WriteRecords(Event, frozen=True):
    """To be written before anything that follows it is sent."""

    record: Message


class Send(Event, frozen=True):
    """To be sent. A Rate replaces one to the same session that has not left yet."""

    session: int
    message: Message


class Close(Event, frozen=True):
    """To be closed, after what was sent to it before."""

    session: int
    code: str


class WakeAt(Event, frozen=True):
    """Step again at this time, if nothing else happens before."""

    time: float


Output = WriteRecords | Send | Close | WakeAt
