"""The shell and its connections without sockets: time only moves when told, transports only remember."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.live.core import ControllerSettings, Core, Resource
from penstock.live.core.events import WriteRecords as Written
from penstock.live.server.handshake import House
from penstock.live.server.protocol import Connection, Door
from penstock.live.server.quotas import Quotas
from penstock.live.server.turn import Shell
from penstock.live.server.unpaced import Mark
from penstock.policies.sharing import find
from penstock.wire import messages as wire
from penstock.wire.messages import Auth, Hello, Message

SETTINGS = ControllerSettings(resources=(Resource("all", 1e9),), machine_nodes=100)


class Handle:
    def __init__(self, then: Callable[[], object]) -> None:
        self.then, self.cancelled = then, False

    def cancel(self) -> None:
        self.cancelled = True


class Loop:
    """As much of an event loop as the shell uses."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._soon: list[Handle] = []
        self._later: list[tuple[float, int, Handle]] = []
        self._count = itertools.count()

    def time(self) -> float:
        return self.now

    def call_soon(self, then: Callable[..., object], *args: object) -> Handle:
        handle = Handle(lambda: then(*args))
        self._soon.append(handle)
        return handle

    def call_later(self, seconds: float, then: Callable[..., object], *args: object) -> Handle:
        handle = Handle(lambda: then(*args))
        # No time is too short to pass: a wake-up that comes a rounding error early is asked for again.
        heapq.heappush(self._later, (self.now + max(seconds, 1e-6), next(self._count), handle))
        return handle

    def turn(self) -> None:
        """All that is due now."""
        while self._soon or (self._later and self._later[0][0] <= self.now):
            due, self._soon = self._soon, []
            while self._later and self._later[0][0] <= self.now:
                due.append(heapq.heappop(self._later)[2])
            for handle in due:
                if not handle.cancelled:
                    handle.then()

    def run(self, seconds: float) -> None:
        """Let time pass, with all that falls due in it."""
        end = self.now + seconds
        self.turn()
        while self._later and self._later[0][0] <= end:
            self.now = max(self.now, self._later[0][0])
            self.turn()
        self.now = end
        self.turn()


class Pen:
    """A journal that can be told to fail."""

    def __init__(self) -> None:
        self.folder = Path("/dev/null")
        self.seq = self.synced = 0
        self.problem: str | None = None
        self.log: list[tuple[str, Any]] = []

    def write(self, time: float, records: list[Any]) -> int:
        self.seq += len(records)
        self.log += [("write", record) for record in records]
        return self.seq

    def retry(self, time: float, state: Callable[[], bytes]) -> bool:
        return self.problem is None

    def snapshot_due(self, time: float) -> bool:
        return False

    def snapshot(self, time: float, state: bytes) -> None:
        self.log.append(("snapshot", len(state)))


class Log:
    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def __getattr__(self, level: str) -> Callable[..., None]:
        return lambda event, **fields: self.lines.append({"level": level, "event": event, **fields})

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == name]


class End:
    """The other end's socket, as the kernel describes it."""

    def __init__(self, uid: int, pid: int) -> None:
        self._uid, self._pid = uid, pid

    def getsockopt(self, level: int, option: int, size: int) -> bytes:
        if size != 12:
            return b""
        return b"".join(number.to_bytes(4, "little") for number in (self._pid, self._uid, self._uid))


class Transport:
    """Remembers what was written; `stuck` stands for a peer that does not read."""

    def __init__(self, loop: Loop, protocol: Connection, uid: int, log: list[tuple[str, Any]], pid: int = 0) -> None:
        self._loop, self._protocol, self._log = loop, protocol, log
        self._end = End(uid, pid)
        self._frames = wire.Frames(wire.MOST_FROM_CONTROLLER)
        self.inbox: list[Message] = []
        self.reading, self.closed, self.aborted, self.stuck = True, False, False, False
        self.buffered = 0
        self._high = 0

    def get_extra_info(self, name: str) -> Any:
        return self._end

    def set_write_buffer_limits(self, high: int) -> None:
        self._high = high

    def write(self, data: bytes) -> None:
        assert not self.aborted
        for body in self._frames.feed(data):
            self.inbox.append(wire.read_controller(body))
            self._log.append(("send", self.inbox[-1]))
        if self.stuck:
            before, self.buffered = self.buffered, self.buffered + len(data)
            if before <= self._high < self.buffered:
                self._protocol.pause_writing()

    def reads_again(self) -> None:
        self.stuck, self.buffered = False, 0
        self._protocol.resume_writing()

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._loop.call_soon(self._protocol.connection_lost, None)

    def abort(self) -> None:
        self.aborted = True
        self.close()


class Peer:
    """Somebody who connects."""

    def __init__(self, world: World, uid: int = 1000, door: Door | None = None) -> None:
        self.world = world
        self.connection = Connection(world.shell, door or Door("unix"))
        self.transport = Transport(world.loop, self.connection, uid, world.pen.log)
        self.connection.connection_made(self.transport)  # type: ignore[arg-type]
        self._outbox = b""

    def raw(self, data: bytes) -> None:
        """Put bytes on the wire; they are read as far as the other end wants."""
        self._outbox += data
        while self._outbox and self.transport.reading and not self.transport.closed:
            room = self.connection.get_buffer(-1)
            piece, self._outbox = self._outbox[: len(room)], self._outbox[len(room) :]
            room[: len(piece)] = piece
            self.connection.buffer_updated(len(piece))

    @property
    def unread(self) -> int:
        return len(self._outbox)

    def say(self, *messages: Message) -> list[Message]:
        """Say something, and what is answered in the turn that follows."""
        before = len(self.transport.inbox)
        self.raw(b"".join(wire.frame(message) for message in messages))
        self.world.loop.turn()
        return self.transport.inbox[before:]

    def hello(self, **changes: Any) -> list[Message]:
        given = {
            "v_min": 1,
            "v_max": 1,
            "role": "client",
            "agent": "t",
            "nonce": b"n" * 16,
            "epoch_seen": 0,
            "auth": "peer",
        }
        return self.say(Hello(**{**given, **changes}))

    def admitted(self, **changes: Any) -> Peer:
        self.hello(**changes)
        self.say(Auth(b""))
        assert self.connection.session is not None, self.transport.inbox
        return self


class World:
    """A shell with a real core, in virtual time."""

    def __init__(
        self, settings: ControllerSettings = SETTINGS, sync: bool = False, mark: Mark | None = None, **quotas: Any
    ) -> None:
        self.loop, self.pen, self.log = Loop(), Pen(), Log()
        pen: Any = self.pen
        log: Any = self.log
        loop: Any = self.loop
        core = Core(settings, find(settings.sharing), epoch=5, boot=self.loop.now, state=None, warm=True)
        house = House(
            epoch=5, name="virtual", lease=settings.lease, beat=settings.beat, pace=settings.pace, own_uid=990
        )
        self.shell = Shell(
            core,
            pen,
            house,
            Quotas(**quotas),
            log,
            loop,
            clock=self.loop.time,
            sync=sync,
            mark=mark,
        )
        self.ended: list[int] = []
        self.shell.on_end = self.ended.append
        self.shell.begin()

    def peer(self, uid: int = 1000, **changes: Any) -> Peer:
        return Peer(self, uid).admitted(**changes)


__all__ = ["SETTINGS", "Loop", "Peer", "World", "Written"]
