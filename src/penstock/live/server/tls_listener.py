"""The door with TLS: whoever knocks is counted before TLS begins, which is what costs most of all that a stranger gets.

An event loop's own server would tell us of a connection only once TLS is agreed on, and whoever never begins with it
would not be counted. One that is refused here is hung up on without a word, for a word would take the same TLS.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.live.server.handshake import Peer, Refuse
from penstock.live.server.listeners import BACKLOG
from penstock.live.server.protocol import Connection, Door
from penstock.wire.messages import Error

if TYPE_CHECKING:
    from penstock.live.server.turn import Shell

NO_FILES = 1.0  # seconds until we look again after the system had no more files for us
FAREWELL = 1.0  # seconds that the other end has for its part of ending TLS


class Porch:
    """Listens on a bound socket, and lets people in by TLS."""

    def __init__(self, shell: Shell, bound: socket.socket, tls: ssl.SSLContext) -> None:
        self._shell, self._bound, self._tls = shell, bound, tls
        self._coming: set[asyncio.Task[Any]] = set()
        self._closed = False
        bound.listen(BACKLOG)
        bound.setblocking(False)
        self._listen()

    def close(self) -> None:
        """Listen no more. Those that were let in stay."""
        self._shell.loop.remove_reader(self._bound.fileno())
        self._bound.close()
        self._closed = True

    def _listen(self) -> None:
        if not self._closed:
            self._shell.loop.add_reader(self._bound.fileno(), self._open)

    def _open(self) -> None:
        """Take all that wait: better that they hear no at once than that they wait for it."""
        for _ in range(BACKLOG):
            try:
                link, address = self._bound.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._shell.log.error("listening", problem=(error.strerror or str(error)).lower())
                self._shell.loop.remove_reader(self._bound.fileno())
                self._shell.loop.call_later(NO_FILES, self._listen)
                return
            self._knock(link, Peer(str(address[0])))

    def _knock(self, link: socket.socket, peer: Peer) -> None:
        connection = Connection(self._shell, Door("tcp"))
        if (refused := connection.knock(peer, _Knocking(link))) is not None:
            link.close()
            self._shell.refused(connection, refused)
            return
        link.setblocking(False)
        agreeing = self._shell.loop.create_task(self._agree(connection, link))
        self._coming.add(agreeing)
        agreeing.add_done_callback(partial(self._agreed, connection))

    async def _agree(self, connection: Connection, link: socket.socket) -> None:
        await self._shell.loop.connect_accepted_socket(
            lambda: connection,
            link,
            ssl=self._tls,
            ssl_handshake_timeout=self._shell.quotas.authenticate_seconds,
            ssl_shutdown_timeout=FAREWELL,
        )

    def _agreed(self, connection: Connection, agreeing: asyncio.Task[Any]) -> None:
        self._coming.discard(agreeing)
        failure = None if agreeing.cancelled() else agreeing.exception()
        if connection.met:
            return
        if isinstance(failure, ssl.SSLError):
            reason = failure.reason or str(failure)
            self._shell.refused(connection, Refuse(Error(0, "auth", "TLS was not agreed on", fatal=True), reason))
        connection.connection_lost(None)


class _Knocking(asyncio.Transport):
    """What a connection has before TLS: nothing can be said, and TLS itself ends once the socket is shut."""

    def __init__(self, link: socket.socket) -> None:
        super().__init__()
        self._link = link

    def write(self, data: object) -> None:
        """It would not be understood."""

    def close(self) -> None:
        """Have the kernel end it."""
        with suppress(OSError):
            self._link.shutdown(socket.SHUT_RDWR)

    abort = close
