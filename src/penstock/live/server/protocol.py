"""The controller's side of one connection: bytes to frames to messages, and patience with who sends or reads badly.

Reads are bounded to what a frame needs. Whoever says more than its allowance is not heard for a while; nothing is
dropped. Whoever does not read gets the newest rate only, and is cut off after a lease, when its rate is over anyway.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import msgspec

from penstock.live.core.events import Identity
from penstock.live.server.handshake import Admit, Decode, Peer, Refuse, Say, ServerHandshake, Step
from penstock.live.server.lanes import Lanes
from penstock.live.server.munge import MungeError
from penstock.live.server.quotas import CROWD_PASSES, Allowance
from penstock.wire import messages as wire
from penstock.wire.messages import Answer, Auth, BadFrame, Error, Frames, FromClient, Hello, Message, Page, Rate

if TYPE_CHECKING:
    from penstock.live.server.turn import Shell

HIGH_WATER = 65_536  # bytes that wait to be sent before the newest rate has to wait, too
PAGE = 256 * 1024  # bytes of an answer that go in one frame
MOST_QUEUED = 64 << 20  # bytes of answers for one that does not read
NODE_FACTOR = 20  # times as much may be said by a node as by one member
LEAST_SILENCE = 0.1  # seconds for which one that says too much is not heard

_PEER_CREDENTIALS = struct.Struct("3i")
_SO_PEERGROUPS = 59
_MOST_BYTES = 1024  # that Python lets the kernel answer with
_room = memoryview(bytearray(wire.MOST_FROM_CLIENT + 4))  # for one read at a time, of any connection


@dataclass(frozen=True)
class Door:
    """What somebody came in by."""

    kind: str  # unix, tcp
    admin: bool = False


class Connection(asyncio.BufferedProtocol):
    """Whoever is at the other end, before and after we know who that is."""

    def __init__(self, shell: Shell, door: Door) -> None:
        self._shell, self._door = shell, door
        self._frames = Frames(wire.MOST_FROM_CLIENT)
        self._allowance = Allowance(shell.quotas.frames_per_second, shell.quotas.frames_burst, shell.loop.time())
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._unsent: Rate | None = None
        self._stuck = self._silenced = self._closing = self._counted = False
        self.met = False  # whether there is somebody to talk to; with TLS, only once it is agreed on
        self._timer: asyncio.TimerHandle | None = None
        self._wait: asyncio.TimerHandle | None = None
        self._decoding: asyncio.Task[None] | None = None
        self.session: int | None = None
        self.identity: Identity | None = None
        self.member: tuple[int, int] | None = None  # application and number of whom it speaks for
        self._lanes: Lanes | None = None  # of the members behind it, if it is a node's
        self.rate = (0, 0.0)  # operation and bytes/s of the last Rate

    def knock(self, peer: Peer, transport: asyncio.BaseTransport) -> Refuse | None:
        """Somebody wants to come in, and is counted from now on, for as long as may take; or why not."""
        self.peer, self._transport = peer, cast(asyncio.Transport, transport)
        shell, now = self._shell, self._shell.loop.time()
        host, operator = peer.uid is None, shell.house.is_operator(peer)
        if refused := shell.doorman.may_connect(now, peer.address, peer.owner, host, operator):
            text, seconds = refused
            return Refuse(Error(0, "quota", text, fatal=True, retry_after=seconds))
        if (displaced := shell.doorman.connected(now, peer.owner, self)) is not None:
            text = f"{peer.owner} came, and nobody has more connections in the door than {displaced.peer.owner}"
            displaced.refuse(Error(0, "quota", text, fatal=True, retry_after=CROWD_PASSES))
        self._counted = True
        self._timer = shell.loop.call_later(shell.quotas.authenticate_seconds, self._too_slow)
        return None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody is there; whoever comes with TLS has knocked before."""
        self.met = True
        refused = None
        if self._counted:
            self.peer = replace(self.peer, certificate=_certificate(transport))
            self._transport = cast(asyncio.Transport, transport)
        else:
            refused = self.knock(peer_of(transport, self._door), transport)
        self._transport.set_write_buffer_limits(high=HIGH_WATER)
        self._handshake = ServerHandshake(self._shell.house, self.peer)
        if refused is not None:
            self._refuse(refused)
        elif self._closing:  # it was sent away while it was about to come in
            self._transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Room for what arrives, so that never more than one frame is held."""
        return _room[: max(1, len(_room) - self._frames.held)]

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes have arrived."""
        self._hear(_room[:nbytes])

    def eof_received(self) -> bool:
        """Nothing more will come; we have nothing to say to one that is gone."""
        return False

    def pause_writing(self) -> None:
        """It does not read: hear it no more until it does, and let it go after a lease."""
        self._stuck = True
        self._transport.pause_reading()
        self._restart_timer(self._shell.house.lease, self._cut)

    def resume_writing(self) -> None:
        """It reads again."""
        self._stuck = False
        self._cancel_timer()
        self._drain()
        if not self._stuck:
            self._listen_again()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone, whoever closed it."""
        self._closing = True
        for handle in (self._timer, self._wait):
            if handle is not None:
                handle.cancel()
        if self._decoding is not None:
            self._decoding.cancel()
        if self._counted:
            self._shell.doorman.left(self.peer.owner, self, self._vouched_uid(), self.session is not None)
        if self._lanes is not None:
            self._lanes.end_all()
        if self.session is not None:
            self._shell.gone(self)

    def send(self, message: Message) -> None:
        """Send it, or keep it until the other end reads. An unsent Rate gives way to a newer one."""
        if not self._shell.leads():
            return
        if isinstance(message, Rate):
            self.rate = (message.op, message.rate)
            if self._stuck:
                self._unsent = message
                return
        for frame in frames_of(message):
            self._write(frame)

    def send_frame(self, frame: bytes) -> None:
        """Send what was made into a frame already: to a member in a lane, and there is one for each."""
        if self._shell.leads():
            self._write(frame)

    def _write(self, frame: bytes) -> None:
        if not self._queue and not self._stuck and self._unsent is None:
            self._transport.write(frame)
            return
        self._queue.append(frame)
        self._queued += len(frame)
        if self._queued > MOST_QUEUED:
            self._cut()
        self._drain()

    def close(self) -> None:
        """Close it once all is sent, or after a lease."""
        if not self._closing:
            self._closing, self._stuck = True, False
            self._drain()
            self._transport.close()
            self._restart_timer(self._shell.house.lease, self._transport.abort)

    def abort(self) -> None:
        """Cut it, with whatever waits to be sent."""
        self._closing = True
        self._queue.clear()
        self._unsent = None
        self._transport.abort()

    def refuse(self, error: Error) -> None:
        """Send it away, with this word."""
        self._refuse(Refuse(error))

    def held(self) -> int:
        """Bytes of frames that are not complete or have to wait."""
        return self._frames.held

    def _hear(self, data: bytes | memoryview) -> None:
        now = self._shell.loop.time()
        bodies = self._frames.feed(data)
        try:
            while not self._closing and not self._stuck:
                if wait := self._allowance.wait(now):
                    self._silence(max(wait, LEAST_SILENCE))
                    break
                if (body := next(bodies, None)) is None:
                    break
                self._allowance.take()
                self._heard(wire.read_client(body))
        except BadFrame as bad:
            self._shell.doorman.bad_frame(now, self.peer.address)
            self.refuse(Error(0, bad.code, str(bad), fatal=True))

    def _heard(self, message: FromClient) -> None:
        if self.session is None:
            self._step(self._handshake.received(message))
        elif isinstance(message, (Hello, Auth)):
            self.refuse(Error(0, "auth", "you were let in already", fatal=True))
        elif self._lanes is not None and isinstance(message, wire.Via):
            self._lanes.heard(message)
        elif isinstance(message, wire.Via) or (self._lanes is not None and not isinstance(message, wire.Hook)):
            self.refuse(Error(0, "forbidden", "a node speaks in lanes, and nobody else does", fatal=True))
        else:
            self._shell.heard(self, message)

    def _step(self, step: Step) -> None:
        if isinstance(step, Say):
            self.send(step.message)
        elif isinstance(step, Decode):
            self._decoding = self._shell.loop.create_task(self._decode(step.credential))
        elif isinstance(step, Refuse):
            self._refuse(step)
        else:
            self._admit(step)

    async def _decode(self, credential: bytes) -> None:
        try:
            found = await self._shell.munge.decode(credential)
        except MungeError as error:
            step = self._handshake.not_decoded(str(error))
        else:
            step = self._handshake.decoded(found.uid, found.payload)
        if not self._closing:
            self._step(step)

    def _admit(self, admit: Admit) -> None:
        self.identity = admit.identity
        refused = self._shell.may_enter(self, admit)
        if refused is not None:
            self.identity = None
            self.refuse(refused)
            return
        self._cancel_timer()
        self.session = self._shell.new_session()
        self.send(self._handshake.welcome(self.session, admit.proof))
        self._shell.entered(self, admit)
        if admit.identity.role == "node":
            self._lanes = Lanes(self._shell, self)
            quotas = self._shell.quotas  # many members speak here, and only root lets them
            rate, burst = NODE_FACTOR * quotas.frames_per_second, NODE_FACTOR * quotas.frames_burst
            self._allowance = Allowance(rate, burst, self._shell.loop.time())

    def _vouched_uid(self) -> int | None:
        """The user whose connections are counted: one that no job vouches for."""
        return self.identity.uid if self.identity and self.identity.job is None else None

    def _refuse(self, refuse: Refuse) -> None:
        if self._closing:
            return
        self._shell.refused(self, refuse)
        self.send(refuse.error)
        self.close()

    def _too_slow(self) -> None:
        seconds = self._shell.quotas.authenticate_seconds
        self.refuse(Error(0, "auth", f"nobody showed who they are within {seconds:g} s", fatal=True))

    def _cut(self) -> None:
        self._shell.log.warning("cut", session=self.session, address=self.peer.address, reason="does not read")
        self._closing = True
        self._transport.abort()

    def _drain(self) -> None:
        while self._queue and not self._stuck:
            frame = self._queue.popleft()
            self._queued -= len(frame)
            self._transport.write(frame)
        if self._unsent is not None and not self._stuck:
            rate, self._unsent = self._unsent, None
            self._transport.write(wire.frame(rate))

    def _silence(self, seconds: float) -> None:
        self._silenced = True
        self._transport.pause_reading()
        self._wait = self._shell.loop.call_later(seconds, self._unsilence)

    def _unsilence(self) -> None:
        self._silenced = False
        if not self._stuck:
            self._listen_again()

    def _listen_again(self) -> None:
        """First what is held already, then the wire."""
        if not self._closing and not self._silenced:
            self._hear(b"")
        if not (self._closing or self._silenced or self._stuck):
            self._transport.resume_reading()

    def _restart_timer(self, seconds: float, then: Any) -> None:
        self._cancel_timer()
        self._timer = self._shell.loop.call_later(seconds, then)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def frames_of(message: Message) -> list[bytes]:
    """A message as frames; a long answer in pages."""
    frame = wire.frame(message)
    if len(frame) <= PAGE or not isinstance(message, Answer):
        return [frame]
    body = msgspec.msgpack.encode(message.body)
    pieces = [body[start : start + PAGE] for start in range(0, len(body), PAGE)]
    last = len(pieces) - 1
    return [wire.frame(Page(message.req, number, number == last, piece)) for number, piece in enumerate(pieces)]


def peer_of(transport: asyncio.BaseTransport, door: Door) -> Peer:
    """What the transport proves of the other end."""
    if door.kind == "tcp":
        name = transport.get_extra_info("peername")
        return Peer(str(name[0]) if name else "unknown", certificate=_certificate(transport))
    end = transport.get_extra_info("socket")
    raw = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_CREDENTIALS.size)
    pid, uid, gid = _PEER_CREDENTIALS.unpack(raw)
    address = f"uid {uid}, process {pid}" if pid else f"uid {uid}"  # one bad process of a user is not all of them
    return Peer(address, uid, pid or None, frozenset({gid, *_groups(end)}), door.admin)


def _groups(end: Any) -> tuple[int, ...]:
    """All groups of the peer, beside its first one."""
    try:
        raw = end.getsockopt(socket.SOL_SOCKET, _SO_PEERGROUPS, _MOST_BYTES)
    except OSError:  # an old kernel, or more groups than there is room for
        return ()
    return struct.unpack(f"{len(raw) // 4}I", raw)


def _certificate(transport: asyncio.BaseTransport) -> str | None:
    link: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    shown = link.getpeercert() if link is not None else None
    if not shown:
        return None
    names = [value for part in cast(Any, shown.get("subject", ())) for key, value in part if key == "commonName"]
    return str(names[0]) if names else "unnamed"
