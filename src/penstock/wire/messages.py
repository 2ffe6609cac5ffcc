"""What controller and clients say to each other: msgpack arrays behind a length, `u32 big-endian | [tag, field, …]`.

Fields are only ever appended, with defaults; readers pass over surplus ones. All times are durations in seconds, since
nobody's clock means anything to another; rates are bytes/s and volumes bytes. The rules: `docs/reference/protocol.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

VERSION = 1
MOST_FROM_CLIENT = 65_536
MOST_FROM_CONTROLLER = 1 << 20
MOST_NUMBER = 1e18  # of bytes, or bytes/s: an exabyte is a slip
PING = 60.0  # seconds between two beats of a member that has nothing to move

# Flags of a Rate.
PACED, FREE, DRAINING, MONITOR = 0, 1, 2, 4

# What a member is paced by; what one of operations says that it does.
BYTES, OPERATIONS = KINDS = ("bytes", "operations")
METADATA = "metadata"

ROLES = ("client", "admin", "hook", "standby", "node")
AUTH_KINDS = ("peer", "munge", "hmac")

CODES = (
    "frame",
    "decode",
    "version",
    "auth",
    "forbidden",
    "value",
    "unknown_op",
    "unknown_app",
    "busy",
    "quota",
    "draining",
    "superseded",
    "fenced",
    "internal",
)
NOT_FATAL = frozenset({"value", "unknown_op", "busy", "draining"})


class Message(msgspec.Struct, array_like=True, frozen=True):
    """Anything that goes over the wire."""


class Hello(Message, tag=1, frozen=True):
    """The first word of whoever connects. Never changes its shape."""

    v_min: int
    v_max: int
    role: str
    agent: str
    nonce: bytes
    epoch_seen: int
    auth: str
    claims: bytes = b""


class Auth(Message, tag=2, frozen=True):
    """The proof of the claims, over both nonces."""

    proof: bytes


class Register(Message, tag=3, frozen=True):
    """A member that moves bytes for a job; `release` and `progress` are seconds so far.

    `uid` is whose job it is, by the word of one that speaks for a node; -1: that of the one who was let in. `kind` is
    what it is paced by: bytes, or operations on names, which are then its volumes and rates.
    """

    req: int
    job: str
    member: int
    nodes: int = 1
    cap: float | None = None
    release: float = 0.0
    progress: float = 0.0
    labels: dict[str, str] = {}
    uid: int = -1
    kind: str = BYTES


class OpenOp(msgspec.Struct, array_like=True, frozen=True):
    """An operation under way, as its member knows it."""

    op: int
    volume: float
    done: float
    direction: str
    targets: tuple[str, ...]
    posted: float  # seconds ago
    confidence: float = 1.0


class Resync(Message, tag=4, frozen=True):
    """A member that comes back, with what it has in force. Counts as a Beat."""

    req: int
    app: int
    member: int
    epoch: int
    rev: int
    rate: float
    lease_left: float
    hb: int
    op: OpenOp | None = None
    job: str = ""
    nodes: int = 1
    cap: float | None = None
    uid: int = -1
    kind: str = BYTES


class Post(Message, tag=5, frozen=True):
    """An I/O phase begins: so many bytes are to be moved. Counts as a Beat.

    `cap` is the most that this phase can use, if not what was registered. `work` is how long the job computed before
    it, by its own clock; it is taken where it agrees with the controller's clock, for it has more digits. `program` is
    a digest of what moves the bytes, for phases that nobody announced.
    """

    req: int
    op: int
    hb: int
    volume: float
    direction: str = "write"
    targets: tuple[str, ...] = ()
    confidence: float = 1.0
    cap: float | None = None
    work: float | None = None
    program: str = ""


class Extend(Message, tag=6, frozen=True):
    """The announcement was too small."""

    op: int
    more: float


class Ack(Message, tag=7, frozen=True):
    """The pacer has applied this rate."""

    epoch: int
    rev: int


class Beat(Message, tag=8, frozen=True):
    """A sign of life, with how far the open operation is; implies the Ack of `rev`.

    `op` is the operation that is open, known to the controller or not; 0: none is; None: not said. `seen` are the
    targets that its bytes were seen on, if it named none. `outside`: bytes of the job, so far, that went past its
    pacer, and `how`.
    """

    hb: int
    epoch: int
    rev: int
    done: float = 0.0
    op: int | None = None
    seen: tuple[str, ...] = ()
    outside: float = 0.0
    how: str = ""


class Complete(Message, tag=9, frozen=True):
    """The operation ended, and the pacer is closed for it."""

    op: int
    done: float
    reason: str = ""


class Cancel(Message, tag=10, frozen=True):
    """The operation was given up, and the pacer is closed for it."""

    op: int
    done: float
    reason: str = ""


class Goodbye(Message, tag=11, frozen=True):
    """The member moves no more bytes."""

    reason: str = ""


class Admin(Message, tag=12, frozen=True):
    """A command of an operator."""

    req: int
    verb: str
    args: dict[str, Any] = {}


class Hook(Message, tag=13, frozen=True):
    """What the batch system knows: job_start, job_ending, job_end (of one node), node_down.

    `restart` counts the lives of a job that was requeued; `node_names` are those of a start.
    """

    req: int
    kind: str
    job: str
    node: str = ""
    uid: int = -1
    nodes: int = 1
    seconds_left: float | None = None
    account: str = ""
    restart: int = 0
    node_names: tuple[str, ...] = ()


class Via(Message, tag=14, frozen=True):
    """What one of the members behind a connection of role node says; without a body its lane is over."""

    lane: int
    body: bytes = b""  # a message of a member, without its length


class Challenge(Message, tag=64, frozen=True):
    """The controller's first word. Never changes its shape."""

    version: int
    epoch: int
    server: str
    nonce: bytes


class Welcome(Message, tag=65, frozen=True):
    """Who you are is known; the times to keep. `proof` shows that the controller knows the secret, too."""

    session: int
    epoch: int
    lease: float
    beat: float
    pace: float
    proof: bytes = b""


class Registered(Message, tag=66, frozen=True):
    """The ids of a member, and the rate that it may use whenever nobody tells it another."""

    req: int
    app: int
    member: int
    fallback: dict[str, float]  # by target; "" for an operation that names none; on several targets the least counts
    floor: float
    targets: tuple[str, ...] = ()
    paths: dict[str, str] = {}  # where targets are mounted, as far as the site says so
    operations: float = 0.0  # on names, a second, that its node may do without a grant; 0: these are not shared here


class Rate(Message, tag=67, frozen=True):
    """What a member may use from now on, until `lease` after it sent the beat `anchor`."""

    epoch: int
    rev: int
    op: int
    rate: float
    anchor: int
    flags: int = PACED


class Answer(Message, tag=68, frozen=True):
    """The whole reply to a question."""

    req: int
    body: Any


class Page(Message, tag=69, frozen=True):
    """A part of a reply that is too long for one frame."""

    req: int
    number: int
    last: bool
    body: bytes


class Error(Message, tag=70, frozen=True):
    """What was refused, and why."""

    req: int
    code: str
    text: str
    fatal: bool = False
    retry_after: float = 0.0


class Notice(Message, tag=71, frozen=True):
    """Something to know, as a restart that is due."""

    code: str
    text: str
    seconds: float = 0.0


class InLane(Message, tag=72, frozen=True):
    """What the controller says to the member in a lane; a Goodbye ends the lane."""

    lane: int
    body: bytes


FromMember = Register | Resync | Post | Extend | Ack | Beat | Complete | Cancel | Goodbye
FromClient = Hello | Auth | FromMember | Admin | Hook | Via
FromController = Challenge | Welcome | Registered | Rate | Answer | Page | Error | Notice | InLane

_encoder = msgspec.msgpack.Encoder()
_from_client = msgspec.msgpack.Decoder(FromClient)
_from_controller = msgspec.msgpack.Decoder(FromController)


class BadFrame(Exception):
    """Bytes that are no frame, or a frame that is no message; `code` is what the peer is told."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


def body_of(message: Message) -> bytes:
    """A message as it goes in a lane."""
    return _encoder.encode(message)


def frame(message: Message) -> bytes:
    """A message as it goes over the wire."""
    body = _encoder.encode(message)
    return len(body).to_bytes(4, "big") + body


def read_client(body: bytes | memoryview) -> FromClient:
    """A message from a client."""
    return _read(_from_client, body)  # type: ignore[no-any-return]


def read_controller(body: bytes | memoryview) -> FromController:
    """A message from the controller."""
    return _read(_from_controller, body)  # type: ignore[no-any-return]


def _read(decoder: Any, body: bytes | memoryview) -> Any:
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFrame("decode", " ".join(str(error).split())) from None


class Frames:
    """Puts together the frames that arrive in pieces; a length that is not accepted is refused before its body."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = bytearray()

    @property
    def held(self) -> int:
        """Bytes that wait for the rest of their frame."""
        return len(self._held)

    def feed(self, data: bytes | memoryview) -> Iterator[bytes]:
        """The bodies of all frames that are complete now; whoever stops early finds the rest at the next feed."""
        self._held += data
        return self._bodies()

    def _bodies(self) -> Iterator[bytes]:
        start = 0
        try:
            while len(self._held) - start >= 4:
                size = int.from_bytes(self._held[start : start + 4], "big")
                if not 0 < size <= self._most:
                    raise BadFrame("frame", f"a frame of {size:,} bytes; accepted are 1 to {self._most:,}")
                if len(self._held) - start - 4 < size:
                    break
                body = bytes(self._held[start + 4 : start + 4 + size])
                start += 4 + size
                yield body
        finally:
            del self._held[:start]
