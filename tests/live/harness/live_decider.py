"""The controller's core and real members as the ones who decide, with no delay between them.

Leases are long and nobody beats, so nothing happens between two instants of the simulator. At an instant the core hears
of everything that happened, decides once, tells rates, hears acks, raises others, and so on until all is quiet.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np

from penstock.client import events as client_events
from penstock.client import member as client_side
from penstock.client.member import Member
from penstock.engine.program import Program
from penstock.kernels.arrays import Floats
from penstock.live.core import ControllerSettings, Core, Resource
from penstock.live.core.events import Connected, Frame, Identity, Input, Send, Tick
from penstock.policies.sharing import Sharing
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.view import View
from penstock.wire import messages as wire

from .lockstep import Decider

AGES = 1e15


def with_foresight(policy: Sharing, foresight: Foresight | None) -> Sharing:
    """A policy that plans ahead, told of the future once and for all; any other as it is."""
    if policy.prepare is None or foresight is None:
        return policy
    memory = policy.initial_memory(len(foresight.names), foresight)

    def decide(view: View, rates: Floats) -> None:
        policy.decide(view._replace(memory=memory), rates)

    return replace(policy, decide=decide, plain=decide, compiled=False, prepare=None, memory=0)


class LiveDecider(Decider):
    """Application i of the program is the one member of job i, on session i + 1."""

    def __init__(self, program: Program, policy: Sharing, origin: float) -> None:
        self.program, self.origin = program, origin
        settings = ControllerSettings(
            resources=(Resource("all", program.capacity),),
            machine_nodes=int(program.nodes.sum()),
            sharing=policy.name,
            lease=AGES,
            beat=AGES / 2,
            ping=AGES,
            pace=0.0,
            epsilon=0.0,
            max_wait=AGES,
            forget=AGES,
            window_begin=program.begin - origin,
            window_end=program.end - origin if program.windowed else None,
        )
        self.core = Core(settings, policy, epoch=1, boot=0.0, warm=True)
        self.turns = self.messages = 0
        self.inputs: list[Input] = []
        self.members = [self._member(i) for i in range(len(program.names))]
        # In the order of the scenario, which breaks ties; they come back when they are released.
        for i in range(len(self.members)):
            self._register(i)
            self._say(i, wire.Goodbye())
        self._turn()

    def _member(self, i: int) -> Member:
        settings = client_side.MemberSettings(
            job=self.program.names[i], nodes=int(self.program.nodes[i]), max_wait=AGES, ping=AGES, member=1, seed=0
        )
        member = Member(settings)
        member.step(0.0, client_events.LinkUp(wire.Welcome(i + 1, 1, AGES, AGES / 2, 0.0)))
        self.inputs.append(
            Connected(i + 1, Identity("peer", 1000, job=self.program.names[i], nodes=int(self.program.nodes[i])))
        )
        return member

    def _register(self, i: int, release: float = 0.0) -> None:
        program = self.program
        self._say(
            i, wire.Register(1, program.names[i], 1, int(program.nodes[i]), None, release, float(program.progress[i]))
        )

    def released(self, application: int) -> None:
        ago = float(self.program.start[application] - self.program.release[application])
        self._register(application, ago)

    def posted(self, application: int, operation: int) -> None:
        outputs = self.members[application].step(self.now, client_events.Begin(float(self.program.volume[operation])))
        self._do(application, outputs, operation)

    def completed(self, application: int, operation: int) -> None:
        done = float(self.program.volume[operation])
        self._do(application, self.members[application].step(self.now, client_events.End(done)))

    def finished(self, application: int) -> None:
        self._say(application, wire.Goodbye())

    def rates(self, active: list[int]) -> list[float]:
        if self.inputs or active:
            self._turn()
        found = [self.members[i].rate for i in active]
        assert None not in found
        return found

    def _turn(self) -> None:
        """Let the core and the members talk until they have nothing more to say."""
        inputs, self.inputs = self.inputs or [Tick()], []
        while inputs:
            self.turns += 1
            for output in self.core.step(self.now, inputs):
                if isinstance(output, Send):
                    self.messages += 1
                    i = output.session - 1
                    self._do(i, self.members[i].step(self.now, client_events.Received(output.message)))
            inputs, self.inputs = self.inputs, []

    def _do(self, i: int, outputs: list[client_events.Output], operation: int | None = None) -> None:
        for output in outputs:
            if isinstance(output, client_events.SendTo):
                message = output.message
                if isinstance(message, wire.Post) and operation is not None:
                    cap, work = float(self.program.limit[operation]), float(self.program.work[operation])
                    message = msgspec.structs.replace(message, cap=cap, work=work)
                self._say(i, message)

    def _say(self, i: int, message: wire.Message) -> None:
        body = wire.frame(message)[4:]
        self.inputs.append(Frame(i + 1, wire.read_client(body)))


def first_difference(mine: Floats, theirs: Floats) -> str:
    """Where two columns part, for a person."""
    if mine.shape != theirs.shape:
        return f"{mine.size} entries instead of {theirs.size}"
    places = np.flatnonzero(~((mine == theirs) | (np.isnan(mine) & np.isnan(theirs))))
    return f"entry {places[0]}: {mine[places[0]]!r} instead of {theirs[places[0]]!r}" if places.size else ""
