"""Agents of `penstock loadtest` that share one process: each has its own connection; only segments are stand-ins."""

from __future__ import annotations

import select
import selectors
import time
from collections.abc import Callable, Sequence
from functools import partial
from math import inf

from penstock.client.agent.agent import NodeAgent
from penstock.client.agent.connection import Connection, Heard, Lost, Up
from penstock.client.agent.phase_watch import Reading
from penstock.client.config import Address
from penstock.client.member import MemberSettings
from penstock.errors import PenstockError
from penstock.wire.messages import Message

VOLUME = 1e17  # bytes of a phase: it lasts as long as the test
PATIENCE = 180.0  # seconds for anything that takes a few
DUE_EVERY = 0.1  # seconds between looks at who is to beat


def now() -> float:
    """The time of segments and agents."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class AgentLoadFailed(PenstockError):
    """The controller did not do what the test is about."""


class StandIn:
    """In place of a segment: a program has announced a phase, and moves what it may."""

    def __init__(self) -> None:
        self.rate: float | None = None
        self._moved, self._since = 0.0, now()

    def look(self) -> Reading:
        """A phase without an end, in which all is moved that may be: who uses little is granted little."""
        t = now()
        self._moved += (self.rate or 0.0) * (t - self._since)
        self._since = t
        return Reading(self._moved, t, announced=VOLUME)

    def set_rate(self, rate: float | None, expiry: float, fallback: float | None) -> None:
        """Note it."""
        self.look()
        self.rate = rate

    def rest(self, fallback: float | None) -> None:
        """Nothing to do."""

    def remove(self) -> None:
        """Nothing to do."""

    def names(self) -> None:
        """These are not paced here."""


class VirtualAgent:
    """One agent with one job; `arrived` is when its socket last got something to read."""

    def __init__(self, name: str, job: str, uid: int, address: Address) -> None:
        self.name, self.pool, self.arrived = name, StandIn(), -inf
        self.connection = Connection(address, None, "node", name)
        self.agent = NodeAgent(name, self._send)
        self._settings = MemberSettings(job=job, labels={"node": name, "restart": "0"}, uid=uid)

    def dial(self, t: float) -> None:
        """Connect, and begin the job."""
        self.agent.begin(t, self._settings, self.pool)
        self.agent.look(t)
        if (lost := self.connection.dial(t, 0)) is not None:
            raise AgentLoadFailed(f"an agent cannot connect ({lost.reason})")

    def work(self, t: float) -> None:
        """Take what is there off the socket, and see to it and to what is due."""
        for event in self.connection.ready(t, selectors.EVENT_READ):
            if isinstance(event, Up):
                self.agent.up(t, event.welcome)
            elif isinstance(event, Heard):
                self.agent.heard(t, event.message)
            else:
                raise AgentLoadFailed(f"the controller hung up on an agent ({event.reason})")
        self.agent.due(t)

    def _send(self, message: Message) -> None:
        if isinstance(self.connection.send(message), Lost):
            raise AgentLoadFailed("the controller does not read what an agent says")


class Virtual:
    """All of them in one loop: `listen` notes whose sockets get something, `turn` reads that and sees to it.

    Sockets tell once for whatever they get, so nothing has to be read for the next one to be noted in time.
    """

    def __init__(self, agents: list[VirtualAgent]) -> None:
        self.agents = agents
        self._poll = select.epoll()
        self._by_socket: dict[int, VirtualAgent] = {}
        self._heard: dict[VirtualAgent, None] = {}
        self._due_at = -inf

    def dial(self, at_once: int = 100) -> None:
        """Bring all in, some at a time."""
        for start in range(0, len(self.agents), at_once):
            some = self.agents[start : start + at_once]
            for agent in some:
                agent.dial(now())
                self._by_socket[agent.connection.socket] = agent
                self._poll.register(agent.connection.socket, select.EPOLLIN | select.EPOLLET)
            self.until(partial(_all_told, some), PATIENCE)

    def until(self, true: Callable[[], bool], seconds: float) -> None:
        """Work until something is so."""
        deadline = time.monotonic() + seconds
        while not true():
            if time.monotonic() > deadline:
                raise AgentLoadFailed(f"not all agents were told a rate within {seconds:g} s")
            self.turn(0.05)

    def listen(self, seconds: float) -> bool:
        """Note whose sockets get something; whether there are any. `turn` sees to it."""
        ready = self._poll.poll(seconds, len(self.agents) + 1)
        t = now()
        for number, _ in ready:
            agent = self._by_socket[number]
            agent.arrived = t
            self._heard[agent] = None
        return bool(ready)

    def turn(self, seconds: float) -> None:
        """Wait; see to what came, and to what is due."""
        self.listen(seconds)
        heard, self._heard = self._heard, {}
        t = now()
        for agent in heard:
            agent.work(t)
        if t >= self._due_at:
            self._due_at = t + DUE_EVERY
            for agent in self.agents:
                if agent.agent.wake <= t:
                    agent.agent.look(t)

    def close(self) -> None:
        """Hang up."""
        for agent in self.agents:
            agent.connection.hang_up()
        self._poll.close()


def _all_told(agents: Sequence[VirtualAgent]) -> bool:
    return all(agent.pool.rate is not None for agent in agents)
