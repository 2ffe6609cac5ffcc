"""A core and those who talk to it, at one's own pace: every answer is kept, and every record is applied a second time.

The twin is a state that only ever sees records, as they come back from their bytes. It must go along with the core's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.live.core import ControllerSettings, ControllerState, Core, Member, Resource, Stage, records
from penstock.live.core.events import (
    Close,
    Closed,
    Connected,
    Frame,
    Identity,
    Input,
    Output,
    Send,
    Tick,
    WakeAt,
    WriteRecords,
)
from penstock.policies.sharing import find
from penstock.wire import messages as wire

EPOCH = 7
CAPACITY = 100.0


def settings_of(**given: Any) -> ControllerSettings:
    usual = {"resources": (Resource("all", CAPACITY),), "machine_nodes": 10, "pace": 0.0, "epsilon": 0.0}
    return ControllerSettings(**{**usual, **given})


class Talk:
    """A core at time `now`. Members do as they should: they keep the newest rate, and ack when they are told to."""

    def __init__(
        self,
        policy: Any = "fair-share",
        *,
        warm: bool = True,
        state: ControllerState | None = None,
        now: float = 0.0,
        epoch: int = EPOCH,
        settings: ControllerSettings | None = None,
        **given: Any,
    ) -> None:
        self.settings = settings or settings_of(**given)
        self.twin = (
            ControllerState(self.settings)
            if state is None
            else ControllerState.restore(state.snapshot(), self.settings)
        )
        self.core = Core(self.settings, find(policy), epoch=epoch, boot=now, state=state, warm=warm)
        self.now = now
        self.peers: dict[int, Peer] = {}
        self.closed: dict[int, str] = {}
        self.records: list[records.StateChange] = []
        self.said: dict[int, list[wire.Message]] = {}
        self.wake = float("inf")
        self.seq = 0
        self.step()

    @property
    def state(self) -> ControllerState:
        return self.core.state

    def step(self, *inputs: Input, after: float = 0.0) -> list[Output]:
        self.now += after
        outputs = self.core.step(self.now, inputs or [Tick()])
        self.wake = float("inf")
        for output in outputs:
            match output:
                case WriteRecords(record):
                    self._journal(record)
                case Send(session, message):
                    self.said.setdefault(session, []).append(message)
                    if session in self.peers:
                        self.peers[session].hear(message)
                case Close(session, code):
                    self.closed[session] = code
                case WakeAt(time):
                    self.wake = time
                    assert time >= self.now
        self.check()
        return outputs

    def _journal(self, record: wire.Message) -> None:
        self.seq += 1
        entry = records.decode(records.encode(self.seq, self.now, record))
        assert (entry.seq, entry.t, entry.record) == (self.seq, self.now, record)
        self.records.append(record)  # type: ignore[arg-type]
        self.twin.apply(entry.t, entry.record)

    def check(self) -> None:
        """The twin knows the same, and nothing is charged that is not there unless it was forced."""
        self.twin.now = max(self.twin.now, self.state.now)
        assert known(self.twin) == known(self.state)
        assert lost_by_place(self.state) == {
            app.place: app.since - app.release - app.progress
            for app in self.state.apps.values()
            if app.members and not app.active
        }
        used = [0.0] * len(self.state.capacity)
        lost = dict.fromkeys(wire.KINDS, 0.0)
        for member in self.state.members():
            lost[member.app.kind] += member.nodes if member.stage is Stage.LOST else 0.0
        for member in self.state.members():
            alike = lost[member.app.kind]
            part = min(1.0, self.settings.machine_nodes / alike) if member.stage is Stage.LOST else 1.0
            for k, amount in amounts(self.state, member):
                used[k] += part * amount
        assert np.allclose(used, self.state.charges.used, rtol=1e-9, atol=1e-9)

    def sleep(self, seconds: float) -> list[Output]:
        """Let time pass, waking the core whenever it wants to be."""
        outputs: list[Output] = []
        until = self.now + seconds
        for _ in range(10_000):
            if self.wake > until:
                break
            self.now = self.wake
            outputs += self.step()
        else:
            raise AssertionError("the core wants to be woken again and again")
        self.now = until
        return outputs + self.step()

    def connect(self, session: int | None = None, **identity: Any) -> int:
        session = max([0, *self.core.sessions, *self.closed]) + 1 if session is None else session
        self.step(Connected(session, Identity(**{"kind": "peer", "uid": 1000, **identity})))
        return session

    def join(self, job: str = "a", **given: Any) -> Peer:
        """A new member, registered."""
        known = ("uid", "role", "nodes_proved", "account", "trusted")
        who: dict[str, Any] = {name: given.pop(name) for name in known if name in given}
        if "nodes_proved" in who:
            who["nodes"] = who.pop("nodes_proved")
        elif "nodes" in given or "labels" in given:
            who.setdefault("trusted", True)  # whose word on its nodes counts
        peer = Peer(self, self.connect(**who), job)
        peer.say(wire.Register(peer.ask(), job, **{"member": 0, **given}))
        return peer

    def say(self, session: int, message: wire.Message) -> list[wire.Message]:
        """What is answered to this one."""
        before = len(self.said.get(session, []))
        self.step(Frame(session, message))  # type: ignore[arg-type]
        return self.said.get(session, [])[before:]

    def admin(self, verb: str, **args: Any) -> Any:
        session = self.connect(role="admin", uid=0)
        (answer,) = (each for each in self.say(session, wire.Admin(1, verb, args)) if not isinstance(each, wire.Rate))
        assert isinstance(answer, wire.Answer | wire.Error)
        return answer.body if isinstance(answer, wire.Answer) else answer

    def quiet(self) -> None:
        """Everyone acks what it was told until nobody is told anything new."""
        self.quiet_but(None)

    def quiet_but(self, deaf: Peer | None) -> None:
        """The same without one of them."""
        for _ in range(100):
            late = [peer for peer in self.peers.values() if peer.late and peer is not deaf]
            if not late:
                return
            self.step(*(Frame(peer.session, peer.an_ack()) for peer in late))
        raise AssertionError("rates change for ever")

    def made(self, kind: type[records.StateChange]) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]


class Peer:
    """A member's end of a connection."""

    def __init__(self, talk: Talk, session: int, job: str) -> None:
        self.talk, self.session, self.job = talk, session, job
        talk.peers[session] = self
        self.app = self.number = -1
        self.fallback: dict[str, float] = {}
        self.told: list[wire.Rate] = []
        self.errors: list[wire.Error] = []
        self.hb = self.op = self.req = 0
        self.late = False

    def ask(self) -> int:
        self.req += 1
        return self.req

    def hear(self, message: wire.Message) -> None:
        match message:
            case wire.Registered(_, app, number, fallback):
                self.app, self.number, self.fallback = app, number, fallback
            case wire.Rate() as rate:
                self.told.append(rate)
                self.late = True
            case wire.Error() as error:
                self.errors.append(error)

    @property
    def member(self) -> Member:
        found = self.talk.state.find(self.app, self.number)
        assert found is not None
        return found

    @property
    def rate(self) -> float:
        return self.told[-1].rate

    @property
    def stage(self) -> Stage:
        return self.member.stage

    def say(self, message: wire.Message) -> list[wire.Message]:
        return self.talk.say(self.session, message)

    def a_post(self, volume: float = 1000.0, **given: Any) -> Frame:
        self.op += 1
        self.hb += 1
        return Frame(self.session, wire.Post(self.ask(), self.op, self.hb, volume, **given))

    def post(self, volume: float = 1000.0, **given: Any) -> None:
        self.talk.step(self.a_post(volume, **given))

    def next_hb(self) -> int:
        self.hb += 1
        return self.hb

    def an_ack(self) -> wire.Ack:
        self.late = False
        return wire.Ack(self.told[-1].epoch, self.told[-1].rev)

    def ack(self) -> None:
        self.say(self.an_ack())

    def beat(self, done: float = 0.0) -> None:
        self.hb += 1
        last = self.told[-1] if self.told else wire.Rate(0, 0, 0, 0.0, 0)
        self.late = False
        self.say(wire.Beat(self.hb, last.epoch, last.rev, done))

    def complete(self, done: float = 1000.0) -> None:
        self.late = False
        self.say(wire.Complete(self.op, done))

    def cut(self) -> None:
        self.late = False
        self.talk.step(Closed(self.session))

    def move(self, talk: Talk) -> None:
        """Talk to another core from the next connection on."""
        self.talk, self.session = talk, -1

    def back(self, **given: Any) -> None:
        """A new connection, and a Resync with the operation that is open unless told otherwise."""
        self.talk.peers.pop(self.session, None)
        self.session = self.talk.connect()
        self.talk.peers[self.session] = self
        self.hb += 1
        last = self.told[-1] if self.told else wire.Rate(0, 0, 0, 0.0, 0)
        now = {"epoch": last.epoch, "rev": last.rev, "rate": last.rate, "job": self.job, **given}
        now.setdefault("op", wire.OpenOp(self.op, 1000.0, 0.0, "write", (), 1.0))
        self.say(wire.Resync(self.ask(), now.pop("app", self.app), self.number, lease_left=1.0, hb=self.hb, **now))


def amounts(state: ControllerState, member: Member) -> list[tuple[int, float]]:
    """What a member is charged with, worked out plainly."""
    if member.stage is Stage.LOST:
        strict = state.settings.reserve == "strict"
        return [] if strict else [(state.routes.place[name], rate) for name, rate in member.fallback.items()]
    if member.op is None:
        return []
    return [(k, share * member.charge) for k, share in member.op.route.shares]


def lost_by_place(state: ControllerState) -> dict[int, float]:
    """Seconds that those have lost that compute."""
    lost = state.losses._lost
    return {int(place): float(lost[place]) for place in np.flatnonzero(~np.isnan(lost))}


def known(state: ControllerState) -> dict[str, Any]:
    """All that records must bring back."""
    rows = state.rows
    rest = ("capacity", "chosen", "draining", "fenced", "exempt", "jobs", "decisions", "failures", "sharing")
    columns = {name: getattr(rows, name)[: rows.count].tobytes() for name in rows.columns}
    return {
        "apps": [_known_app(app) for app in state.apps.values()],
        "members": [_known_member(member) for member in state.members()],
        "rows": [(row.key, list(row.members)) for row in rows.rows],
        "columns": columns,
        "memory": {name: each.tobytes() for name, each in state.memory.numbers.items()},
        "charged": list(state.charges.outside()),
        "lost": lost_by_place(state),
        "rest": [getattr(state, name) for name in rest],
    }


def _known_app(app: Any) -> list[Any]:
    return [repr(getattr(app, name)) for name in app.__slots__ if name != "members"]


def _known_member(member: Member) -> list[Any]:
    names = ("key", "stage", "nodes", "cap", "fallback", "labels", "last_op", "rate", "charge", "lost_at", "usable")
    op = member.op and (member.op.number, member.op.volume, member.op.done, member.op.reported, member.op.since)
    return [*(getattr(member, name) for name in names), op, member.free is None]
