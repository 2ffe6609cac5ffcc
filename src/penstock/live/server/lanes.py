"""Many members behind one connection to the controller: so the agent of a node costs one connection and one TLS.

Each member has a lane, a number that the agent gives it. To the core, and to the rest of the shell, a lane is a
connection of its own: it registers, is told rates, and ends by itself or with the connection that it is in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.live.core.events import Identity
from penstock.live.server.handshake import Admit, Peer, Refuse
from penstock.wire import messages as wire
from penstock.wire.messages import BadFrame, Error, Message, Rate, Via

if TYPE_CHECKING:
    from penstock.live.server.protocol import Connection
    from penstock.live.server.turn import Shell

MOST = 4096  # lanes of one connection


class Lane:
    """One of them."""

    def __init__(self, lanes: Lanes, number: int, identity: Identity, peer: Peer, session: int) -> None:
        self._lanes, self._number = lanes, number
        self.identity, self.peer, self.session = identity, peer, session
        self.member: tuple[int, int] | None = None
        self.rate = (0, 0.0)

    def send(self, message: Message) -> None:
        """Say something to the member in it."""
        if isinstance(message, Rate):
            self.rate = (message.op, message.rate)
        self._lanes.send(self._number, message)

    def close(self) -> None:
        """End it; the connection goes on."""
        self._lanes.end(self._number)

    def abort(self) -> None:
        """It is cut with the connection that it is in."""

    def refuse(self, error: Error) -> None:
        """Send the member away, with this word."""
        self._lanes.shell.refused(self, Refuse(error))
        self.send(error)
        self.close()


class Lanes:
    """Of one connection."""

    def __init__(self, shell: Shell, connection: Connection) -> None:
        self.shell, self._connection = shell, connection
        self._open: dict[int, Lane] = {}

    def heard(self, message: Via) -> None:
        """A member says something, or its lane is over."""
        if not message.body:
            self.end(message.lane)
            return
        if (lane := self._open.get(message.lane) or self._begin(message.lane)) is None:
            return
        try:
            said = wire.read_client(message.body)
        except BadFrame as bad:
            lane.refuse(Error(0, bad.code, str(bad), fatal=True))
            return
        if isinstance(said, wire.FromMember):
            self.shell.heard(lane, said)
        else:
            lane.refuse(Error(0, "decode", "a member in a lane says only what members say", fatal=True))

    def send(self, number: int, message: Message) -> None:
        """Say something to the member in a lane."""
        self._connection.send_frame(wire.frame(wire.InLane(number, wire.body_of(message))))

    def end(self, number: int) -> None:
        """A lane is over."""
        if (lane := self._open.pop(number, None)) is not None:
            self.send(number, wire.Goodbye("the lane is over"))
            self.shell.gone(lane)

    def end_all(self) -> None:
        """The connection is over, and all that is in it."""
        for number in list(self._open):
            self.shell.gone(self._open.pop(number))

    def _begin(self, number: int) -> Lane | None:
        """A new lane. Whoever may speak for any job of the node may do so in each of them."""
        known = self._connection.identity
        assert known is not None
        if len(self._open) >= MOST:
            self.send(number, Error(0, "quota", f"{MOST:,} lanes are open; no more are accepted", fatal=True))
            return None
        assert self._connection.session is not None
        identity = replace(known, role="client", pid=None, for_node=True, connection=self._connection.session)
        lane = Lane(self, number, identity, self._connection.peer, self.shell.new_session())
        self._open[number] = lane
        self.shell.entered(lane, Admit(identity, 0, b"", "lane"))
        return lane
