"""All jobs of a node behind one connection, with a real core in virtual time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

import pytest

from penstock.client.agent.agent import NodeAgent
from penstock.client.agent.phase_watch import UNASKED, Reading
from penstock.client.member import MemberSettings
from penstock.client.member_states import MemberState
from penstock.live.core import ControllerSettings, Core, Resource
from penstock.live.core.events import Close, Closed, Connected, Frame, Identity, Input, Send, Tick
from penstock.policies.sharing import find
from penstock.wire import messages as wire
from penstock.wire.messages import Hook, InLane, Message, Via, Welcome

MIB = float(1 << 20)


@dataclass
class FakePool:
    """A segment in which bytes move as fast as they may."""

    now: float = 100.0
    moved: float = 0.0
    last: float = -inf
    wants: bool = False
    told: list[tuple[float | None, float, float | None]] = field(default_factory=list)
    free: float = 0.0
    removed: bool = False
    on_names: FakePool | None = None

    def look(self) -> Reading:
        return Reading(self.moved, self.last, self.now if self.wants else -inf)

    def set_rate(self, rate: float | None, expiry: float, fallback: float | None) -> None:
        self.told.append((rate, expiry, fallback))

    def rest(self, fallback: float | None) -> None:
        self.told.append((0.0, -inf, fallback))
        self.free = UNASKED

    def remove(self) -> None:
        self.removed = True

    def names(self) -> FakePool | None:
        return self.on_names

    @property
    def rate(self) -> float | None:
        rate, expiry, fallback = self.told[-1]
        return rate if self.now < expiry else fallback if expiry > -inf else 0.0

    def write(self, seconds: float) -> None:
        """Move what may be moved in so many seconds."""
        free, self.free = self.free, 0.0
        more = free + (0.0 if self.rate is None else self.rate * seconds)
        self.moved += more
        self.last = self.now if more else self.last
        self.wants = True


class World:
    """One agent, one controller, no network between them that could fail unless it is told to."""

    def __init__(self, capacity: float = 60e6, **settings: object) -> None:
        self.t = 100.0
        given = {"resources": (Resource("all", capacity),), "machine_nodes": 4, "pace": 0.0}
        self.core = Core(
            ControllerSettings(**{**given, **settings}),  # type: ignore[arg-type]
            find("fair-share"), epoch=3, boot=self.t, warm=True,
        )  # fmt: skip
        self.agent = NodeAgent("n1", self.send)
        self.pools: dict[str, FakePool] = {}
        self.identity = Identity("peer", 0, "client", trusted=True, for_node=True)
        self.open: set[int] = set()
        self.said: list[Message] = []
        self._inbox: list[Input] = []
        self.up = False
        self.core.step(self.t, [Connected(1, Identity("peer", 0, "node", trusted=True, node="n1"))])

    def send(self, message: Message) -> None:
        self.said.append(message)
        if isinstance(message, Hook):
            self._inbox.append(Frame(1, message))
        elif isinstance(message, Via):
            session = message.lane + 10
            if not message.body:
                self._inbox.append(Closed(session))
                self.open.discard(session)
                return
            if session not in self.open:
                self.open.add(session)
                self._inbox.append(Connected(session, self.identity))
            self._inbox.append(Frame(session, wire.read_client(message.body)))

    def connect(self) -> None:
        self.up = True
        self.agent.up(self.t, Welcome(1, 3, 8.0, 2.0, 0.0))
        self.settle()

    def lose(self) -> None:
        self.up = False
        self._inbox += [Closed(session) for session in self.open]
        self.open.clear()
        self.settle()
        self.agent.down(self.t, "cut")
        self._inbox.clear()

    def start(self, job: str, uid: int = 1000, restart: int = 0) -> FakePool:
        pool = self.pools[f"{job}/{restart}" if restart else job] = FakePool(self.t)
        labels = {"node": "n1", "restart": str(restart)}
        settings = MemberSettings(job=job, labels=labels, fallbacks={"": 1e6}, uid=uid, seed=1)
        self.agent.begin(self.t, settings, pool, restart)
        self.settle()
        return pool

    def settle(self) -> None:
        """Both sides say all that they have to say."""
        for _ in range(50):
            inputs, self._inbox = self._inbox, []
            told = False
            for output in self.core.step(self.t, inputs or [Tick()]):
                if isinstance(output, Send) and output.session > 10 and output.session in self.open and self.up:
                    told = True
                    self.agent.heard(self.t, InLane(output.session - 10, wire.frame(output.message)[4:]))
                elif isinstance(output, Send) and output.session == 1 and isinstance(output.message, wire.Answer):
                    self.agent.answered(output.message.req)
                elif isinstance(output, Close) and output.session in self.open:
                    self.open.discard(output.session)
                    body = wire.frame(wire.Goodbye("the lane is over"))[4:]
                    self.agent.heard(self.t, InLane(output.session - 10, body))
            if not self.up:
                self._inbox.clear()
            if not told and not self._inbox:
                return
        raise AssertionError("they talk for ever")

    def pass_(self, seconds: float, step: float = 0.05, writing: tuple[str, ...] = ()) -> None:
        """Let time pass; some jobs write as much as they may."""
        end = self.t + seconds
        while self.t < end - 1e-9:
            self.t += step
            for name, pool in self.pools.items():
                pool.now = self.t
                pool.wants = False
                if name in writing:
                    pool.write(step)
            self.agent.look(self.t)
            self.settle()


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    made.connect()
    yield made


def rates(world: World) -> dict[str, float | None]:
    return {name: pool.rate for name, pool in world.pools.items()}


def test_three_jobs_share_as_they_come_and_go(world: World) -> None:
    for job in "abc":
        world.start(job, uid=1000 + ord(job))
    world.pass_(3.0, writing=("a", "b", "c"))
    assert rates(world) == {"a": 20e6, "b": 20e6, "c": 20e6}
    world.pass_(3.0, writing=("a", "b"))
    assert rates(world) == {"a": 30e6, "b": 30e6, "c": 0.0}
    world.pass_(3.0, writing=("a",))
    assert rates(world) == {"a": 60e6, "b": 0.0, "c": 0.0}
    owners = {app.job: app.uid for app in world.core.state.apps.values()}
    assert owners == {job: 1000 + ord(job) for job in "abc"}
    assert len({member.labels["node"] for member in world.core.state.members()}) == 1


def test_the_end_of_a_job_frees_its_charge_and_is_told_once(world: World) -> None:
    pool = world.start("a")
    world.pass_(2.0, writing=("a",))
    assert world.core.state.charges.used == [60e6]
    world.agent.end(world.t, "a", 0, "file")
    world.settle()
    assert pool.removed and world.core.state.charges.used == [0.0] and not world.core.state.members()
    assert sum(isinstance(message, Hook) for message in world.said) == 1
    assert not world.agent.slots


def test_an_end_is_said_again_until_it_is_answered(world: World) -> None:
    world.start("a")
    world.lose()
    world.agent.end(world.t, "a", 0, "file")
    said = len(world.said)
    world.connect()
    assert next(message for message in world.said[said:] if isinstance(message, Hook)).job == "a"
    said = len(world.said)
    world.lose()
    world.connect()
    assert not [message for message in world.said[said:] if isinstance(message, Hook)]


def test_a_late_end_of_one_life_leaves_the_next_alone(world: World) -> None:
    world.start("a", restart=0)
    world.start("a", restart=1)
    world.pass_(2.0, writing=("a", "a/1"))
    world.agent.end(world.t, "a", 0)
    world.settle()
    world.pass_(2.0, writing=("a/1",))
    assert world.pools["a/1"].rate == 60e6
    assert [member.labels["restart"] for member in world.core.state.members()] == ["1"]


def test_without_a_controller_jobs_share_what_a_node_may_use(world: World) -> None:
    world.start("a")
    world.start("b")
    world.pass_(2.0, writing=("a", "b"))
    world.lose()
    world.pass_(1.0, writing=("a", "b"))
    assert rates(world) == {"a": 30e6, "b": 30e6}  # the leases still hold
    world.pass_(9.0, writing=("a", "b"))
    node = 60e6 * 0.5 / 4
    assert rates(world) == {"a": node / 2, "b": node / 2}
    world.connect()
    world.pass_(3.0, writing=("a", "b"))
    assert rates(world) == {"a": 30e6, "b": 30e6}


def test_strangers_share_what_the_site_gives_a_node() -> None:
    world = World()
    for job in "ab":
        world.start(job)
    world.pass_(1.0, writing=("a", "b"))
    assert rates(world) == {"a": 0.5e6, "b": 0.5e6}
    world.agent.end(world.t, "b", 0)
    del world.pools["b"]
    assert rates(world) == {"a": 1e6}


def test_a_new_agent_takes_over_what_the_old_one_had(world: World) -> None:
    world.start("a")
    world.pass_(2.0, writing=("a",))
    [old] = world.core.state.members()
    world.up = False  # killed: nobody says anything
    world._inbox += [Closed(session) for session in world.open]
    world.open.clear()
    world.settle()
    world.agent = NodeAgent("n1", world.send)
    world.agent._last_lane = 1000  # sessions of a new connection have new numbers
    pool = world.start("a")
    world.connect()
    [new] = world.core.state.members()
    assert new is not old and world.core.state.charges.used == [0.0]
    world.pass_(2.0, writing=("a",))
    assert pool.rate == 60e6


def test_a_controller_that_sends_a_member_away_hears_of_it_later(world: World) -> None:
    world.start("a")
    world.start("b")
    world.pass_(2.0, writing=("a", "b"))
    world.core.step(world.t, [Connected(2, Identity("peer", 0, "admin", trusted=True))])
    world._inbox.append(Frame(2, wire.Admin(1, "evict", {"job": "a"})))
    world.settle()
    slot = world.agent.slots["a", 0]
    assert slot.job.member.state is MemberState.REFUSED and slot.lane == 0
    assert slot.dial_at >= world.t + 59.0
    world.pass_(4.0, writing=("a", "b"))
    assert world.agent.slots["b", 0].lane > 0 and slot.lane == 0
    world.lose()
    world.connect()
    assert slot.lane == 0  # not because the connection is new


def test_numbers_of_lanes_are_never_used_again(world: World) -> None:
    for turn in range(3):
        world.start(f"j{turn}")
        world.lose()
        world.connect()
    opened = [message.lane for message in world.said if isinstance(message, Via) and message.body]
    first = list(dict.fromkeys(opened))
    assert all(one < two for one, two in pairwise(first))


def test_pacing_switched_off_for_the_host(world: World) -> None:
    world.start("a")
    world.pass_(2.0, writing=("a",))
    world.agent.switch(world.t, on=False)
    world.settle()
    assert world.pools["a"].told[-1][0] is None and not world.core.state.members()
    world.agent.switch(world.t, on=True)
    world.pass_(1.0, writing=("a",))
    assert world.pools["a"].rate == 60e6


def test_operations_on_names_have_a_member_and_a_rate_of_their_own() -> None:
    world = World(resources=(Resource("all", 60e6), Resource("names", 900.0, kind="operations")))
    world.connect()
    pools = {}
    for job in "abc":
        pools[job] = FakePool(world.t, on_names=FakePool(world.t))
        world.pools[job], names = pools[job], pools[job].on_names
        assert names is not None
        world.pools[f"{job} names"] = names
        settings = MemberSettings(job=job, labels={"node": "n1", "restart": "0"}, fallbacks={"": 1e6}, uid=7, seed=1)
        world.agent.begin(world.t, settings, pools[job])
        world.settle()
    world.pass_(3.0, writing=("a", "a names", "b names", "c names"))
    assert rates(world) == {
        "a": 60e6, "b": 0.0, "c": 0.0, "a names": 300.0, "b names": 300.0, "c names": 300.0,
    }  # fmt: skip
    state = world.core.state
    assert state.charges.used == [60e6, 900.0]
    assert sorted((app.job, app.kind) for app in state.apps.values()) == sorted(
        (job, kind) for job in "abc" for kind in ("bytes", "operations")
    )
    world.agent.end(world.t, "a", 0)
    world.settle()
    assert {app.job for app in state.apps.values() if app.members} == {"b", "c"}
    world.lose()
    del world.pools["a"], world.pools["a names"]
    world.pass_(10.0, writing=("b names", "c names"))
    assert rates(world)["b names"] == 900.0 * 0.5 / 4 / 2  # two jobs share what a node may do


def test_where_operations_are_not_shared_nothing_paces_them(world: World) -> None:
    pool = world.pools["a"] = FakePool(world.t, on_names=FakePool(world.t))
    world.agent.begin(world.t, MemberSettings(job="a", fallbacks={"": 1e6}, seed=1), pool)
    world.settle()
    assert not world.agent.on_names and pool.on_names is not None and not pool.on_names.told
