"""A client of the virtual world: the real member, its drifting clock, its pacer, and a link that may be dead.

What it does is known here and nowhere else: `Client.true_rate` is what its pacer lets through at this instant of true
time, by its own clock. The judge compares that with what the controller believes.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.client import events as client_events
from penstock.client import member as client_side
from penstock.client.member import Member
from penstock.wire import messages as wire

from .clock import Clock
from .network import DOWN, UP, Link
from .plan import shares

if TYPE_CHECKING:
    from .world import World

LEASE, FALLBACK, UNPACED = "lease", "fallback", "unpaced"
ROUNDING = 1e-9  # seconds: from one clock to another and back, a moment may come out before itself
CONNECT, HELLO = 1.0, 2.0  # how long a client waits for a connection, and for the Welcome


class Client:
    """A job's process: it computes, then moves bytes as fast as its pacer lets it."""

    def __init__(self, world: World, index: int, settings: client_side.MemberSettings, clock: Clock) -> None:
        self.world, self.index, self.settings, self.clock = world, index, settings, clock
        self.chance = random.Random(f"{world.plan.seed} client {index}")
        self.moods = random.Random(f"{world.plan.seed} moods {index}")
        self.lives = 0
        self.alive = self.stopped = False
        self.keys: set[tuple[int, int]] = set()  # the members that it is or was to the controller
        self.opened_at = -math.inf  # when it was last seen at its fallback rate
        self.heard_at = -math.inf  # when something of it last came to the controller
        self.known_at = -math.inf  # since when the controller could know what it does
        self.entered_at = -math.inf  # when it last began to pace at its fallback rate
        self.moved_at, self.moved_with = -math.inf, 0.0  # when its charge went to where it was seen, and that
        self.unpaced_since = math.inf  # since when it has gone unpaced without a break
        self.born()

    def born(self) -> None:
        """A new process, which knows nothing of the one before."""
        self.lives += 1
        number = self.settings.member if self.lives == 1 else None
        self.member: Member = self.world.member_class(
            replace(self.settings, member=number, seed=self.chance.randrange(1 << 30))
        )
        self.alive, self.stopped = True, False
        self.link: Link | None = None
        self.dialled = 0
        self.pacer = client_events.SetRate(0.0, math.inf, self.settings.fallbacks[""])
        self.route: tuple[str, tuple[str, ...]] | None = None  # of the open operation
        self.shares: dict[str, float] = {}  # by what the controller goes by
        self.told_for: dict[str, float] = {}  # by what it announced
        self.really: dict[str, float] = {}  # by where its bytes go, which it may not have said
        self.announced = self.volume = self.moved = 0.0
        self.settled = self.world.now
        self.zero_since = math.inf
        self.inbox: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._plans = 0
        self._wake = 0
        self.world.agenda.after(self.chance.uniform(0.0, 2.0), self._living(self._compute_is_over))
        self._dial(0.0)

    def __str__(self) -> str:
        return f"client {self.index} ({self.settings.job})"

    # What really happens.

    @property
    def local(self) -> float:
        """What its clock shows."""
        return self.clock.read(self.world.now)

    @property
    def fallback(self) -> float:
        """The most that it may use unasked: its nodes' part of what is left to those who are not told a rate.

        It was told so when it registered, by the capacity of that time.
        """
        settings, capacity = self.world.plan.settings, self.world.highest
        part = settings.phi * self.settings.nodes / settings.machine_nodes
        return part * min([capacity[name] / share for name, share in self.told_for.items()], default=math.inf)

    def pace(self) -> tuple[float, str]:
        """Bytes/s that its pacer lets through now, and by what."""
        if not self.busy:
            return 0.0, LEASE
        in_time = self.in_time()
        rate = self.pacer.rate if in_time else self.pacer.fallback
        if rate is None:
            return self.most, UNPACED
        # Only what somebody else said ends by itself.
        return rate, LEASE if in_time and self.pacer.expiry < math.inf else FALLBACK

    def in_time(self) -> bool:
        """Whether the rate counts that its pacer was told, and not the fallback."""
        return self.local < self.pacer.expiry

    @property
    def busy(self) -> bool:
        """Whether it has something to move, and could."""
        return self.route is not None and self.alive and not self.stopped

    def ends(self) -> tuple[float, ...]:
        """When its rate changes by itself, on its clock."""
        return (self.pacer.expiry,)

    @property
    def true_rate(self) -> float:
        """Bytes/s that its pacer lets through now."""
        return self.pace()[0]

    @property
    def most(self) -> float:
        """Bytes/s that it can move."""
        return 1e3 if self.settings.cap is None else self.settings.cap

    def most_of(self, capacity: Mapping[str, float]) -> float:
        """Bytes/s that it can move where there is no more than these."""
        return min([self.most, *(capacity[name] / share for name, share in self.shares.items())])

    @property
    def uses(self) -> float:
        """Bytes/s that it moves: its pacer may allow more than it can do, or cares to."""
        return min(self.true_rate, self.most, self.pleases)

    def settle(self) -> None:
        """Count what was moved until now; rates do not change in between."""
        self.moved += self._used * (self.world.now - self.settled)
        self.settled = self.world.now

    def _look_ahead(self) -> None:
        """Rates may have changed: note them, and when the operation will be over, or the lease."""
        self._used = self.uses
        self._plans += 1
        plan = self._plans
        now, world = self.world.now, self.world
        self.zero_since = min(self.zero_since, now) if self.busy and self.true_rate == 0.0 else math.inf
        if not self.busy:
            return

        def again() -> None:
            if plan == self._plans:
                self._rates_changed()

        if self._used > 0.0:
            world.agenda.after(max(0.0, min(self.volume, self.announced) - self.moved) / self._used, again)
        for end in self.ends():
            if self.local < end < math.inf:
                world.agenda.at(max(self.clock.when(end), now + ROUNDING), again)

    _used = 0.0
    pleases = math.inf  # bytes/s that it moves at most in this operation, though it could do more

    def _rates_changed(self) -> None:
        self.settle()
        if self.busy:
            if self.moved >= self.volume * (1 - 1e-9):
                self._io_is_over()
            elif self.moved >= self.announced * (1 - 1e-9):
                more, self.announced = self.volume - self.announced, self.volume
                self.step(client_events.ExtendPhase(more))
        self._look_ahead()

    # What the job does.

    def _living(self, action: Callable[[], None]) -> Callable[[], None]:
        life = self.lives

        def act() -> None:
            if self.alive and self.lives == life:
                self.soon(action)

        return act

    def _compute_is_over(self) -> None:
        if self.route is not None:
            return
        plan, chance = self.world.plan, self.chance
        self.route = chance.choice(plan.routes)
        resources = plan.settings.resources
        self.shares = self.told_for = shares(resources, *self.route)
        places = self.route[1] or self._places()
        self.really = shares(resources, self.route[0], places)
        if places and not self.route[1]:
            seen = client_events.SeenOn(places)
            self.world.agenda.after(self.moods.uniform(0.0, 6.0), self._living(lambda: self.step(seen)))
        self.announced = plan.volume * chance.choice((0.1, 0.5, 1.0, 2.0)) * chance.uniform(0.5, 1.5)
        self.volume = self.announced * chance.choice((1.0, 1.0, 1.0, 0.7, 1.3))
        self.moved = 0.0
        self.pleases = self.moods.choice((math.inf, 2.0, 10.0)) if plan.lazy else math.inf
        self.step(client_events.Begin(self.announced, *self.route))

    def _places(self) -> tuple[str, ...]:
        """Where bytes of the job go that it names no target for; the same in all its life."""
        known = sorted({each.target for each in self.world.plan.settings.resources if each.target} - {"unknown"})
        chance = random.Random(f"{self.world.plan.seed} places {self.settings.job}")
        return tuple(chance.sample(known, chance.randint(1, len(known)))) if known else ()

    def charged_on(self, known: Mapping[str, float], charge: float) -> None:
        """The controller charges the open operation there; what it may be using then was granted elsewhere."""
        if not self.said_where and self.shares != known:
            self.shares = dict(known)
            self.moved_at, self.moved_with = self.world.now, charge

    @property
    def said_where(self) -> bool:
        """Whether it has nothing to move, or named the targets to which its bytes go."""
        return self.route is None or bool(self.route[1])

    def _io_is_over(self) -> None:
        self.step(client_events.End(self.volume))
        self.route = None
        plan = self.world.plan
        alone = self.volume / min(self.most, 100.0)
        pause = alone * (1 - plan.busy) / plan.busy * self.chance.choice((0.0, 1.0, 2.0))
        self.world.agenda.after(pause, self._living(self._compute_is_over))

    def die(self) -> None:
        """The process is killed; the host closes what it had open."""
        self.settle()
        self.alive = False
        self.route = None
        if self.link is not None:
            self.world.network.hang_up(self.link, DOWN)
        self.link = None
        self._look_ahead()

    def stop(self) -> None:
        """Stop the process, bucket and all."""
        self.settle()
        self.stopped = True
        self._look_ahead()

    def go_on(self) -> None:
        """The process goes on where it was; its bucket looks at the clock before anything else."""
        if not self.alive or not self.stopped:
            return
        self.settle()
        self.stopped = False
        while self.inbox and self.alive and not self.stopped:
            action, arguments = self.inbox.popleft()
            action(*arguments)
        self._rates_changed()

    def soon(self, action: Callable[..., None], *arguments: Any) -> None:
        """Now, or when the process goes on."""
        if not self.alive:
            return
        if self.stopped:
            self.inbox.append((action, arguments))
        else:
            action(*arguments)

    # The member, and the link as its daemon thread would serve it.

    def step(self, event: client_events.Event) -> None:
        """Let the member hear of something, and do what it says."""
        self.settle()
        if self.member.op is not None:
            self._do(self.member.step(self.local, client_events.Progress(self.moved)))
        self._do(self.member.step(self.local, event))
        self._look_ahead()

    def _do(self, outputs: list[client_events.Output]) -> None:
        for output in outputs:
            match output:
                case client_events.SetRate():
                    self.pacer = output
                case client_events.SendTo(message):
                    if self.link is not None:
                        self.world.network.send(self.link, UP, message)
                case client_events.Dial(after, _):
                    self._dial(after)
                case client_events.HangUp():
                    self._hang_up()
                case client_events.WakeAt(time):
                    self._sleep_until(time)

    def _sleep_until(self, time: float) -> None:
        self._wake += 1
        wake, life = self._wake, self.lives

        def ring() -> None:
            if wake == self._wake and life == self.lives:
                self.soon(self.step, client_events.Timer())

        self.world.agenda.at(self.clock.when(time), ring)

    def _hang_up(self) -> None:
        if self.link is not None:
            self.world.network.hang_up(self.link, DOWN)
            self.link = None

    def _dial(self, after: float) -> None:
        self._hang_up()
        self.dialled += 1
        dialled, life, world = self.dialled, self.lives, self.world

        def current() -> bool:
            return self.alive and dialled == self.dialled and life == self.lives

        def attempt() -> None:
            if not current():
                return
            world.agenda.after(CONNECT + HELLO, give_up)
            if (controller := world.answering(self)) is not None:
                self.link = world.network.connect(self.index)
                link = self.link
                world.connected(link, controller)
                world.agenda.after(world.network.delay(), lambda: controller.hello(link, self))

        def give_up() -> None:
            if current() and not self.member.linked:
                self._hang_up()
                self.soon(self.step, client_events.LinkDown("no answer"))

        world.agenda.after(after, lambda: self.soon(attempt))

    def hear(self, link: Link, message: wire.Message) -> None:
        """Something arrives."""
        if link is not self.link:
            return
        if isinstance(message, wire.Welcome):
            self.step(client_events.LinkUp(message))
        else:
            self.step(client_events.Received(message))

    def link_ended(self, link: Link) -> None:
        """The connection is no more."""
        if link is self.link:
            self.link = None
            self.step(client_events.LinkDown("closed"))
