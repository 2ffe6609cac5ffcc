"""Agents of nodes: members of several jobs share a connection, and so their luck; one that is killed takes all along.

What an agent paces outlives it: programs go on by its segments, at the rate in there until the lease is over or the
agent counts as dead, then at the fallback. The next agent of the node puts them to rest, registers its jobs anew, and
the controller may forget at once what the one before it had. A word of the dead one may still be under way then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from penstock.client import events as client_events
from penstock.client.agent.segment_pool import ALIVE, RENEW
from penstock.live.core import records as records_of_core
from penstock.live.core.events import Identity, Input, Output, WriteRecords

from .client import LEASE, Client
from .judge import Judge, Key
from .network import Link
from .plan import Plan
from .world import World

MEMBERS = 3  # of an agent, at most
NOTICED = 1.0  # seconds above which nobody waits for a dead agent
LITTLE = 1.0  # bytes: no phase is shorter


def node_of(index: int) -> int:
    """The node that a client is on."""
    return index // MEMBERS


def behind_agents(plan: Plan) -> Plan:
    """The same run, with clients on nodes that they share. Each is of another life, so none replaces its neighbour.

    An agent sees bytes and not where they go: its phases name no targets.
    """
    clients = (
        replace(each, uid=1000, nodes=1, labels={"node": f"n{node_of(index)}", "restart": str(index)})
        for index, each in enumerate(plan.clients)
    )
    routes = tuple(dict.fromkeys((direction, ()) for direction, _ in plan.routes))
    return replace(plan, clients=tuple(clients), routes=routes)


class Programs(Client):
    """What an agent paces: the programs of one job, and the agent's member for them. `pacer` is their segment.

    `alive` and `stopped` are the agent's. Programs go on in any case.
    """

    alive_until = math.inf  # on the local clock: by then the agent counts as dead, unless it says that it lives

    # What really happens.

    @property
    def busy(self) -> bool:
        """Whatever becomes of the agent."""
        return self.route is not None

    def in_time(self) -> bool:
        """Whether the rate in the segment counts."""
        return super().in_time() and self.local < self.alive_until

    def ends(self) -> tuple[float, ...]:
        """The end of the lease, and that of the agent."""
        return self.pacer.expiry, self.alive_until

    def _living(self, action: Callable[[], None]) -> Callable[[], None]:
        run = self._runs

        def act() -> None:
            if run == self._runs:
                action()

        return act

    _runs = 0  # of the job
    _phases = _known_phase = 0  # of the programs, and the last that the agent knows of

    def _compute_is_over(self) -> None:
        if self.route is None:
            self._phases += 1
            super()._compute_is_over()

    # The agent.

    def born(self) -> None:
        """The next agent takes the segment over before it says anything to anybody."""
        kept = (self.route, self.shares, self.told_for, self.really) if self.lives else None
        left = 0.0
        if kept is not None:
            self.settle()
            left = self.volume - self.moved
        super().born()
        self.alive_until = math.inf
        if kept is not None and kept[0] is not None:
            self.route, self.shares, self.told_for, self.really = kept
            self.announced = self.volume = max(left, LITTLE)
            self._catch_up()

    def die(self) -> None:
        """The job is over on this node, with its programs and its segment."""
        self._runs += 1
        super().die()

    def lose_agent(self) -> None:
        """The agent is killed; the host closes what it had open, and programs go on."""
        route = self.route
        super().die()
        self.route = route
        self._abandoned()

    def stop(self) -> None:
        """The agent stands still."""
        super().stop()
        self._abandoned()

    def go_on(self) -> None:
        """The agent goes on where it was, says that it lives, and looks at what its programs did meanwhile."""
        if self.alive and self.stopped:
            self.settle()
            self.alive_until = math.inf
            super().go_on()
            self._catch_up()

    def _abandoned(self) -> None:
        """It said last that it lives a while ago."""
        self.alive_until = self.local + ALIVE - self.chance.uniform(0.0, RENEW)
        self._look_ahead()

    def _catch_up(self) -> None:
        """What a look at the segment tells: a phase is over, another is open, it is longer than was thought."""
        op = self.member.op
        if op is not None and self._known_phase != self._phases:
            self.step(client_events.End(op.volume))
        if self.member.op is None and self.route is not None:
            self.step(client_events.Begin(self.announced, *self.route))
        elif op is not None and self.announced > op.volume:
            self.step(client_events.ExtendPhase(self.announced - op.volume))

    def step(self, event: client_events.Event) -> None:
        """Tell the agent; one that stands still or is dead hears nothing of what programs do."""
        if isinstance(event, client_events.SeenOn):
            return
        if self.alive and not self.stopped:
            if isinstance(event, client_events.Begin):
                self._known_phase = self._phases
            super().step(event)
        else:
            self._look_ahead()


class AgentJudge(Judge):
    """Also believes that a member is over whose agent is dead, if that is so. Nobody is to wait for a dead agent."""

    def _speakers(self, inputs: Sequence[Input], outputs: Sequence[Output]) -> set[Key]:
        found = super()._speakers(inputs, outputs)
        for output in outputs:
            gone = output.record if isinstance(output, WriteRecords) else None
            if isinstance(gone, records_of_core.Gone) and gone.reason == "another agent speaks for its node":
                key = gone.app, gone.member
                self.seen["replaced"] += 1
                for client in self.world.clients:
                    if key in client.keys:
                        own = client.member.app, client.member.member
                        self.expect(own != key or not client.alive, f"{client} was replaced by one before it")
                found.add(key)
        return found

    def _client(self, client: Client, rate: float, by: str) -> None:
        assert isinstance(client, Programs)
        super()._client(client, rate, by)
        if client.route is None or client.alive_until == math.inf:
            return
        if rate > 0.0:
            self.seen["by a dead agent's segment" if by == LEASE else "without an agent"] += 1
        late = client.local - client.alive_until
        self.expect(
            late <= NOTICED or rate > 0.0 or client.fallback == 0.0,
            f"{client} has waited for {late:g} s for an agent that is dead",
        )


class AgentWorld(World):
    """Clients of a node come, go, are cut off, stopped and killed together."""

    client_class = Programs

    def __init__(self, plan: Plan, judge: Any, deaths: Any = None) -> None:
        super().__init__(behind_agents(plan), judge, deaths)
        cut, block, unblock = self.network.cut, self.network.block, self.network.unblock

        def cut_all(link: Link, unnoticed: float = 0.1) -> None:
            for other in self._same_node(link):
                cut(other, unnoticed)

        self.network.cut = cut_all  # type: ignore[method-assign]
        self.network.block = lambda client, ways: [block(each, ways) for each in self._neighbours(client)]  # type: ignore
        self.network.unblock = lambda client: [unblock(each) for each in self._neighbours(client)]  # type: ignore

    def identity(self, link: Link, client: Client) -> Identity:
        """The agent's, whose connections have rising numbers."""
        return Identity("peer", 0, "client", trusted=True, for_node=True, connection=link.session)

    def _neighbours(self, index: int) -> list[int]:
        return [each.index for each in self.clients if node_of(each.index) == node_of(index)]

    def _same_node(self, link: Link) -> list[Link]:
        return [
            each
            for each in self.network.links
            if node_of(each.client) == node_of(link.client) and not all(each.noticed)
        ]

    def _stop(self) -> None:
        first = self.chance.choice(self.clients)
        lasting = self.chance.choice((1.0, 6.0, 20.0))
        for client in (self.clients[index] for index in self._neighbours(first.index)):
            if client.alive and not client.stopped:
                client.stop()
                life = client.lives
                self.agenda.after(
                    lasting,
                    lambda client=client, life=life: client.go_on() if client.lives == life else None,  # type: ignore[misc]
                )

    def _death(self) -> None:
        """The agent is killed, and another one comes."""
        first = self.chance.choice(self.clients)
        again = self.chance.choice((0.5, 5.0, 30.0))
        for client in (self.clients[index] for index in self._neighbours(first.index)):
            if client.alive:
                assert isinstance(client, Programs)
                client.lose_agent()
                self._replace(client, again)

    def _replace(self, client: Programs, after: float) -> None:
        lives = client.lives

        def come() -> None:
            if client.lives == lives:  # its job may have ended, and another begun
                client.born()

        self.agenda.after(after, come)
