"""A controller that may lead: the core, its disk and its lease in a process that is stopped between any two steps.

Reading a clock, beginning to look, hearing the answer, taking what arrived, deciding and sending a message are steps of
their own. Before each of them the process may be stopped for a while, and go on as if nothing had been.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.live.core.events import Close, Connected, Input, Output, Send, Tick, WakeAt, WriteRecords
from penstock.live.core.records import encode
from penstock.live.journal.segment import pack
from penstock.live.standby.lease import Lease, Sight, Watch
from penstock.wire import messages as wire

from ..client import Client
from ..clock import Clock
from ..controller import Controller
from ..crash import KILL, POWER, WIPE
from ..network import DOWN, UP, Link

if TYPE_CHECKING:
    from .world import LeadersWorld

PAUSES = (0.3, 2.0, 4.5, 9.0, 20.0)  # seconds for which a process is stopped
SELDOM = 0.05  # who watches takes so many steps that it would be stopped all the time
AFTER, BEFORE = "after", "before"  # input is taken, the clock is looked at


class Candidate(Controller):
    """One of those who may lead. What is a class attribute here, a mutant sets otherwise."""

    world: LeadersWorld
    watch_class: type[Watch] = Watch
    lease_class: type[Lease] = Lease
    input_check = AFTER
    checks_sends = True
    claims_newest = False  # instead of the one after the term that was watched
    releases_first = False  # and stops later

    def __init__(self, world: LeadersWorld, name: str) -> None:
        super().__init__(world)
        self.name = name
        self.term = self.lives = self._renewals = 0
        self.alive, self.paused = True, False
        self.lease: Lease | None = None
        self.watch: Watch | None = None
        self.ahead = 0.0  # of the core's time before the clock's
        self._waiting: deque[Callable[[], None]] = deque()
        self._taken_at = 0.0

    @property
    def shown(self) -> float:
        """What its clock shows."""
        return self.clock.read(self.world.now)

    @property
    def t(self) -> float:
        """The core's time."""
        return self.shown + self.ahead

    def _run_clock(self, way: float) -> None:
        """On a day of bad clocks, one that leads has a slow one and one that watches a fast one."""
        if self.world.danger.worst_clocks:
            speed = 1.0 + way * self.world.plan.drift
            self.clock = Clock(speed, self.shown - speed * self.world.now)

    # The process.

    def step(self, action: Callable[[], None]) -> None:
        """Go on with something, now or when the process goes on; what was planned by one that died is nobody's."""
        life = self.lives

        def act() -> None:
            if self.alive and self.lives == life:
                action()

        if self.paused:
            self._waiting.append(act)
        elif self.alive and self.world.pauses.random() < self.world.danger.pause_at_step * (1.0 if self.up else SELDOM):
            self._waiting.append(act)
            self.pause(self.world.pauses.choice(PAUSES))
        else:
            act()

    def later(self, seconds: float, action: Callable[[], None]) -> None:
        """Go on with something in a while."""
        life = self.lives
        self.world.agenda.after(seconds, lambda: self.step(action) if self.lives == life else None)

    def pause(self, seconds: float) -> None:
        """The process is stopped, for a while."""
        if self.alive and not self.paused:
            self.paused = True
            life = self.lives
            self.world.seen["pauses"] += 1
            self.world.agenda.after(seconds, lambda: self.go_on() if self.lives == life else None)

    def go_on(self) -> None:
        """It goes on with what was next, and then with what has come meanwhile."""
        self.paused = False
        if self.world.controller is self:
            self.world.judge._disturbed()  # a stopped controller makes no room for anybody
        while self._waiting and not self.paused:
            self._waiting.popleft()()

    def die(self, kind: str = KILL) -> None:
        """The process is gone, or the whole host; somebody starts it again."""
        if not self.alive:
            return
        self._leave(kind)
        self.alive = self.paused = False
        self.lives += 1
        self._waiting.clear()
        self.world.seen[f"died by {kind}"] += 1
        self.world.agenda.after(self.world.chance.choice((0.1, 1.0, 3.0, 12.0)), lambda: self.born(kind))

    def born(self, died: str) -> None:
        """A new process: it watches."""
        self.alive = True
        self._died = died
        self.stand_by()

    _died = KILL  # how the process before ended
    _led = _agreed = 0  # the epoch that was led last, and that which comes with the term

    def _leave(self, kind: str) -> None:
        """Serve no more; the links end, sooner or later."""
        if not self.up:
            return
        world = self.world
        if world.controller is self:
            world.judge.crashed(nothing_lost=False)
        self.up, self.lease = False, None
        self.inbox.clear()
        if kind == POWER:
            self.disk.lose_power(world.chance)
        for link in self.sessions.values():
            link.up[UP] = False
            link.noticed[UP] = True
            if kind == KILL:
                world.network.close(link, DOWN)
            else:  # a dead host says nothing
                world.agenda.after(world.chance.uniform(5.0, 30.0), lambda link=link: world.network.notice(link, DOWN))  # type: ignore[misc]
        self.sessions.clear()

    # Standing by.

    def stand_by(self) -> None:
        """Watch from now on."""
        self._run_clock(+1.0)
        self.watch = self.watch_class(self.world.lease_settings, self.name)
        self._look()

    def _look(self) -> None:
        before = self.shown
        register = self.world.register
        life = self.lives

        def heard(sight: Sight | None) -> None:
            if self.lives == life:
                self.step(lambda: self._looked(before, sight))

        self.step(lambda: register.look(self.name, heard))

    def _looked(self, before: float, sight: Sight | None) -> None:
        assert self.watch is not None
        term = None if sight is None else self.watch.looked(before, self.shown, sight)
        if term is None or sight is None:
            self.later(self.world.danger.look, self._look)
        else:
            self.step(lambda: self._claim(term, sight))

    def _claim(self, term: int, sight: Sight) -> None:
        register, life = self.world.register, self.lives
        if self.claims_newest:
            term = register.newest.term + 1
        before = self.shown

        def heard(fine: bool) -> None:
            if self.lives == life:
                self.step(lambda: self._claimed(term, sight, before, fine))

        self.step(lambda: register.claim(term, self.name, heard))

    def _claimed(self, term: int, sight: Sight, before: float, fine: bool) -> None:
        lease = self.lease_class(self.world.lease_settings, before)
        if not fine or not lease.valid(self.shown):
            self.later(self.world.danger.look, self._look)
            return
        self.term, self.lease, self._renewals = term, lease, 0
        self._source = sight.holder
        self._agreed = max(self._led, self.world.register.epoch_before(term)) + 1
        self._renew(then=self._lead)

    # Leading.

    def lead_first(self) -> None:
        """Lead the first term, which nobody contests."""
        self.term, self._source = 1, self.name
        self.lease = self.lease_class(self.world.lease_settings, self.shown)
        self._agreed = 1
        self.world.register._keep(Sight(1, 1, self.name), 1)
        self._renewals = 1

    def _lead(self) -> None:
        """Begin to serve. What is known of before comes from one's own disk, from the other's, or from nowhere."""
        if self._source == self.name and self._led == self._agreed - 1:
            how = self._died  # what is on its own disk is what was said last
        elif self.world.danger.shared_journal:
            how = POWER
            self.disk = copy.deepcopy(self.world.disk_of(self._source))
            if self.world.chance.random() < 0.5:
                self.disk.lose_power(self.world.chance)
        else:
            how = WIPE
            self.disk.wipe()
        self.world.seen[f"began after {how}"] += 1
        self.start(how)

    def start(self, died: str | None) -> None:
        """Begin the epoch that was agreed on."""
        world = self.world
        state, last = self._recovered()
        if died in (POWER, WIPE):
            self.ahead = max(last, 0.0) - self.shown
        # One that died before its first record was written leaves to the next what it had to wait for.
        noted = self.warm or (state is not None and state.epoch == self._led)
        self._run_clock(-1.0)
        self.warm = died in (None, KILL) and noted
        self.epoch = self._led = self._agreed
        self.beginning = (self.t, None if state is None else state.snapshot(), self.warm)
        self.core = world.make_core(self.epoch, self.t, state, self.warm)
        self.up = True
        self.sessions.clear()
        self.inbox.clear()
        self.history = []
        self._due = False
        world.began(self)
        world.judge.started(died)
        self.turn([])
        world.operators.stirred()

    def _renew(self, then: Callable[[], None] | None = None) -> None:
        """Write once more that we lead; `then` is what to do when that is done in time."""
        before, life, term = self.shown, self.lives, self.term
        self._renewals += 1
        sight = Sight(term, self._renewals, self.name)

        def heard(fine: bool) -> None:
            if self.lives == life:
                self.step(lambda: self._renewed(before, fine, then))

        self.step(lambda: self.world.register.write(sight, self._agreed, heard))

    def _renewed(self, before: float, fine: bool, then: Callable[[], None] | None) -> None:
        if self.lease is None:
            return
        if fine and self.lease.renewed(before, self.shown):
            if then is not None:
                then()
                then = None
        elif not self.lease.valid(self.shown):
            self.depose()
            return
        again = then
        self.later(max(0.1, self.lease.due - self.shown) if self.lease else 0.1, lambda: self._renew(again))

    def depose(self) -> None:
        """The lease is over: say nothing more, and end. Somebody starts the process again."""
        self.world.seen["deposed"] += 1
        if self.up:
            self.die()
        else:
            self.lease = None
            self.later(self.world.danger.look, self._look)

    def release(self) -> None:
        """Stop in good order: serve no more, then say so."""
        if not (self.up and self.alive and self.lease is not None):
            return
        self.world.seen["released"] += 1
        sight = Sight(self.term, self._renewals + 1, self.name, released=True)
        if self.releases_first:
            self.world.register.write(sight, self.epoch, lambda fine: self.step(self.die))
            return
        self._leave(KILL)
        self.world.register.write(sight, self.epoch, lambda fine: self.die())

    @property
    def _valid(self) -> bool:
        return self.lease is not None and self.lease.valid(self.shown)

    # What arrives, and what follows from it.

    def hello(self, link: Link, client: Client) -> None:
        """Somebody has connected and proved who it is."""
        self.step(lambda: self._greet(link, client))

    def _greet(self, link: Link, client: Client) -> None:
        if not self.up or not link.up[UP] or link.noticed[UP]:
            return
        self.sessions[link.session] = link
        client.heard_at = self.world.now
        settings = self.world.plan.settings
        welcome = wire.Welcome(link.session, self.epoch, settings.lease, settings.beat, settings.pace)
        connected = Connected(link.session, self._token(client.settings.job), client.member.epoch_seen)
        self.turn([connected], [Send(link.session, welcome)])

    def process_ended(self, app: int, member: int) -> None:
        """Proof that a process on this host is dead, if the host can tell anybody."""
        if not self.paused:
            super().process_ended(app, member)

    def _gathered(self) -> None:
        self._due = False
        self.step(self._about_to_take)

    def _about_to_take(self) -> None:
        if self.input_check == BEFORE and self.up and not self._valid:
            self.depose()
            return
        self.step(self._take_in)

    def _take_in(self) -> None:
        if self.up and self.inbox:
            inputs, self.inbox = self.inbox, []
            self.turn(inputs)

    def turn(self, inputs: list[Input], first: list[Output] | None = None) -> None:
        """Let the core take what came, then write, then send, if the lease is good."""
        self._taken_at = self.world.now
        if self.input_check == AFTER and not self._valid:
            self.depose()
            return
        world, t, judged = self.world, self.t, self.world.controller is self
        if judged:
            world.judge.before_turn(t, inputs)
        self.turns += 1
        outputs = self.core.step(t, inputs)
        self.history.append((t, inputs, outputs))
        if judged:
            world.judge.after_turn(t, inputs, outputs)
        for output in outputs:
            if isinstance(output, WriteRecords) and (record := world.journalled(output.record)) is not None:
                self.seq += 1
                self.disk.write(pack(encode(self.seq, t, record)))
        if world.chance.random() < 0.3:
            self.disk.sync()
        if world.chance.random() < 0.01:
            self.disk.keep(self.seq, self.core.state.snapshot())
        for output in outputs:
            if isinstance(output, WakeAt):
                self._sleep_until(output.time)
        self._send_all(deque(each for each in (*(first or ()), *outputs) if isinstance(each, Send | Close)))

    def _send_all(self, messages: deque[Send | Close]) -> None:
        """One after the other; the process may be stopped in between."""
        if not messages or not self.up:
            return
        if self.checks_sends and not self._valid:
            self.depose()
            return
        self.step(lambda: self._send_next(messages))

    def _send_next(self, messages: deque[Send | Close]) -> None:
        message = messages.popleft()
        self.world.sent(self, message, self._taken_at)
        self._emit(message)
        self._send_all(messages)

    def _sleep_until(self, t: float) -> None:
        self._wake += 1
        wake, epoch = self._wake, self.epoch

        def ring() -> None:
            if wake == self._wake and epoch == self.epoch and self.up:
                self.turn([Tick()])

        self.world.agenda.at(max(self.clock.when(t - self.ahead), self.world.now + 1e-9), lambda: self.step(ring))
