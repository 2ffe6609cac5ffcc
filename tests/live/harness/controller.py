"""A controller of the virtual world: the real core and the real encodings, in a process that can die, with its disk."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.live.core import ControllerState, Core
from penstock.live.core import records as records_of_core
from penstock.live.core.events import (
    Close,
    Closed,
    Connected,
    Frame,
    Identity,
    Input,
    Output,
    ProcessDead,
    Send,
    Tick,
    WakeAt,
    WriteRecords,
)
from penstock.live.journal.segment import pack
from penstock.wire import messages as wire

from .clock import drifting
from .crash import KILL, POWER, WIPE, Disk
from .network import DOWN, UP, Link

if TYPE_CHECKING:
    from .client import Client
    from .world import World


class Controller:
    """The core in a process that can die, with its disk."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.disk = Disk()
        self.epoch = self.seq = 0
        self.warm = True
        self.clock = drifting(world.chance, world.plan.drift)
        self.up = False
        self.sessions: dict[int, Link] = {}
        self.inbox: list[Input] = []
        self.turns = 0
        self._due = False
        self._wake = 0
        self.core: Core
        self.history: list[tuple[float, list[Input], list[Output]]] = []

    def start(self, died: str | None) -> None:
        """Begin a new epoch with what the disk still knows."""
        world = self.world
        state, last = self._recovered()
        if died in (POWER, WIPE):
            # Another boot, another clock; the shell lets it go on from the last record that it finds.
            self.clock = drifting(world.chance, world.plan.drift)
            ahead = max(last, 0.0) + world.chance.uniform(0.0, 10.0) - self.t
            self.clock = replace(self.clock, offset=self.clock.offset + ahead)
        # One that died before its first record was written leaves to the next what it had to wait for.
        noted = self.warm or (state is not None and state.epoch == self.epoch)
        self.warm = died in (None, KILL) and noted
        self.epoch += 1
        self.beginning = (self.t, None if state is None else state.snapshot(), self.warm)
        self.core = world.make_core(self.epoch, self.t, state, self.warm)
        self.up = True
        self.sessions.clear()
        self.inbox.clear()
        self.history = []
        world.judge.started(died)
        self.turn([])
        world.operators.stirred()

    def _recovered(self) -> tuple[ControllerState | None, float]:
        """The state that the disk leads to, and when the last of its records was made."""
        settings, last = self.world.plan.settings, -math.inf
        state = None
        if self.disk.snapshot is not None:
            self.seq, stored = self.disk.snapshot
            state = ControllerState.restore(stored, settings)
        else:
            self.seq = 0
        for payload in self.disk.payloads():
            entry = records_of_core.decode(payload)
            state = state or ControllerState(settings)
            state.apply(entry.t, entry.record)
            self.seq, last = entry.seq, entry.t
        return state, last

    @property
    def t(self) -> float:
        """What its clock shows."""
        return self.clock.read(self.world.now)

    def hello(self, link: Link, client: Client) -> None:
        """Somebody has connected and proved who it is."""
        if not self.up or not link.up[UP] or link.noticed[UP]:
            return
        self.sessions[link.session] = link
        client.heard_at = self.world.now
        identity = self.world.identity(link, client) or self._token(client.settings.job)
        settings = self.world.plan.settings
        self.turn([Connected(link.session, identity, client.member.epoch_seen)])
        if self.up:
            welcome = wire.Welcome(link.session, self.epoch, settings.lease, settings.beat, settings.pace)
            self.world.network.send(link, DOWN, welcome)

    def hear(self, link: Link, message: wire.Message) -> None:
        """Something arrives; what arrives within the same moment makes one turn."""
        if self.up and link.session in self.sessions:
            self.world.clients[link.client].heard_at = self.world.now
            self._take(Frame(link.session, message))  # type: ignore[arg-type]

    def link_ended(self, link: Link) -> None:
        """A connection is no more."""
        if self.up and self.sessions.pop(link.session, None) is not None:
            self._take(Closed(link.session))

    def process_ended(self, app: int, member: int) -> None:
        """Proof that a process on this host is dead."""
        if self.up:
            self._take(ProcessDead(app, member))

    def _token(self, job: str) -> Identity:
        """What the house knows of a job: its nodes, and the account that pays for it."""
        nodes = sum(each.nodes for each in self.world.plan.clients if each.job == job)
        return Identity("hmac", 1000, job=job, nodes=nodes, account="ab"[int(job[3:]) % 2])

    def order(self, role: str, message: wire.Admin | wire.Hook) -> None:
        """An operator, or the batch system, says something."""
        session = self.world.network.new_session()
        identity = Identity("peer", 0, role=role, trusted=True)
        inputs: list[Input] = [Connected(session, identity), Frame(session, message), Closed(session)]
        if self.world.operators.chance.random() < 0.5:
            self.turn(inputs)
        else:  # together with whatever else comes at this moment
            for each in inputs:
                self._take(each)

    def _take(self, event: Input) -> None:
        self.inbox.append(event)
        if not self._due:
            self._due = True
            self.world.agenda.after(self.world.chance.choice((0.0, 0.0, 0.001)), self._gathered)

    def _gathered(self) -> None:
        self._due = False
        if self.up and self.inbox:
            inputs, self.inbox = self.inbox, []
            self.turn(inputs)

    def turn(self, inputs: list[Input]) -> None:
        """Let the core take what came, then write, then send; and die wherever that is asked for."""
        world, t = self.world, self.t
        world.judge.before_turn(t, inputs)
        self.turns += 1
        outputs = self.core.step(t, inputs)
        self.history.append((t, inputs, outputs))
        payloads, sends = [], []
        for output in outputs:
            if isinstance(output, WriteRecords):
                record = world.journalled(output.record)
                if record is not None:
                    self.seq += 1
                    payloads.append(records_of_core.encode(self.seq, t, record))
            elif isinstance(output, Send | Close):
                sends.append(output)
        world.judge.after_turn(t, inputs, outputs)
        death = world.death_at(self.turns, outputs, payloads, sends)
        written = b"".join(map(pack, payloads))
        if death is not None and death.bytes is not None:
            self.disk.write(written[: death.bytes])
            self.crash(death.kind, whole=death.bytes == len(written))
            return
        self.disk.write(written)
        for send in sends if death is None else sends[: death.sends]:
            self._emit(send)
        if death is not None:
            self.crash(death.kind)
            return
        if world.chance.random() < 0.3:
            self.disk.sync()
        if world.chance.random() < 0.01:
            self.disk.keep(self.seq, self.core.state.snapshot())
        for output in outputs:
            if isinstance(output, WakeAt):
                self._sleep_until(output.time)

    def _emit(self, output: Send | Close) -> None:
        link = self.sessions.get(output.session)
        if link is None:
            return
        if isinstance(output, Send):
            self.world.network.send(link, DOWN, output.message)
        else:
            del self.sessions[output.session]
            self.world.network.hang_up(link, UP)

    def _sleep_until(self, t: float) -> None:
        self._wake += 1
        wake, epoch = self._wake, self.epoch

        def ring() -> None:
            if wake == self._wake and epoch == self.epoch and self.up:
                self.turn([Tick()])

        # A real loop takes its time, too: whoever asks to be woken at once is not woken in the same instant.
        self.world.agenda.at(max(self.clock.when(t), self.world.now + 1e-9), ring)

    def crash(self, kind: str, whole: bool = True) -> None:
        """Die; somebody starts it again later. `whole`: all that was decided was written."""
        world = self.world
        world.judge.crashed(nothing_lost=whole and kind == KILL)
        self.up = False
        if kind == POWER:
            self.disk.lose_power(world.chance)
        elif kind == WIPE:
            self.disk.wipe()
        for link in self.sessions.values():
            link.up[UP] = False
            link.noticed[UP] = True
            if kind == KILL or world.chance.random() < 0.5:
                world.network.close(link, DOWN)
            else:  # a dead host says nothing
                world.agenda.after(world.chance.uniform(5.0, 30.0), lambda link=link: world.network.notice(link, DOWN))  # type: ignore[misc]
        world.agenda.after(world.chance.choice((0.1, 1.0, 3.0, 12.0)), lambda: self.start(kind))
