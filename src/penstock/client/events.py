"""What a client's member is told and what it answers: the events and outputs of `Member.step`, in plain data."""

from __future__ import annotations

import msgspec

from penstock.wire.messages import Message, Welcome


class LinkUp(msgspec.Struct, frozen=True):
    """The controller has let us in."""

    welcome: Welcome


class LinkDown(msgspec.Struct, frozen=True):
    """The link was lost, or dialling failed; a warning if somebody has to mend that."""

    reason: str = ""
    warning: bool = False


class Received(msgspec.Struct, frozen=True):
    """The controller said something after its Welcome, or an Error before it."""

    message: Message


class Begin(msgspec.Struct, frozen=True):
    """An I/O phase begins."""

    volume: float
    direction: str = "write"
    targets: tuple[str, ...] = ()
    confidence: float = 1.0  # below 1: nobody announced it
    program: str = ""  # a digest of what moves the bytes then


class ExtendPhase(msgspec.Struct, frozen=True):
    """The phase will move more than announced."""

    more: float


class Progress(msgspec.Struct, frozen=True):
    """Bytes of the phase moved so far."""

    done: float


class SeenOn(msgspec.Struct, frozen=True):
    """The targets that bytes of the phase were seen on so far."""

    targets: tuple[str, ...]


class Outside(msgspec.Struct, frozen=True):
    """Bytes of the job, so far, that went past its pacer, and how."""

    total: float
    how: str = ""


class End(msgspec.Struct, frozen=True):
    """The phase is over, and the pacer is closed."""

    done: float


class Switch(msgspec.Struct, frozen=True):
    """Somebody turned pacing off, or on again, for all jobs of this host."""

    on: bool


class Leave(msgspec.Struct, frozen=True):
    """The process ends."""

    reason: str = "exit"


class Timer(msgspec.Struct, frozen=True):
    """The time of the last WakeAt has come."""


Event = LinkUp | LinkDown | Received | Begin | ExtendPhase | Progress | SeenOn | Outside | End | Switch | Leave | Timer


class Dial(msgspec.Struct, frozen=True):
    """Drop the link, if there is one (no LinkDown follows), and dial after so many seconds, at one of the addresses."""

    after: float
    place: int = 0  # in the list of addresses


class HangUp(msgspec.Struct, frozen=True):
    """Drop the link and do not dial."""


class SendTo(msgspec.Struct, frozen=True):
    """To be sent to the controller."""

    message: Message


class SetRate(msgspec.Struct, frozen=True):
    """Pace at `rate` until `expiry`, then at `fallback`; None: unpaced."""

    rate: float | None
    expiry: float
    fallback: float | None


class LogLine(msgspec.Struct, frozen=True):
    """One line for a person; a warning if it needs to be mended."""

    text: str
    warning: bool = False


class WakeAt(msgspec.Struct, frozen=True):
    """Step with a Timer at this time, if nothing else happens before; replaces the one before."""

    time: float


Output = Dial | HangUp | SendTo | SetRate | LogLine | WakeAt
