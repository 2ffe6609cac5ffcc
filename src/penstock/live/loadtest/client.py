"""A client made for a load test of the controller: the protocol by hand, so small that thousands fit in one process.

It keeps the rules of a real one: every rate is acknowledged, every beat is numbered, and after a lost connection it
comes back with what it has in force. It moves no bytes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from penstock.live.loadtest.transports import ClientConnection
from penstock.wire import messages as wire
from penstock.wire.messages import (
    Ack,
    Auth,
    BadFrame,
    Beat,
    Challenge,
    Complete,
    Error,
    Frames,
    Goodbye,
    Hello,
    Message,
    OpenOp,
    Post,
    Rate,
    Register,
    Registered,
    Resync,
    Welcome,
)
from penstock.wire.tokens import Token, proof

if TYPE_CHECKING:
    from penstock.live.loadtest.clients import Crowd

VOLUME = 1e15  # bytes of an operation: it ends when we say so, not because it is done
NONCE = bytes(16)


class Client:
    """One member of a job, most often its only one, with one connection."""

    __slots__ = (
        "_crowd",
        "_frames",
        "_link",
        "_said_hello",
        "_token",
        "_welcome",
        "app",
        "due",
        "epoch",
        "hb",
        "job",
        "number",
        "op",
        "posted",
        "rate",
        "rev",
    )

    def __init__(self, crowd: Crowd, job: str, token: Token | None = None, number: int = 1) -> None:
        self._crowd, self.job, self._token, self.number = crowd, job, token, number
        self._link: ClientConnection | None = None
        self._said_hello = self._welcome = False  # before that nothing but the handshake may be said
        self.app = self.op = self.epoch = self.rev = self.hb = 0
        self.posted: float | None = None  # when, while the answer to a Post is awaited
        self.rate = -1.0  # of the operation that is open; below 0: not answered, or none is open
        self.due = 0.0  # when the next beat is

    @property
    def busy(self) -> bool:
        """Whether an operation is open."""
        return self.posted is not None or self.rate >= 0.0

    def dial(self) -> None:
        """Connect, and say hello; OSError if nobody listens."""
        self.hang_up()
        self._link, self._frames = ClientConnection(self._crowd.way), Frames(wire.MOST_FROM_CONTROLLER)
        self._said_hello = self._welcome = False
        self._crowd.loop.add_reader(self._link.fileno(), self._ready)
        self._greet()

    def hang_up(self) -> None:
        """Close the connection without a word."""
        if self._link is not None:
            self._crowd.loop.remove_reader(self._link.fileno())
            self._link.close()
            self._link = None

    def post(self, cap: float | None = None) -> None:
        """Announce an operation."""
        self.op, self.hb = self.op + 1, self.hb + 1
        self.rate, self.posted = -1.0, time.perf_counter()
        self._send(Post(2, self.op, self.hb, VOLUME, cap=cap))
        self._crowd.spoke(self)

    def complete(self) -> None:
        """End the operation; one that was never granted a rate has waited until now."""
        self._granted()
        self.rate = -1.0
        self._send(Complete(self.op, VOLUME))

    def beat(self) -> None:
        """Give a sign of life."""
        if self._link is not None and self._welcome:
            self.hb += 1
            self._send(Beat(self.hb, self.epoch, self.rev))
            self._crowd.spoke(self)

    def leave(self) -> None:
        """Say goodbye."""
        if self._link is not None and self._welcome:
            self._send(Goodbye("the load test is over"))

    def _ready(self) -> None:
        assert self._link is not None
        try:
            if not self._said_hello and not self._greet():
                return
            data = self._link.receive()
        except OSError:
            data = b""
        if data is None:
            return
        if not data:
            self.hang_up()
            self._crowd.lost(self)
            return
        try:
            for body in self._frames.feed(data):
                self._heard(wire.read_controller(body))
        except BadFrame:
            self._crowd.fail("what listens there is no controller")

    def _greet(self) -> bool:
        """Say hello, once something can be said; whether it was."""
        assert self._link is not None
        if self._link.agreed():
            self._said_hello = True
            kind, claims = ("peer", b"") if self._token is None else ("hmac", self._token.claims)
            self._send(Hello(1, wire.VERSION, "client", "penstock-loadtest", NONCE, 0, kind, claims))
        return self._said_hello

    def _heard(self, message: Message) -> None:
        if isinstance(message, Rate):
            self._told(message)
        elif isinstance(message, Challenge):
            self._send(Auth(b"" if self._token is None else proof(self._token.secret, b"client", NONCE, message.nonce)))
        elif isinstance(message, Welcome):
            self._crowd.lease, self._crowd.every = message.lease, message.beat
            self._introduce()
        elif isinstance(message, Registered):
            self.app = message.app
            if not self.busy:
                self._crowd.came_in(self)
        elif isinstance(message, Error):
            self._crowd.fail(f"the controller refused a client: {message.text}")

    def _introduce(self) -> None:
        self._welcome = True
        if not self.app:
            self._send(Register(1, self.job, self.number))
            return
        self.hb += 1
        op = OpenOp(self.op, VOLUME, 0.0, "write", (), 0.0) if self.busy else None
        rate = max(0.0, self.rate)
        self._send(Resync(1, self.app, self.number, self.epoch, self.rev, rate, 0.0, self.hb, op, self.job))
        self._crowd.spoke(self)

    def _told(self, told: Rate) -> None:
        """Take a rate, as a pacer would."""
        if told.op != self.op or not self.busy or (told.epoch, told.rev) <= (self.epoch, self.rev):
            return
        back = told.epoch > self.epoch > 0
        self.epoch, self.rev, self.rate = told.epoch, told.rev, told.rate
        self._send(Ack(told.epoch, told.rev))
        if told.rate > 0.0:
            self._granted()
        if back:
            self._crowd.came_in(self)

    def _granted(self) -> None:
        if self.posted is not None:
            self._crowd.answered(time.perf_counter() - self.posted)
            self.posted = None

    def _send(self, message: Message) -> None:
        if self._link is None:
            return
        if self._link.send(wire.frame(message)):
            self._crowd.frames += 1
        else:
            self._crowd.fail("the controller does not read what clients send")
