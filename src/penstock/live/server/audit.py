"""The audit log: who came, what they ordered, who was refused and who left.

Who is refused may come back at once, so refusals are counted instead once they are too many; and a screen repeats its
looks every second, so of these the first of each connection is written. Every order is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.live.server.handshake import Refuse
from penstock.live.server.lanes import Lane
from penstock.live.server.log import LogWriter
from penstock.live.server.protocol import Connection
from penstock.live.server.quotas import Allowance
from penstock.wire.messages import Admin

REPEATED = ("status", "server", "top", "mine", "forecasts")  # looks that screens ask for again and again


class AuditLog:
    """Lines of the log that name a connection and who is behind it."""

    def __init__(self, log: LogWriter, now: Callable[[], float]) -> None:
        self._log, self._now = log, now
        self._looked: dict[int, set[str]] = {}  # by session: looks that were written
        self._refusals, self._unwritten = Allowance(10.0, 100.0, now()), 0

    def write(self, event: str, connection: Connection | Lane, **fields: Any) -> None:
        """What happened on a connection, and whose it is."""
        who = connection.identity
        known = {"uid": who.uid, "kind": who.kind, "role": who.role, "job": who.job, "pid": who.pid} if who else {}
        self._log.info(
            event,
            session=connection.session,
            address=connection.peer.address,
            certificate=connection.peer.certificate,
            **known,
            **fields,
        )

    def refused(self, connection: Connection | Lane, refuse: Refuse) -> None:
        """Somebody was not let in, or is sent away."""
        if self._refusals.wait(self._now()) > 0.0:
            self._unwritten += 1
            return
        self._refusals.take()
        error, unwritten, self._unwritten = refuse.error, self._unwritten or None, 0
        told = {"code": error.code, "text": error.text, "detail": refuse.detail or None, "not_told": unwritten}
        self.write("refused", connection, **told)

    def command(self, connection: Connection | Lane, message: Admin) -> None:
        """An operator or a user asks for something."""
        assert connection.session is not None
        if message.verb in REPEATED:
            looked = self._looked.setdefault(connection.session, set())
            if message.verb in looked:
                return
            looked.add(message.verb)
        self.write("command", connection, verb=message.verb, args=message.args)

    def closed(self, connection: Connection | Lane) -> None:
        """A connection is over."""
        assert connection.session is not None
        self._looked.pop(connection.session, None)
        self.write("closed", connection)
