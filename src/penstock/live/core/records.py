"""What the core remembers: every change of its state is one of these, made first, then applied, and journalled.

Applied again in the same order, without asking any policy, they give the same state. Times are those of the entries;
what only matters while a connection lasts (sessions, beats, renewals at an unchanged rate) is not recorded.
"""

from __future__ import annotations

from typing import Any

import msgspec

from penstock.wire.messages import BYTES, Message


class StateChange(Message, frozen=True):
    """A change of the state."""


class Started(StateChange, tag=1, frozen=True):
    """A controller takes over, at `clock`; `capacity` by resource, as it was configured.

    Not warm: some records may be missing, so leases may live that nobody here knows of.
    """

    epoch: int
    clock: float
    warm: bool
    capacity: dict[str, float]
    sharing: str


class Registered(StateChange, tag=2, frozen=True):
    """A member of a job is there, in a new application or a known one. `release` is in seconds ago."""

    app: int
    job: str
    uid: int
    member: int
    nodes: float
    cap: float | None
    release: float
    progress: float
    labels: dict[str, str]
    fallback: dict[str, float]
    account: str = ""
    kind: str = BYTES


class Posted(StateChange, tag=3, frozen=True):
    """A member has an operation to do. `work`: what the job computed before it; `held`: what it may be using now."""

    app: int
    member: int
    op: int
    volume: float
    direction: str
    targets: tuple[str, ...]
    confidence: float
    cap: float | None
    work: float
    held: float
    rev: int
    said: float | None = None  # the volume in the member's own words, where earlier runs of the job know better
    program: str = ""
    period: float | None = None  # of an iteration, by earlier runs


class Extended(StateChange, tag=4, frozen=True):
    """An operation is longer than it was announced; `said`: in the member's own words, which may not change it."""

    app: int
    member: int
    more: float
    said: float | None = None


class Acked(StateChange, tag=5, frozen=True):
    """A member uses this rate and none before it. It carries the rate, since not every revision is recorded.

    `free`: this one, or one after it, lets it go unpaced, which no lease ends.
    """

    app: int
    member: int
    epoch: int
    rev: int
    rate: float
    free: bool = False


class Progressed(StateChange, tag=6, frozen=True):
    """How far an operation is, in the member's own words."""

    app: int
    member: int
    done: float


class Ended(StateChange, tag=7, frozen=True):
    """An operation is over, and the member uses nothing; `reason` is empty for a completion."""

    app: int
    member: int
    op: int
    done: float
    reason: str


class Orphaned(StateChange, tag=8, frozen=True):
    """The link to a member with an operation is gone; its lease may live."""

    app: int
    member: int


class Expired(StateChange, tag=9, frozen=True):
    """The lease of a member is over for certain, or it has been away that long: from now on it uses its fallback."""

    app: int
    member: int


class Gone(StateChange, tag=10, frozen=True):
    """A member uses nothing any more and is forgotten."""

    app: int
    member: int
    reason: str


class Resynced(StateChange, tag=11, frozen=True):
    """A member is back with an operation; `held` is the most that it may be using until it acks a new rate."""

    app: int
    member: int
    op: int
    volume: float
    done: float
    direction: str
    targets: tuple[str, ...]
    cap: float | None
    posted: float  # seconds ago
    rate: float
    held: float
    rev: int
    confidence: float = 1.0


class Hooked(StateChange, tag=12, frozen=True):
    """What the batch system says. `app` is the one that a start makes, or an end is the end of; 0 if there is none."""

    kind: str
    job: str
    node: str
    uid: int
    nodes: int
    seconds_left: float | None
    app: int
    account: str = ""
    restart: int = 0
    node_names: tuple[str, ...] = ()


class Commanded(StateChange, tag=13, frozen=True):
    """An operator's word that changes something."""

    uid: int
    verb: str
    args: dict[str, Any]


class RatesDecided(StateChange, tag=14, frozen=True):
    """The rates that a policy wants from now on, by (application, direction, targets): those that changed by enough.

    `digest` is of all that it was shown. `floored` are those that waited too long and get the floor. `memory` has the
    changed numbers that the policy remembers, `width` for each application, by resource and place.
    """

    policy: str
    digest: int
    rates: list[tuple[int, str, tuple[str, ...], float]]
    floored: list[tuple[int, str, tuple[str, ...]]]
    width: int
    memory: list[tuple[str, int, float]]


class Granted(StateChange, tag=15, frozen=True):
    """A rate for a member, written down before it is told. `small`: it is what the policy wants, told late."""

    app: int
    member: int
    epoch: int
    rev: int
    rate: float
    flags: int
    small: bool = False


class PolicyFailed(StateChange, tag=16, frozen=True):
    """A policy raised, or gave what no file system could serve; fair-share took the decision that follows."""

    policy: str
    text: str


class Fenced(StateChange, tag=17, frozen=True):
    """Somebody has met a controller of a higher epoch: this one is over."""

    epoch: int


class Evicted(StateChange, tag=18, frozen=True):
    """An application is to be forgotten as soon as its leases are over."""

    app: int


class Forgotten(StateChange, tag=19, frozen=True):
    """An application that has had no members for long is no more."""

    app: int


class Adrift(StateChange, tag=20, frozen=True):
    """A member with an operation says that it goes by its fallback, or has not acked a lower rate for a lease.

    So it does not hear us. It is charged with `held`, and policies do not see it until it acks a rate.
    """

    app: int
    member: int
    done: float
    held: float
    rev: int


class Measured(StateChange, tag=21, frozen=True):
    """What a member can use, by what it was seen to use of its grants over a few beats; None: all of them."""

    app: int
    member: int
    usable: float | None


class Located(StateChange, tag=23, frozen=True):
    """Bytes of an operation that named no target were seen on these: it is charged there from now on."""

    app: int
    member: int
    targets: tuple[str, ...]


class Overran(StateChange, tag=22, frozen=True):
    """A policy took longer than it may: fair-share decides from now on, until an operator chooses a policy."""

    policy: str
    seconds: float


AnyRecord = (
    Started
    | Registered
    | Posted
    | Extended
    | Acked
    | Progressed
    | Ended
    | Orphaned
    | Expired
    | Gone
    | Resynced
    | Hooked
    | Commanded
    | RatesDecided
    | Granted
    | PolicyFailed
    | Fenced
    | Evicted
    | Forgotten
    | Adrift
    | Measured
    | Overran
    | Located
)


class NumberedRecord(msgspec.Struct, array_like=True, frozen=True):
    """A record as it is journalled: its number, the controller's clock, and what changed."""

    seq: int
    t: float
    record: AnyRecord


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(NumberedRecord)


def encode(seq: int, t: float, record: Message) -> bytes:
    """A record as bytes."""
    return _encoder.encode((seq, t, record))


def decode(data: bytes | memoryview) -> NumberedRecord:
    """The record of some bytes; msgspec.DecodeError if they are none."""
    return _decoder.decode(data)
