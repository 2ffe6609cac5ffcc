"""How operators speak to the controller: one connection, one question after the other, answers put together.

Synchronous and without a thread, for commands that ask and leave. On this host the kernel says who asks; from another
one a client certificate does.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

from penstock.errors import PenstockError
from penstock.wire.messages import (
    MOST_FROM_CONTROLLER,
    VERSION,
    Admin,
    Answer,
    Auth,
    BadFrame,
    Challenge,
    Error,
    Frames,
    FromController,
    Hello,
    Hook,
    Message,
    Page,
    Welcome,
    frame,
    read_controller,
)

TIMEOUT = 5.0  # seconds for each answer
LONGER = 60.0  # seconds more, for a policy that may have to be compiled first, and for what is in the journal
AGENT = "penstock-operator"
_AT_A_TIME = 1 << 16


class NoController(PenstockError):
    """Nobody answers at the controller's address."""


class CommandRefused(PenstockError):
    """The controller does not do what an operator asks for; `code` is the wire's word for why."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


class Place(Protocol):
    """Where a controller listens: a path, or a host and port."""

    @property
    def path(self) -> str:
        """Of a UNIX socket; empty for TCP."""

    @property
    def host(self) -> str:
        """Of TCP."""

    @property
    def port(self) -> int:
        """Of TCP."""

    @property
    def tls(self) -> bool:
        """Whether TCP is encrypted."""


@dataclass(frozen=True)
class Papers:
    """Files for TLS: whom to believe, and what shows who we are."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None


class Line:
    """A connection to the controller, as an operator."""

    def __init__(
        self, place: Place, papers: Papers | None = None, timeout: float = TIMEOUT, role: str = "admin"
    ) -> None:
        self._place, self._timeout, self._role = place, timeout, role
        self._frames = Frames(MOST_FROM_CONTROLLER)
        self._heard: list[FromController] = []
        self._numbers = count(1)
        with self._explained("reached"):
            self._socket = _connect(place, papers or Papers(), timeout)
        try:
            self._enter()
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, verb: str, **args: Any) -> Any:
        """What the controller answers to a command."""
        number = next(self._numbers)
        takes_long = verb == "explain" or (verb == "policy" and "name" in args)
        self._socket.settimeout(self._timeout + (LONGER if takes_long else 0.0))
        self._send(Admin(number, verb, args))
        return self._answer(number)

    def hook(self, kind: str, job: str, **known: Any) -> Any:
        """What the controller answers to a word of the batch system."""
        number = next(self._numbers)
        self._send(Hook(number, kind, job, **known))
        return self._answer(number)

    def _answer(self, number: int) -> Any:
        pages: list[bytes] = []
        while True:
            message = self._next()
            if isinstance(message, Error) and message.req in (0, number):
                raise CommandRefused(message.text, message.code)
            if isinstance(message, Answer) and message.req == number:
                return message.body
            if isinstance(message, Page) and message.req == number:
                pages.append(message.body)
                if message.last:
                    return msgspec.msgpack.decode(b"".join(pages))

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _enter(self) -> None:
        self._send(Hello(1, VERSION, self._role, AGENT, os.urandom(16), 0, "peer"))
        self._expect(Challenge)
        self._send(Auth(b""))
        self._expect(Welcome)

    def _expect(self, kind: type[Message]) -> None:
        message = self._next()
        if isinstance(message, Error):
            raise CommandRefused(f"the controller at {_shown(self._place)} does not let us in: {message.text}")
        if not isinstance(message, kind):
            raise NoController(f"what listens at {_shown(self._place)} is no controller of this version")

    def _send(self, message: Message) -> None:
        with self._explained("asked"):
            self._socket.sendall(frame(message))

    def _next(self) -> FromController:
        while not self._heard:
            with self._explained("heard"):
                data = self._socket.recv(_AT_A_TIME)
            if not data:
                raise self._hung_up()
            try:
                self._heard += [read_controller(body) for body in self._frames.feed(data)]
            except BadFrame:
                raise NoController(f"what listens at {_shown(self._place)} is no controller") from None
        return self._heard.pop(0)

    def _hung_up(self) -> NoController:
        return NoController(f"the controller at {_shown(self._place)} has hung up")

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise NoController(f"the controller at {_shown(self._place)} does not answer in time") from None
        except (FileNotFoundError, ConnectionRefusedError):
            raise NoController(f"nobody listens at {_shown(self._place)}; is `penstock serve` running?") from None
        except (BrokenPipeError, ConnectionResetError):
            raise self._hung_up() from None
        except (OSError, ValueError) as error:  # ValueError: a path that no socket can have
            reason = " ".join(str(getattr(error, "strerror", None) or error).split()).lower()
            raise NoController(f"the controller at {_shown(self._place)} cannot be {done} ({reason})") from None


def ask(place: Place, verb: str, *, papers: Papers | None = None, timeout: float = TIMEOUT, **args: Any) -> Any:
    """What the controller answers to one command."""
    with Line(place, papers, timeout) as line:
        return line.ask(verb, **args)


def _connect(place: Place, papers: Papers, timeout: float) -> socket.socket:
    if place.path:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(timeout)
        try:
            link.connect(place.path)
        except BaseException:
            link.close()
            raise
        return link
    link = socket.create_connection((place.host, place.port), timeout)
    if not place.tls:
        return link
    import ssl  # noqa: PLC0415 - rarely needed, and slow to import

    context = ssl.create_default_context(cafile=papers.ca)
    if papers.certificate:
        context.load_cert_chain(papers.certificate, papers.key)
    return context.wrap_socket(link, server_hostname=place.host)


def _shown(place: Place) -> str:
    return place.path or f"{place.host}:{place.port}"
