"""The process of a node's agent: jobs come and go by the spool, segments ring, the controller speaks. One thread.

It sleeps until something is due: a bell, a word of the controller's, a file in the spool, and once a second a sign of
life in every segment. While a phase is open it looks at segments ten times a second. Killed, it leaves segments that
fall back by themselves within three seconds, and the next agent finds them again.
"""

from __future__ import annotations

import os
import random
import selectors
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from penstock.client.agent.agent import Key, NodeAgent
from penstock.client.agent.bypass import Bypass, Bytes
from penstock.client.agent.connection import Connection, Event, Heard, Lost, Up
from penstock.client.agent.folder_watch import FolderWatch
from penstock.client.agent.roster import JobEnded, JobStarted, Roster
from penstock.client.agent.segment_pool import RENEW, Always, SegmentPool
from penstock.client.bucket import Clock, boottime
from penstock.client.config import OFF_FILE, Address, as_name
from penstock.client.first_contact import FirstContact
from penstock.client.member import MemberSettings
from penstock.client.mounts import devices_of, devices_under
from penstock.client.notes import log
from penstock.client.pacing import shown_amount
from penstock.client.segment import FOLDER, hear_bell, segment_path
from penstock.wire.messages import Answer, Error, Message, Via, Welcome, read_client

SPOOL_EVERY = 1.0  # seconds, where the kernel says when there is something new
SPOOL_OFTEN = 0.25  # where it does not: a prolog waits until its job has a segment
LOOK_EVERY = 0.1  # while a phase is open that nobody announced
BURST_EVERY = 0.25  # while bytes move that nobody asked for, or a program says itself where its phase ends
SWITCH_EVERY = 10.0  # how often the off file is looked for
BYPASS_EVERY = 5.0  # how often the kernel's counts are compared
LONGEST_PAUSE = 30.0  # seconds between two tries to reach the controller
REFUSED_PAUSE = 60.0
NEXT_PAUSE = 0.3  # from one address to the next, at most
NOT_KNOWN = ("the role is one of", "the role 'node'")  # how controllers that know no nodes refuse one


@dataclass(frozen=True)
class NodeConfig:
    """What an agent is told."""

    node: str
    address: Address
    ca: str | None = None
    munge_socket: str | None = None
    paths: tuple[str, ...] = ()  # where paced file systems are mounted; empty: where the controller says, else all
    first: FirstContact = field(default_factory=FirstContact)
    folder: Path = FOLDER
    off_file: Path = OFF_FILE
    compares: bool = True  # with the kernel's counts
    cap: float | None = None  # bytes/s that this node can move at most
    unpaced: str = ""  # why no program can be paced on this platform, if that is so
    others: tuple[Address, ...] = ()  # where a controller may be, if not there


class Node:
    """The agent at work. `turn` waits for something and sees to it."""

    def __init__(self, config: NodeConfig, roster: Roster, clock: Clock = boottime) -> None:
        self.config, self._roster, self._clock = config, roster, clock
        self.agent = NodeAgent(config.node, self._send, self._note)
        self._selector = selectors.DefaultSelector()
        self._pools: dict[Key, SegmentPool] = {}
        self._connection = self._new_connection("node", config.node)
        self._alone: dict[Key, Connection] = {}  # a controller of an earlier version: one for each member
        self._lane_of: dict[int, Key] = {}
        self._chance = random.Random()
        self._fails = self._tried = 0
        self._heard_at, self._lease = inf, 0.0
        self._complaint = ""
        self._epoch = 0
        self._dial_at = self._spool_at = self._alive_at = self._look_at = -inf
        self._switch_at = self._bypass_at = -inf
        self._on = True
        self._bypass = Bypass()
        self._folder = FolderWatch()
        if self._folder.fd >= 0:
            self._selector.register(self._folder.fd, selectors.EVENT_READ, None)
        self._devices: tuple[int, ...] = devices_under(config.paths) if config.paths else ()
        self._leaving = False
        self._broken: Lost | None = None

    # The loop.

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Until `leave`."""
        for each in self._roster.running():
            self._begin(each)
        ready()
        while not self._leaving:
            self.turn()
        self.close()

    def watch_signals(self, pipe: int) -> None:
        """Wake up when a signal has come."""
        self._selector.register(pipe, selectors.EVENT_READ, None)

    def leave(self) -> None:
        """Stop after this turn; jobs fall back."""
        self._leaving = True

    def close(self) -> None:
        """Let go of everything; segments stay, and fall back."""
        for pool in self._pools.values():
            pool.leave()
        for connection in (self._connection, *self._alone.values()):
            self._unwatch(connection)
            connection.hang_up()
        self._selector.close()

    def turn(self) -> None:
        """Wait for something to happen, and see to it."""
        self._do_due(self._clock())
        self._watch_all()
        for key, mask in self._selector.select(max(0.0, self._due() - self._clock())):
            if isinstance(key.data, Connection):
                self._take(key.data, key.data.ready(self._clock(), mask))
            elif isinstance(key.data, SegmentPool):
                key.data.answer()
                self._look_at = -inf
            else:
                hear_bell(key.fd)
                self._spool_at = -inf

    def _do_due(self, t: float) -> None:
        if self._broken is not None:
            broken, self._broken = self._broken, None
            self._lost(t, broken)
        if t >= self._spool_at:
            self._spool_at = t + (SPOOL_EVERY if self._folder.watch(self._roster.folder) else SPOOL_OFTEN)
            for each in self._roster.read():
                self._begin(each) if isinstance(each, JobStarted) else self._end(each)
        if t >= self._switch_at:
            self._switch_at = t + SWITCH_EVERY
            self._switch()
        if t >= self._alive_at:
            self._alive_at = t + RENEW
            for pool in self._pools.values():
                pool.keep_alive()
        if t >= self._look_at:
            self._look(t)
        else:
            self.agent.due(t)
        if t >= self._bypass_at:
            self._bypass_at = t + BYPASS_EVERY if self.config.compares else inf
            self._compare(t)
        self._dial_if_due(t)

    def _look(self, t: float) -> None:
        self.agent.look(t)
        self._find_devices()
        watches = [slot.job.watch for slot in self.agent.slots.values()]
        if any(watch.open and watch.announced == 0.0 for watch in watches):
            self._look_at = t + LOOK_EVERY
        elif any(watch.open for watch in watches) or any(
            slot.job.pool.look().moved > slot.job.watch.base for slot in self.agent.slots.values()
        ):
            self._look_at = t + BURST_EVERY
        else:
            self._look_at = t + RENEW

    def _due(self) -> float:
        t = self._clock()
        connections = (self._connection, *self._alone.values())
        if self._broken is not None:
            return t
        return min(
            self._spool_at, self._alive_at, self._look_at, self._switch_at, self._bypass_at, self._dial_at,
            self.agent.wake, *(each.due(t) for each in connections),
        )  # fmt: skip

    # Jobs.

    def _begin(self, started: JobStarted) -> None:
        key = (as_name(started.job), started.restart)
        if key in self.agent.slots:
            return
        path = segment_path(started.job, started.restart, started.uid, self.config.folder)
        pool = self._pools[key] = SegmentPool(path, (started.uid, started.gid), started.restart, self._devices)
        if pool.damaged:
            self._note(key[0], f"has no segment, and is not paced: {pool.damaged}", True)
        if pool.bell >= 0:
            self._selector.register(pool.bell, selectors.EVENT_READ, pool)
        labels = {"node": self.config.node, "restart": str(started.restart), "bucket": "shared"}
        # Named by `status`, and counted with all that it can use.
        unpaced = self.config.unpaced or (as_name(f"no segment ({pool.damaged})") if pool.damaged else "")
        if unpaced:
            labels["unpaced"] = unpaced
        settings = MemberSettings(
            job=key[0],
            cap=self.config.cap,
            labels=labels,
            fallbacks=self.config.first.rates,
            fallback_words=self.config.first.words,
            uid=started.uid,
            off=not self._on,
        )
        # One that nothing paces may move bytes at any time: it has a phase for as long as it is here.
        paid = Always(pool) if unpaced else pool
        job = self.agent.begin(self._clock(), settings, paid, started.restart)
        job.watch.expected = started.volume

    def _end(self, ended: JobEnded) -> None:
        key = (as_name(ended.job), ended.restart)
        pool = self._pools.pop(key, None)
        if pool is not None and pool.bell >= 0:
            self._selector.unregister(pool.bell)
        self._bypass.forget(key)
        self.agent.end(self._clock(), *key, ended.file)
        self._drop_alone(key)

    def _find_devices(self) -> None:
        """Where the site did not tell us what is paced, the controller may have."""
        if self._devices or self.config.paths:
            return
        paths = next((slot.job.member.paths for slot in self.agent.slots.values() if slot.job.member.paths), {})
        if paths and (found := tuple(devices_of(paths))):
            self._devices = found
            for pool in self._pools.values():
                pool.set_devices(found)

    def _compare(self, t: float) -> None:
        """Tell what went past the segments, by the kernel's count."""
        users = {key: pool.user[0] for key, pool in self._pools.items()}
        for key, each in self.agent.slots.items():
            each.job.program = self._bypass.program(key) or each.job.program
        seen = {key: pool.look() for key, pool in self._pools.items()}
        paid = {key: Bytes(each.reads, each.writes) for key, each in seen.items()}
        for key, found in self._bypass.compare(users, self._devices, paid).items():
            slot = self.agent.slots.get(key)
            if slot is not None and slot.job.past(t, found.bytes, found.words):
                self._note(key[0], f"{shown_amount(found.bytes)} went past its pacer ({found.words})", True)

    def _switch(self) -> None:
        on = not self.config.off_file.exists()
        if on != self._on:
            self._on = on
            log.warning("%s %s pacing", self.config.off_file, "is gone and no longer stops" if on else "switches off")
            self.agent.switch(self._clock(), on)

    # The connection.

    def _new_connection(self, role: str, claims: str) -> Connection:
        config = self.config
        return Connection(config.address, config.ca, role, claims, config.munge_socket)

    def _dial_if_due(self, t: float) -> None:
        for connection in (self._connection, *list(self._alone.values())):
            if (lost := connection.check(t)) is not None:
                self._take(connection, [lost])
        if self._silent(t):
            self._take(self._connection, [self._connection.given_up("nothing heard")])
        if t >= self._dial_at:
            self._dial_at = inf
            if (lost := self._connection.dial(t, self._epoch)) is not None:
                self._take(self._connection, [lost])

    def _silent(self, t: float) -> bool:
        """Whether another should be asked while leases last: every beat of an open operation is answered."""
        moving = any(slot.job.member.op is not None for slot in self.agent.slots.values())
        if not moving:
            self._heard_at = max(self._heard_at, t) if self._heard_at < inf else inf
        return bool(self.config.others) and self._connection.let_in and t > self._heard_at + 0.6 * self._lease

    def _take(self, connection: Connection, events: Sequence[Event]) -> None:
        key = next((key for key, each in self._alone.items() if each is connection), None)
        for event in events:
            t = self._clock()
            if isinstance(event, Lost):
                self._unwatch(connection)
            if key is not None:
                self._heard_alone(t, key, event)
            elif isinstance(event, Up):
                self._up(t, event.welcome)
            elif isinstance(event, Heard):
                self._heard_at = t
                self._heard(t, event.message)
            else:
                self._lost(t, event)

    def _up(self, t: float, welcome: Welcome) -> None:
        self._fails, self._tried, self._complaint = 0, 0, ""
        self._heard_at, self._lease = t, welcome.lease
        self._epoch = max(self._epoch, welcome.epoch)
        log.info("let in by %s as node %s", self.config.address, self.config.node)
        self.agent.up(t, welcome)

    def _heard(self, t: float, message: Message) -> None:
        if isinstance(message, Error):
            log.warning("the controller reports %s: %s", message.code, message.text)
            if message.fatal:  # of a version that hears nothing but lanes: leases end what it is not told
                for file in self.agent.give_up_ends():
                    self._roster.answered(file)
        if isinstance(message, Error | Answer) and (file := self.agent.answered(message.req)):
            self._roster.answered(file)
        self.agent.heard(t, message)

    def _lost(self, t: float, lost: Lost) -> None:
        if lost.refused is not None and lost.refused.text.startswith(NOT_KNOWN):
            log.warning("this controller knows no nodes; every job has a connection of its own, as root's")
            self.agent.go_alone(t, self._dial_alone)
            return
        if lost.reason != self._complaint:
            self._complaint = lost.reason
            log.warning("no controller (%s); jobs go on at their fallback rate", lost.reason)
        pause, self._heard_at = self._pause(), inf
        self._dial_at = t + max(pause, REFUSED_PAUSE if lost.refused is not None else 0.0)
        self.agent.down(t, lost.reason, lost.warning)

    def _pause(self) -> float:
        """Seconds until the next address is dialled: few, but for those after the last one, which grow."""
        addresses = (self.config.address, *self.config.others)
        self._tried += 1
        self._connection.redirect(addresses[self._tried % len(addresses)])
        if self._tried % len(addresses):
            return self._chance.uniform(0.0, NEXT_PAUSE)
        longest = min(LONGEST_PAUSE, 0.5 * 2.0 ** min(self._fails, 10))
        self._fails += 1
        return self._chance.uniform(0.1, max(longest, 2.0 if self._fails == 1 else 0.5))

    def _send(self, message: Message) -> None:
        if isinstance(message, Via) and (key := self._lane_of.get(message.lane)) is not None:
            self._send_alone(key, message)
        elif (lost := self._connection.send(message)) is not None:
            self._unwatch(self._connection)
            self._broken = lost  # members hear of it once they are done with what they are at

    # A connection for each.

    def _dial_alone(self, key: Key) -> None:
        self._drop_alone(key)
        connection = self._alone[key] = self._new_connection("client", key[0])
        if (lost := connection.dial(self._clock(), self._epoch)) is not None:
            self._heard_alone(self._clock(), key, lost)

    def _heard_alone(self, t: float, key: Key, event: Event) -> None:
        if isinstance(event, Up):
            self._lane_of[self.agent.next_lane] = key
            self.agent.alone_up(t, key, event.welcome)
        elif isinstance(event, Heard):
            self.agent.alone_heard(t, key, event.message)
        else:
            self._drop_alone(key)
            self.agent.alone_lost(t, key, event.reason, event.warning)

    def _send_alone(self, key: Key, message: Via) -> None:
        connection = self._alone.get(key)
        if connection is None:
            return
        lost = connection.send(read_client(message.body)) if message.body else None
        if lost is not None or not message.body:
            self._drop_alone(key)

    def _drop_alone(self, key: Key) -> None:
        if (connection := self._alone.pop(key, None)) is not None:
            self._unwatch(connection)
            connection.hang_up()
        self._lane_of = {lane: each for lane, each in self._lane_of.items() if each != key}

    # The selector.

    def _watch_all(self) -> None:
        for connection in (self._connection, *self._alone.values()):
            self._watch(connection)

    def _watch(self, connection: Connection) -> None:
        """Select for what a connection wants now. Its number may have been another's before."""
        if (number := connection.socket) < 0:
            return
        key = self._selector.get_map().get(number)
        if key is None:
            self._selector.register(number, connection.wanted, connection)
        elif key.data is not connection or key.events != connection.wanted:
            self._selector.modify(number, connection.wanted, connection)

    def _unwatch(self, connection: Connection) -> None:
        for key in list(self._selector.get_map().values()):
            if key.data is connection:
                with suppress(KeyError, OSError, ValueError):
                    self._selector.unregister(key.fileobj)

    def _note(self, job: str, text: str, warning: bool) -> None:
        (log.warning if warning else log.info)("job %s: %s", job, text)


def wake_by_signals(node: Node) -> None:
    """Have a signal end the wait of a turn: Python's handlers run between its instructions only."""
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    node.watch_signals(read)
