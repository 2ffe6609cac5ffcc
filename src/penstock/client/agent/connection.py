"""The agent's connection to the controller, from dialling to its end: what was heard comes out as events, in order.

The agent of a node has one; where the controller is of an earlier version and knows no nodes, one for each member.
"""

from __future__ import annotations

from math import inf

import msgspec

from penstock.client.config import Address
from penstock.client.handshake import ByMunge, ByPeer, ClientHandshake, Credential, NotLetIn
from penstock.client.transport import LinkLost, Transport, is_tls, words
from penstock.wire.messages import BadFrame, Error, Message, Welcome, read_controller

CONNECT_LIMIT = 1.0  # seconds
HELLO_LIMIT = 2.0
ASK_AGAIN = 0.05  # how often a full queue of connections is tried
MOST_UNSENT = 1 << 20  # bytes: many members speak here


class Up(msgspec.Struct, frozen=True):
    """Let in."""

    welcome: Welcome


class Heard(msgspec.Struct, frozen=True):
    """The controller said something."""

    message: Message


class Lost(msgspec.Struct, frozen=True):
    """The connection is over, or was never there; a warning if somebody has to mend that."""

    reason: str
    warning: bool = False
    refused: Error | None = None  # in the controller's own words


Event = Up | Heard | Lost


class Connection:
    """As `role`, to `address`. `claims` is what munged is to vouch for: the node, or a job."""

    def __init__(
        self, address: Address, ca: str | None, role: str, claims: str, munge_socket: str | None = None
    ) -> None:
        self._address, self._ca, self._role = address, ca, role
        self._claims, self._munge_socket = claims, munge_socket
        self._transport: Transport | None = None
        self._handshake: ClientHandshake | None = None
        self._limit = inf
        self._attempts = 0

    @property
    def socket(self) -> int:
        """Its number, while there is something to select for; else -1."""
        return self._transport.socket.fileno() if self._transport is not None and self._transport.wanted else -1

    @property
    def wanted(self) -> int:
        """What to select for."""
        return self._transport.wanted if self._transport is not None else 0

    @property
    def let_in(self) -> bool:
        """Whether something can be said."""
        return self._transport is not None and self._handshake is None

    def due(self, t: float) -> float:
        """When to call `check` at the latest."""
        if self._transport is None:
            return inf
        return min(self._limit, t + ASK_AGAIN) if self._transport.queued else self._limit

    def dial(self, t: float, epoch_seen: int) -> Lost | None:
        """Connect; what comes of it is heard later."""
        self.hang_up()
        self._attempts += 1
        self._handshake = ClientHandshake(self._credential(), epoch_seen, self._role)
        try:
            self._transport = Transport(self._address, self._ca, self._attempts, MOST_UNSENT)
            self._limit = t + CONNECT_LIMIT
            self._greet(t)
        except (OSError, LinkLost, ValueError) as error:
            return self._lost(f"{self._address}: {words(error)}", is_tls(error))
        return None

    def redirect(self, address: Address) -> None:
        """Dial another address the next time."""
        self._address = address

    def given_up(self, reason: str) -> Lost:
        """Hang up, as if the other end had."""
        return self._lost(reason)

    def check(self, t: float) -> Lost | None:
        """What has taken too long."""
        if self._transport is None:
            return None
        if t >= self._limit:
            return self._lost("no connection in time" if not self._transport.connected else "no welcome in time")
        if self._transport.queued:
            try:
                self._transport.try_again()
                self._greet(t)
            except (OSError, LinkLost) as error:
                return self._lost(words(error))
        return None

    def send(self, message: Message) -> Lost | None:
        """Say something, if we were let in."""
        if not self.let_in:
            return None
        assert self._transport is not None
        try:
            self._transport.send(message)
        except (OSError, LinkLost) as error:
            return self._lost(words(error))
        return None

    def ready(self, t: float, mask: int) -> list[Event]:
        """What has come, after a select."""
        transport, events = self._transport, list[Event]()
        if transport is None:
            return events
        try:
            greeted = transport.connected
            for body in transport.ready(mask):
                events += self._take(read_controller(body))
            if not greeted:
                self._greet(t)
        except (OSError, LinkLost, BadFrame, NotLetIn) as error:
            events.append(self._lost(words(error), isinstance(error, NotLetIn) or is_tls(error)))
        return events

    def hang_up(self) -> None:
        """Without a word."""
        if self._transport is not None:
            self._transport.close()
        self._transport, self._handshake, self._limit = None, None, inf

    def _take(self, message: Message) -> list[Event]:
        if self._transport is None:
            return []
        if self._handshake is None:
            return [Heard(message)]
        if isinstance(message, Error):
            lost = self._lost(f"{message.code}: {message.text}", warning=True)
            return [Lost(lost.reason, lost.warning, message)]
        answer = self._handshake.received(message)  # type: ignore[arg-type]
        if isinstance(answer, Welcome):
            self._handshake, self._limit = None, inf
            return [Up(answer)]
        self._transport.send(answer)
        return []

    def _greet(self, t: float) -> None:
        """The first word, as soon as there is a connection."""
        if self._transport is not None and self._transport.connected and self._handshake is not None:
            self._limit = t + HELLO_LIMIT
            self._transport.send(self._handshake.hello)

    def _credential(self) -> Credential:
        return ByPeer() if self._address.path else ByMunge(self._claims, self._munge_socket)

    def _lost(self, reason: str, warning: bool = False) -> Lost:
        self.hang_up()
        return Lost(reason, warning)
