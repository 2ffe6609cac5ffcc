"""A client's bytes to and from the controller over a socket that never blocks: UNIX, TCP, or TLS on top of TCP.

TLS works on buffers in memory, so that all bytes leave through one `send` that cannot raise SIGPIPE in the job.
"""

from __future__ import annotations

import errno
import os
import selectors
import socket
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.client.config import Address
from penstock.wire.messages import MOST_FROM_CONTROLLER, Frames, Message, frame

if TYPE_CHECKING:
    import ssl

MOST_UNSENT = 64 << 10
_AT_A_TIME = 64 << 10


class LinkLost(Exception):
    """The link is gone; why, for the log."""


class Transport:
    """One connection, from dialling to the end. Whatever fails raises Lost or OSError."""

    def __init__(self, address: Address, ca: str | None, attempt: int = 0, most_unsent: int = MOST_UNSENT) -> None:
        self._address = address
        self._most_unsent = most_unsent
        self._tls: ssl.SSLObject | None = None
        self._shaking = False
        self.connected = False  # and, with TLS, agreed
        self._pending = True
        self._unsent = bytearray()
        self._frames = Frames(MOST_FROM_CONTROLLER)
        if address.path:
            self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._place: str | tuple[object, ...] = address.path
        else:
            family, self._place = _look_up(address.host, address.port, attempt)
            self.socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            self.socket.setblocking(False)
            if not address.path:
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if address.tls:
                    self._prepare_tls(ca)
            self.try_again()
        except BaseException:
            self.socket.close()
            raise

    def try_again(self) -> None:
        """Connect. A UNIX socket whose queue is full says so at once, and has to be asked again."""
        code = self.socket.connect_ex(self._place)
        if code == 0:
            self._opened()
        elif code not in (errno.EINPROGRESS, errno.EAGAIN):
            raise OSError(code, os.strerror(code))

    @property
    def queued(self) -> bool:
        """Whether `try_again` is due from time to time."""
        return self._pending and bool(self._address.path)

    @property
    def wanted(self) -> int:
        """What to select for."""
        if self._pending:
            return 0 if self._address.path else selectors.EVENT_WRITE
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)

    def send(self, message: Message) -> None:
        """Say something; what the socket does not take now leaves later."""
        data = frame(message)
        if self._tls is None:
            self._unsent += data
        else:
            self._tls.write(data)
            self._unsent += self._out.read()
        if len(self._unsent) > self._most_unsent:
            raise LinkLost("the controller does not read")
        self._flush()

    def ready(self, mask: int) -> Iterator[bytes]:
        """The frames that have come, after a select."""
        if self._pending:
            if code := self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(code, os.strerror(code))
            self._opened()
            return
        self._flush()
        if mask & selectors.EVENT_READ:
            yield from self._read()

    def close(self) -> None:
        """Hang up without a word."""
        self.socket.close()

    def _opened(self) -> None:
        self._pending = False
        if self._tls is None:
            self.connected = True
        else:
            self._shaking = True
            self._shake()

    def _read(self) -> Iterator[bytes]:
        try:
            data = self.socket.recv(_AT_A_TIME)
        except (BlockingIOError, InterruptedError):
            return
        if not data:
            raise LinkLost("closed by the controller")
        if self._tls is not None:
            data = self._decrypted(data)
        yield from self._frames.feed(data)

    def _flush(self) -> None:
        if not self._unsent:
            return
        try:
            sent = self.socket.send(self._unsent, socket.MSG_NOSIGNAL)
        except (BlockingIOError, InterruptedError):
            return
        del self._unsent[:sent]

    def _prepare_tls(self, ca: str | None) -> None:
        import ssl  # noqa: PLC0415 - takes longer to import than all of this package

        context = ssl.create_default_context(cafile=ca)
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_hostname=self._address.host)
        self._wait = ssl.SSLWantReadError

    def _shake(self) -> None:
        assert self._tls is not None
        try:
            self._tls.do_handshake()
            self._shaking, self.connected = False, True
        except self._wait:
            pass
        finally:
            self._unsent += self._out.read()
            self._flush()

    def _decrypted(self, data: bytes) -> bytes:
        assert self._tls is not None
        self._in.write(data)
        if self._shaking:
            self._shake()
        plain = bytearray()
        while not self._shaking:
            try:
                piece = self._tls.read(_AT_A_TIME)
            except self._wait:
                break
            if not piece:
                raise LinkLost("closed by the controller")
            plain += piece
        self._unsent += self._out.read()
        self._flush()
        return bytes(plain)


def _look_up(host: str, port: int, attempt: int) -> tuple[int, tuple[object, ...]]:
    """One of the addresses of a host, another one with every attempt."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, _, _, _, place = found[attempt % len(found)]
    return family, place


def is_tls(error: Exception) -> bool:
    """Whether two sides did not agree on TLS; where it was never used, its library is not loaded for this."""
    library = sys.modules.get("ssl")
    return library is not None and isinstance(error, library.SSLError)


def words(error: Exception) -> str:
    """What went wrong, on one line."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(str(text).split()) or type(error).__name__
