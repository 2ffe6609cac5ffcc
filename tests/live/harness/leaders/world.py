"""A world in which several controllers may lead, and clients know where each of them would listen."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass, replace

from penstock.live.core.events import Close, Send
from penstock.live.standby.lease import LeaseSettings
from penstock.wire import messages as wire

from ..client import Client
from ..controller import Controller
from ..crash import KILL, POWER, Disk
from ..judge import Judge
from ..network import Link
from ..plan import Plan, Troubles, draw_plan
from ..runs import POLICIES
from ..world import World
from .candidate import PAUSES, Candidate
from .register import Register, Slowness

USUAL = Slowness()
NAMES = "abc"
KINDS = 5  # of days


@dataclass(frozen=True)
class Danger:
    """What goes wrong with those who may lead; times in seconds between two of a kind, on average."""

    kill: float = math.inf
    pause: float = math.inf
    release: float = math.inf
    pause_at_step: float = 0.0  # chance per step
    slowness: Slowness = USUAL
    look: float = 0.2  # between two looks
    worst_clocks: bool = False  # that of a leader is as slow as allowed, those of the others as fast
    shared_journal: bool = False
    loyal: float = 0.0  # chance that a client knows one address only


def draw_danger(seed: int) -> Danger:
    """From a good day to a bad one; four of five are bad in a way of their own."""
    chance = random.Random(f"{seed} leaders")
    usual = Danger(
        kill=chance.choice((math.inf, 10.0, 25.0)),
        pause=chance.choice((math.inf, 8.0, 20.0)),
        release=chance.choice((math.inf, math.inf, 30.0)),
        pause_at_step=chance.choice((0.0, 0.001, 0.01)),
        slowness=Slowness(
            usual=chance.choice((0.005, 0.1)),
            slow=chance.choice((0.0, 0.05, 0.3)),
            slowest=chance.choice((1.0, 6.0)),
            fails=chance.choice((0.0, 0.05)),
            stale=chance.choice((0.0, 0.0, 1.5)),
        ),
        shared_journal=chance.random() < 0.5,
        loyal=chance.choice((0.0, 0.5)),
    )
    rarely = replace(usual, kill=40.0, pause=math.inf, look=0.02, loyal=0.5)
    if seed % KINDS == 1:  # the folder hangs, and everybody goes on
        hanging = Slowness(usual=0.002, hangs=4.0, hangs_at=0.05, hangs_looking=0.001)
        return replace(rarely, slowness=hanging, pause_at_step=0.0, worst_clocks=chance.random() < 0.7)
    if seed % KINDS == 2:  # processes are stopped, and the folder is fine
        return replace(rarely, slowness=USUAL, release=math.inf, pause_at_step=0.02)
    if seed % KINDS == 3:  # everything takes long, and leaders give up now and then
        return replace(rarely, slowness=Slowness(usual=0.1, slow=0.5, slowest=3.5), release=12.0, pause_at_step=0.0)
    if seed % KINDS == 4:  # the folder shows what is old, and what is written there is known late
        stale = Slowness(usual=0.002, stale=2.5, hang=(3.0, 3.5, 3.7), again=0.1, hangs_at=0.4)
        return replace(rarely, slowness=stale, release=12.0, pause_at_step=0.0)
    return usual


def leaders_plan(seed: int, seconds: float = 60.0) -> Plan:
    """The plan of a seed, without what operators do: clients that are nearly always busy, and know all addresses."""
    plan = draw_plan(seed, POLICIES, seconds)
    chance = random.Random(f"{seed} addresses")
    danger = draw_danger(seed)
    troubles = Troubles(partition=plan.troubles.partition, stop=plan.troubles.stop, death=plan.troubles.death)
    weather = plan.weather
    if seed % KINDS:
        troubles, weather = Troubles(), replace(weather, slow=0.0, loss=weather.loss / 10)
    if danger.worst_clocks:
        plan = replace(plan, drift=0.05, settings=replace(plan.settings, drift=0.05))
    clients = tuple(
        replace(each, addresses=1 if chance.random() < danger.loyal else len(NAMES)) for each in plan.clients
    )
    return replace(plan, troubles=troubles, weather=weather, clients=clients, busy=0.9, lazy=False)


class TwoLeaders(AssertionError):
    """Somebody acted on what it heard although another led already."""


class LeadersWorld(World):
    """One run. The candidates' class can be replaced by a weaker one."""

    candidate_class: type[Candidate] = Candidate
    register_class: type[Register] = Register
    heeds_staleness = True

    def __init__(self, plan: Plan, judge: Judge, danger: Danger) -> None:
        self.danger = danger
        self.seen: Counter[str] = Counter()
        self.pauses = random.Random(f"{plan.seed} pauses")
        self.lease_settings = LeaseSettings(
            drift=plan.drift, stale=danger.slowness.stale if self.heeds_staleness else 0.0
        )
        self._owner: dict[int, Candidate] = {}
        self._began: list[tuple[int, float]] = []  # the terms that were led, and since when
        super().__init__(plan, judge)
        judge.slack = 1.1 * self.lease_settings.lease  # a leader may be stopped for as long
        troubles = (
            (danger.kill, self._kill),
            (danger.pause, self._pause),
            (danger.release, self._release),
            (danger.slowness.hangs, self._hang),
        )
        for seconds, trouble in troubles:
            if seconds < math.inf:
                self._now_and_then(seconds, trouble)

    def make_controller(self) -> Controller:
        """All who may lead; the first of them does."""
        chance = random.Random(f"{self.plan.seed} register")
        self.register = self.register_class(self.agenda, chance, self.danger.slowness)
        self.candidates = [self.candidate_class(self, name) for name in NAMES]
        first, *others = self.candidates
        first.lead_first()
        self.agenda.after(0.0, first._renew)
        for other in others:
            self.agenda.after(0.0, other.stand_by)
        return first

    def answering(self, client: Client) -> Controller | None:
        """The one at the address that the client dials; one that knows a single address knows that of any of them."""
        number = client.member.place + (client.index if client.settings.addresses == 1 else 0)
        candidate = self.candidates[number % len(NAMES)]
        return candidate if candidate.up and self.network.reaches(client.index) else None

    def connected(self, link: Link, controller: Controller) -> None:
        """A client has dialled that one."""
        assert isinstance(controller, Candidate)
        self._owner[link.session] = controller

    def listener(self, link: Link) -> Controller:
        """Who was dialled."""
        return self._owner[link.session]

    def disk_of(self, name: str) -> Disk:
        """The journal of one of them; an empty one of nobody."""
        return next((each.disk for each in self.candidates if each.name == name), Disk())

    def began(self, candidate: Candidate) -> None:
        """One leads from now on."""
        self.controller = candidate
        self._began.append((candidate.term, self.now))
        self.seen["terms"] += 1

    def sent(self, candidate: Candidate, message: Send | Close, taken_at: float) -> None:
        """A message leaves; it follows from what was taken in at that time."""
        later = [since for term, since in self._began if term > candidate.term]
        rate = isinstance(message, Send) and isinstance(message.message, wire.Rate)
        if rate and any(taken_at >= since for since in later):
            raise TwoLeaders(f"seed {self.plan.seed}, t = {self.now:.6f} s: {candidate.name} leads no more, and speaks")

    def _kill(self) -> None:
        kind = self.chance.choice((KILL, KILL, POWER))
        self.chance.choice((self.chance.choice(self.candidates), self._leading())).die(kind)

    def _pause(self) -> None:
        self.chance.choice((self.chance.choice(self.candidates), self._leading())).pause(self.chance.choice(PAUSES))

    def _hang(self) -> None:
        whom = self.chance.choice((self.chance.choice(self.candidates), self._leading(), self._leading()))
        self.register.hang(whom.name)

    def _release(self) -> None:
        self._leading().release()

    def _leading(self) -> Candidate:
        assert isinstance(self.controller, Candidate)
        return self.controller


def run_leaders(
    seed: int, kind: type[LeadersWorld] = LeadersWorld, judge: Judge | None = None, seconds: float = 60.0
) -> LeadersWorld:
    """The run of a seed, judged."""
    world = kind(leaders_plan(seed, seconds), judge or Judge(), draw_danger(seed))
    world.run()
    return world
