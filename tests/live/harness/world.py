"""A controller and its clients in virtual time: the real core, the real members, the real encodings, and bad luck."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from penstock.client.member import Member
from penstock.live.core import ControllerState, Core
from penstock.live.core import records as records_of_core
from penstock.live.core.events import Identity, Output, WriteRecords
from penstock.wire import messages as wire

from .client import Client
from .clock import Agenda, drifting
from .controller import Controller
from .crash import Death, any_death
from .network import DOWN, UP, Link, Network
from .operators import VERBS, Operators
from .plan import Plan

ORDERS = {records_of_core.Commanded, records_of_core.Evicted}  # what operators change
MOST_EVENTS = 100_000  # in one run; ten thousand are many


class Endless(AssertionError):
    """A run that does not come to its end: somebody asks to be woken again and again."""


def _known(state: ControllerState) -> list[tuple[object, ...]]:
    """What records must bring back: who is there, with what, at which charge."""
    return [
        (member.key, member.stage, member.charge, member.rate, member.op and (member.op.number, member.op.volume))
        for member in state.members()
    ]


class World:
    """One run. `judge` is told of everything; the core, members and clients can be replaced by weaker ones."""

    member_class: type[Member] = Member
    client_class: type[Client] = Client

    def __init__(self, plan: Plan, judge: Any, deaths: dict[int, Death] | None = None) -> None:
        self.plan, self.judge = plan, judge
        self.chance = random.Random(f"{plan.seed} world")
        self.agenda = Agenda()
        self.deaths = deaths
        self.highest = {each.name: each.capacity for each in plan.settings.resources}  # that were ever in force
        self.lowest = dict(self.highest)
        judge.begin(self)
        self.clients: list[Client] = []
        self.network = Network(
            self.agenda, random.Random(f"{plan.seed} network"), plan.weather, self._deliver, self._ended
        )
        self.operators = Operators(self)
        self.controller = self.make_controller()
        self.controller.start(None)
        for index, settings in enumerate(plan.clients):
            self.clients.append(self.client_class(self, index, settings, drifting(self.chance, plan.drift)))
        for seconds, trouble in (
            (plan.troubles.partition, self._partition),
            (plan.troubles.stop, self._stop),
            (plan.troubles.death, self._death),
            *((getattr(plan.troubles, verb), getattr(self.operators, verb)) for verb in (*VERBS, "hook")),
        ):
            if seconds < math.inf:
                self._now_and_then(seconds, trouble)

    @property
    def now(self) -> float:
        """True time."""
        return self.agenda.now

    def make_controller(self) -> Controller:
        """The one that leads at the beginning."""
        return Controller(self)

    def answering(self, client: Client) -> Controller | None:
        """Who listens at the address that a client dials now."""
        return self.controller if self.controller.up and self.network.reaches(client.index) else None

    def connected(self, link: Link, controller: Controller) -> None:
        """A client has dialled."""

    def listener(self, link: Link) -> Controller:
        """Who is at the other end of a link."""
        return self.controller

    def make_core(self, epoch: int, boot: float, state: ControllerState | None, warm: bool) -> Core:
        """A core for a new epoch."""
        return Core(self.plan.settings, self.plan.policy, epoch=epoch, boot=boot, state=state, warm=warm)

    def identity(self, link: Link, client: Client) -> Identity | None:
        """Who connects, if it does not come with a token."""
        return None

    def journalled(self, record: wire.Message) -> wire.Message | None:
        """A record as it goes to the disk; None: it does not."""
        return record

    def run(self) -> None:
        """Go on to the end, judged after everything that happens."""
        self.run_until(self.plan.seconds)
        self.judge.over()

    def run_until(self, time: float) -> None:
        """Go on for a while."""
        while self.agenda.step(time):
            self.judge.look()
            if self.agenda.happened > MOST_EVENTS:
                raise Endless(f"seed {self.plan.seed}: {MOST_EVENTS:,} things happened until t = {self.now:.6f} s")

    def check_replay(self) -> str:
        """What differs when a core of the same beginning takes the same inputs, and when its records are applied."""
        boot, stored, warm = self.controller.beginning
        settings = self.plan.settings

        def beginning() -> ControllerState | None:
            return None if stored is None else ControllerState.restore(stored, settings)

        again = self.make_core(self.controller.epoch, boot, beginning(), warm)
        state = beginning() or ControllerState(settings)
        for t, inputs, outputs in self.controller.history:
            if again.step(t, inputs) != outputs:
                return f"at t = {t!r} the same inputs led to other outputs"
            for output in outputs:
                if isinstance(output, WriteRecords):
                    state.apply(t, output.record)
        return "" if _known(state) == _known(self.controller.core.state) else "the records lead to another state"

    def death_at(
        self, turn: int, outputs: list[Output], payloads: list[bytes], sends: Sequence[object]
    ) -> Death | None:
        """Whether the controller dies in this turn, and where in it."""
        if self.deaths is not None:
            return self.deaths.get(turn)
        troubles = self.plan.troubles
        made = {type(each.record) for each in outputs if isinstance(each, WriteRecords)}
        if records_of_core.Expired in made:
            danger = troubles.crash_at_expiry
        else:
            danger = max(troubles.crash, troubles.crash_at_order) if made & ORDERS else troubles.crash
        if self.chance.random() < danger and turn > 1:
            death = any_death(self.chance, payloads, len(sends))
            return replace(death, kind=self.chance.choice(troubles.kinds))
        return None

    def _deliver(self, link: Link, way: int, message: wire.Message) -> None:
        if way == UP:
            self.listener(link).hear(link, message)
        else:
            client = self.clients[link.client]
            client.soon(client.hear, link, message)

    def _ended(self, link: Link, way: int) -> None:
        if way == UP:
            self.listener(link).link_ended(link)
        else:
            client = self.clients[link.client]
            client.soon(client.link_ended, link)

    def order(self, verb: str, args: dict[str, Any]) -> None:
        """An operator says something, if there is a controller that hears it."""
        if not self.controller.up:
            return
        if verb == "capacity" and args["resource"] in self.highest:
            name, capacity = args["resource"], args["capacity"]
            self.highest[name] = max(self.highest[name], capacity)
            self.lowest[name] = min(self.lowest[name], capacity)
        self.controller.order("admin", wire.Admin(1, verb, args))

    # Troubles.

    def _now_and_then(self, seconds: float, trouble: Callable[[], None]) -> None:
        def happen() -> None:
            trouble()
            self._now_and_then(seconds, trouble)

        self.agenda.after(self.chance.expovariate(1.0 / seconds), happen)

    def _partition(self) -> None:
        """Cut somebody, or everybody, off; both ways or one; the links may break, or hold back what is sent."""
        chance = self.chance
        victims = range(len(self.clients)) if chance.random() < 0.2 else [chance.randrange(len(self.clients))]
        ways = chance.choice(((UP, DOWN), (UP, DOWN), (UP,), (DOWN,)))
        lasting = chance.choice((1.0, 5.0, 15.0, 40.0))
        for victim in victims:
            self.network.block(victim, ways)
            if chance.random() < 0.5:
                for link in self.network.links:
                    if link.client == victim:
                        self.network.cut(link, unnoticed=0.5)
            self.agenda.after(lasting, lambda victim=victim: self._reunite(victim))  # type: ignore[misc]
        self.operators.stirred()

    def _reunite(self, victim: int) -> None:
        self.network.unblock(victim)
        self.operators.stirred()

    def _stop(self) -> None:
        client = self.chance.choice(self.clients)
        if client.alive and not client.stopped:
            client.stop()
            life = client.lives
            self.agenda.after(
                self.chance.choice((1.0, 6.0, 20.0)), lambda: client.go_on() if client.lives == life else None
            )

    def _death(self) -> None:
        client = self.chance.choice(self.clients)
        if not client.alive:
            return
        app, member = client.member.app, client.member.member
        client.die()
        if app and self.chance.random() < 0.5:
            self.agenda.after(self.chance.uniform(0.0, 1.0), lambda: self.controller.process_ended(app, member))
        self.agenda.after(self.chance.choice((0.5, 5.0, 30.0)), client.born)
