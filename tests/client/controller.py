"""A controller of few words for tests of the client's side: one thread, blocking sockets, told how to misbehave."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from penstock.wire import messages as wire
from penstock.wire.messages import (
    Beat,
    Challenge,
    Error,
    Frames,
    Hello,
    Message,
    Post,
    Rate,
    Registered,
    Resync,
    Welcome,
)

PATIENCE = 30.0  # seconds: a busy machine may take long for anything


def until(true: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait for what another thread or process is about to do."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


class Controller:
    """Listens on a UNIX socket. `rate` is what every Post, Resync and Beat is answered with; None: silence."""

    def __init__(self, path: Path, rate: float | None = 1e9) -> None:
        self.path, self.rate = path, rate
        self.lease, self.beat, self.epoch = 2 * PATIENCE, 2.0, 1
        self.flags = 0
        self.fallback = 123e6
        self.paths: dict[str, str] = {}
        self.heard: list[Message] = []
        self.pids: list[int] = []
        self.connections: list[socket.socket] = []
        self.greeting: Callable[[socket.socket], bool] | None = None  # True: the connection is dealt with
        self._rev = 0
        self._new = threading.Condition()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Controller:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """As if it were killed."""
        for each in (self._listener, *self.connections):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self.path.unlink(missing_ok=True)

    def wait_for(self, kind: type[Message], count: int = 1, seconds: float = PATIENCE) -> Message:
        """The message of this kind with this number, counted from 1."""
        until = time.monotonic() + seconds
        with self._new:
            while len(found := [word for word in self.heard if isinstance(word, kind)]) < count:
                left = until - time.monotonic()
                assert left > 0, f"no {kind.__name__} number {count} among {self.heard}"
                self._new.wait(left)
        return found[count - 1]

    def count(self, kind: type[Message]) -> int:
        return sum(isinstance(word, kind) for word in self.heard)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        self.pids.append(int.from_bytes(credentials[:4], "little"))
        frames = Frames(wire.MOST_FROM_CLIENT)
        try:
            if self.greeting is not None and self.greeting(connection):
                return
            while data := connection.recv(65_536):
                for body in frames.feed(data):
                    self._answer(connection, wire.read_client(body))
        except OSError:
            return

    def _answer(self, connection: socket.socket, word: Message) -> None:
        with self._new:
            self.heard.append(word)
            self._new.notify_all()
        if isinstance(word, Hello):
            say(connection, Challenge(1, self.epoch, "test", os.urandom(16)))
        elif isinstance(word, wire.Auth):
            say(connection, Welcome(1, self.epoch, self.lease, self.beat, 0.002))
        elif isinstance(word, wire.Register):
            say(connection, Registered(word.req, 1, word.member, {"": self.fallback}, 1.0, (), self.paths))
        elif isinstance(word, Post) or (isinstance(word, Resync) and word.op is not None):
            self._op = word.op.op if isinstance(word, Resync) else word.op
            self.grant(connection, word.hb)
        elif isinstance(word, Beat):
            self.grant(connection, word.hb)

    def grant(self, connection: socket.socket, anchor: int) -> None:
        """Send the rate that is set now."""
        if self.rate is not None:
            self._rev += 1
            say(connection, Rate(self.epoch, self._rev, self._op, self.rate, anchor, self.flags))


def say(connection: socket.socket, message: Message) -> None:
    connection.sendall(wire.frame(message))


def refuse(connection: socket.socket) -> bool:
    say(connection, Error(0, "auth", "not you", fatal=True))
    return True


def babble(connection: socket.socket) -> bool:
    connection.sendall(os.urandom(4096))
    return True


def be_silent(connection: socket.socket) -> bool:
    return True
