"""Looks at a world after every step and says what must never be seen.

The claim. With g the true rate of a client, c what the controller charges for it, a the shares of an operation on the
resources, f the fallback rate and B a capacity, at every instant:

- who paces by a lease uses at most its charge: g ≤ c;
- who goes on at its fallback uses at most f;
- Σ a·g ≤ B + Σ a·f over those who went on at their fallback just now: within two leases the controller counts on them
  and has made room (with a strict reserve: Σ a·g ≤ B, always);
- no message raises a charge while Σ a·c is above what may be given out; no charge falls but for a reason.

Where it lets more pass than these words say, and why:

- Two leases begin anew when the controller is started (it has to hear of everybody first), and last longer by what
  messages take on their way in the run, which the words leave out.
- One that the controller does not know of, because it never got through or was forgotten, counts at its fallback for as
  long as it goes on: nobody can count on it.
- One that has nothing to do as far as the controller knows counts so only when it has been silent for two pings and W.
- Who was at its fallback counts with f for those two leases even if it has a lease again: when it came back, it was
  told no more than it used, and others had not made room for that yet.
- A capacity that was lowered counts as it was for one lease, and for two after a start, for in the first of these
  nothing is decided; a fallback is the part of the highest there ever was.
- Where a capacity was lowered so far that those who are, or were until just now, at their fallback use more than
  there is, they do: nobody granted it to them. Nobody else may use anything then.
- One that named no target brings what it is charged with to where it is seen; the others have two leases to give way.
- One that registers anew goes by the fallback that it was told before until it has heard the answer.
- One that was evicted is forgotten when its lease is over, and is then one that the controller does not know of.
- After a restart that may have lost records, until the leases of before are over, nobody's rate is compared with its
  charge: nothing is raised in that time, so the sum is bounded all the same, and that is looked at.
- Who was told to go unpaced is left out of the sums, by an operator's word. What the others use must fit beside what it
  is charged with (`words.py`, as all that follows from what operators say).
- That nothing is left over is asked of one resource, of applications with one member, and only while nobody has waited
  for nearly `max_wait`: parts of several members, and what is kept for those who waited, may lag by one beat.
- A client goes on after twice `max_wait` at rate 0, whoever is to blame. That the controller lets nobody wait for
  longer than `max_wait` is asked where nothing else goes wrong (`test_nobody_waits_longer_than_promised`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.live.core import ControllerState, Member
from penstock.live.core import records as records_of_core
from penstock.live.core.events import Frame, Input, Output, ProcessDead, Send, WriteRecords
from penstock.wire import messages as wire

from .client import FALLBACK, LEASE, UNPACED
from .crash import KILL, WIPE
from .words import FREE, TINY, Amounts, Words, recorded

if TYPE_CHECKING:
    from .client import Client
    from .world import World

CONSERVING = ("fair-share", "fcfs", "greedy-yield")  # they leave nothing over that somebody could use
REPLAYED = 10  # every so many seeds: it takes as long as the run

Key = tuple[int, int]


class Violation(AssertionError):
    """Something that must never be; the message says which claim, in which run and when."""


class Fault(AssertionError):
    """The controller broke down at something, or its policy did; this is not about any rule."""


class Judge:
    """Of one world. `worst` is the highest Σ a·g / B seen, and the highest over what was allowed."""

    world: World

    def begin(self, world: World) -> None:
        """The world that is to be judged."""
        self.world = world
        settings, skew = world.plan.settings, 1 + 2 * world.plan.drift
        self._worst_delay = world.plan.weather.worst_delay
        self._one_lease = settings.waiting * skew + settings.pace + 0.01  # that long, a turn may take
        self._silence = (settings.silence + settings.waiting) * skew

    def __init__(self) -> None:
        self.worst = 0.0
        self.worst_allowed = 0.0
        self.seen: Counter[str] = Counter()
        self.told: dict[Key, tuple[int, int]] = {}  # the newest (epoch, rev) sent to each member
        self.epoch = 0
        self.words = Words(self)
        self.last_disturbance = 0.0
        self.longest_wait = 0.0
        self.lossy = False  # messages could be lost at some time before
        self.slack = 0.0  # the longest that a message could take so far, if more than the plan says
        self._before: dict[Key, tuple[float, float, str]] = {}  # charge, until when, stage
        self._promised: dict[Key, float] | None = None  # the charges at the end of a controller that lost nothing
        self._last_look = 0.0
        self._long_ago = 0.0  # at a look, when what began then has had its two leases
        self._spoken: dict[int, Key] = {}  # whom each session speaks for
        self._rates: defaultdict[Key, deque[tuple[float, float]]] = defaultdict(lambda: deque(maxlen=1000))
        self._lowered: defaultdict[str, dict[float, float]] = defaultdict(dict)  # from what, and how long that counts
        self._died_at = 0.0
        self._capacity: dict[str, float] = {}  # as of the last look

    # What the world tells.

    def started(self, died: str | None) -> None:
        """A controller begins: with all that its predecessor had promised, if nothing was lost."""
        epoch = self._state.epoch
        self.expect(epoch > self.epoch, f"epoch {epoch} follows {self.epoch}")
        self.epoch = epoch
        self._disturbed()
        self.seen["starts"] += 1
        if died == WIPE:
            self.told.clear()
            self._rates.clear()  # numbers are given out anew, and clocks begin anew
            for client in self.world.clients:
                client.keys.clear()
        self.words.started(died)
        if self._promised is not None:
            found = {member.key: member.charge for member in self._state.members()}
            self.expect(found == self._promised, f"recovered {found}, the controller before had {self._promised}")
            self._promised = None
        if died == KILL:
            for client in self.world.clients:
                rate, by = client.pace()
                if by == LEASE and rate > 0.0:
                    self.seen["recovered"] += 1
                    charge = self._charge(client)
                    self.expect(
                        rate <= charge * (1 + TINY) + TINY or self._lost_journal,
                        f"recovered with a charge of {charge:g}; {client} uses {rate:g}",
                    )

    def crashed(self, nothing_lost: bool) -> None:
        """The controller died."""
        self._replay()
        self._died_at = self.world.now
        self.words.crashed(nothing_lost)
        self._promised = {member.key: member.charge for member in self._state.members()} if nothing_lost else None

    def before_turn(self, t: float, inputs: Sequence[Input]) -> None:
        """The controller is about to take these."""
        members = self._state.members()
        self._before = {member.key: (member.charge, self._lease_over(member), member.stage) for member in members}
        self.words.before_turn()
        self._spoken = {member.session: member.key for member in members if member.session is not None}

    def _lease_over(self, member: Member) -> float:
        """When what a member is charged with may be released though it says nothing; who is unpaced has no lease."""
        forget = self.world.plan.settings.forget
        if member.free is not None and not member.app.evicted:
            return member.reclaim + forget
        return min(member.reclaim, member.lost_at + forget)

    def after_turn(self, t: float, inputs: Sequence[Input], outputs: Sequence[Output]) -> None:
        """It took them; none of the outputs has had an effect yet."""
        self.seen["turns"] += 1
        self._note_members()
        self._faults(outputs)
        self.words.after_turn(inputs, outputs)
        self._revisions(t, outputs)
        self._falls(t, inputs, outputs)
        self._raises(outputs)
        self._leftovers()
        for member in self._state.members():
            if member.op is not None:
                self.expect(0.0 <= member.op.done <= member.op.volume * (1 + TINY), "more done than announced")

    def _note_members(self) -> None:
        """Who is who: which members each client is or was."""
        for member in self._state.members():
            if member.session is not None:
                self._spoken[member.session] = member.key
                if (link := self.world.controller.sessions.get(member.session)) is not None:
                    client = self.world.clients[link.client]
                    if not any(key in self._before for key in client.keys):
                        client.known_at = self.world.now
                    client.keys.add(member.key)

    def _known(self, client: Client) -> bool:
        """Whether the controller has heard of a client."""
        return bool(self._members(client))

    def _members(self, client: Client) -> list[Member]:
        """Those that a client is, or was, to the controller."""
        find = self._state.find
        return [member for key in client.keys if (member := find(*key)) is not None]

    # What is looked at whenever something happened.

    def look(self) -> None:
        """At the world as it really is."""
        self.seen["looks"] += 1
        capacities = self._capacities()
        used = dict.fromkeys(capacities, 0.0)
        leased, stuck, allowed, kept, really = used.copy(), used.copy(), used.copy(), used.copy(), used.copy()
        self._long_ago = self.world.now - self.long
        for client in self.world.clients:
            self._locate(client)
            rate, by = client.pace()
            self._client(client, rate, by)
            if by == UNPACED:
                free = self.words.kept_free(client, self._charge(client))
                for name, share in client.shares.items():
                    kept[name] += share * free
            elif rate > 0.0:
                unasked = min(rate, client.fallback)
                extra = self._on_top(client, rate, unasked)
                unbidden = self._unbidden(client, unasked) - extra
                by_lease = rate if by == LEASE else 0.0
                for name, share in client.shares.items():
                    used[name] += share * rate
                    leased[name] += share * by_lease
                    stuck[name] += share * unbidden
                    allowed[name] += share * extra
                for name, share in client.really.items():
                    really[name] += share * rate
        self._last_look = self.world.now
        most = {name: max(most, stuck[name]) for name, most in capacities.items()}
        self._in_use(used, most, allowed)
        self._on_targets(really, most, allowed)
        self.words.others(leased, {name: rate for name, rate in kept.items() if rate > 0.0}, capacities, allowed)

    def _in_use(self, used: Amounts, capacities: Amounts, allowed: Amounts) -> None:
        """The sums, against the capacities and what may come on top of them."""
        for name, capacity in capacities.items():
            self.worst = max(self.worst, used[name] / capacity)
            most = capacity * (1 + TINY) + allowed[name]
            self.worst_allowed = max(self.worst_allowed, used[name] / most)
            if used[name] > most:
                self.fail(f"{used[name]:g} bytes/s in use of {name!r}; {capacity:g} + {allowed[name]:g} allowed")

    def _on_targets(self, really: Amounts, capacities: Amounts, allowed: Amounts) -> None:
        """On a target, those come on top at most who have not said where their bytes go: all that `unknown` has."""
        unknown = capacities.get("unknown", 0.0) + allowed.get("unknown", 0.0)
        for name in really:
            most = capacities[name] * (1 + TINY) + allowed[name] + unknown
            self.seen["located"] += really[name] > 0.0 and unknown > 0.0
            if really[name] > most:
                self.fail(f"{really[name]:g} bytes/s really go to {name!r}; {most:g} are allowed")

    def _locate(self, client: Client) -> None:
        """Where the controller charges what a client does, if it knows of it: that is where it must fit."""
        if (op := client.member.op) is None or client.said_where:
            return
        resources = self._state.routes.resources
        known = [member for member in self._members(client) if member.stage != "lost" and member.charge > 0.0]
        for member in known:
            if member.op is not None and member.op.number == op.op:
                shares = {resources[k].name: share for k, share in member.op.route.shares}
                client.charged_on(shares, member.charge)

    def over(self) -> None:
        """The run has ended."""
        self._replay()

    def _client(self, client: Client, rate: float, by: str) -> None:
        """One client, whose pacer lets `rate` through."""
        if by == UNPACED:
            client.unpaced_since = min(client.unpaced_since, self.world.now)
            self.words.unpaced(client, self._members(client))
            return
        client.unpaced_since = math.inf
        self.words.paced(client)
        if rate > 0.0:
            if by == FALLBACK:
                self._note_fallback(client)
                if rate > client.fallback * (1 + TINY):
                    self.fail(f"{client} goes on at {rate:g}, above its fallback")
            elif rate > (charge := self._charge(client)) * (1 + TINY) + TINY and not self._lost_journal:
                self.fail(f"{client} uses {rate:g} by its lease and is charged with {charge:g}")
        elif (waits := self.world.now - client.zero_since) > self.longest_wait:
            self.longest_wait = waits
            if waits > 2 * client.settings.max_wait * 1.06 + 2.1:
                self.fail(f"{client} has been at rate 0 for too long")

    def _note_fallback(self, client: Client) -> None:
        """A client goes on at its fallback: when it began to, and when it last did."""
        if client.opened_at < self._last_look:
            client.entered_at = self.world.now
        client.opened_at = self.world.now

    @property
    def _lost_journal(self) -> bool:
        """Whether leases may be valid that this controller cannot know of."""
        state = self._state
        return state.now < state.grace_until or not self.world.controller.up

    def _on_top(self, client: Client, rate: float, unasked: float) -> float:
        """What of a client's rate may come on top of the capacities for now; `unasked` is that up to its fallback."""
        by_fallback = self._on_top_by_fallback(client, unasked)
        return max(min(rate, client.moved_with), by_fallback) if client.moved_at >= self._long_ago else by_fallback

    def _on_top_by_fallback(self, client: Client, unasked: float) -> float:
        if not self._uncounted(client):
            return self._untold(client, unasked)
        return self._not_reserved(client, unasked) if self.world.plan.settings.reserve == "strict" else unasked

    def _unbidden(self, client: Client, unasked: float) -> float:
        """What of a client's rate it has because it is, or just was, at its fallback: nobody granted it."""
        return unasked if client.opened_at >= self._long_ago else 0.0

    def _untold(self, client: Client, rate: float) -> float:
        """What a client uses more than its fallback because it has not heard what that is since it registered anew."""
        if client.route is None or client.opened_at < self.world.now:
            return 0.0
        route = self._state.routes.find(*client.route)
        told = max((self._state.fallback(member, route) for member in self._members(client)), default=0.0)
        return max(0.0, rate - told)

    def _not_reserved(self, client: Client, rate: float) -> float:
        """What of a client's rate a strict reserve need not cover.

        Of one that is not known it covers the part of the present capacity, which may have been higher when the client
        was told.
        """
        if self._known(client):
            return self._untold(client, rate)
        return rate * max(1.0 - self._capacity[name] / self.world.highest[name] for name in client.shares)

    @property
    def long(self) -> float:
        """Two leases: until one is over by the controller's clock, and until others gave way; each with messages."""
        return 2 * self._one_lease + 2 * max(self.slack, self._worst_delay) + 2.0

    def _uncounted(self, client: Client) -> bool:
        """Whether the controller need not have made room yet for what a client uses, or used, at its fallback.

        It hears of it when the lease is over by its own clock, then waits for others to ack less, or for their leases
        to be over; messages under way make both later. Who restarts begins to count anew.
        """
        if client.opened_at < self._long_ago:
            return False
        if not (known := self._members(client)):
            return True
        if self._seems_idle(client, known):
            # Its announcement is held up on a link that nobody knows to be dead.
            client.known_at = self.world.now
        return max(client.entered_at, client.known_at, self.last_disturbance) >= self._long_ago

    def _seems_idle(self, client: Client, known: Sequence[Member]) -> bool:
        """Whether the controller may take a client, known as these, for one that is connected and has nothing to do."""
        if self.world.now - client.heard_at > self._silence:
            return False
        return all(member.op is None for member in known) and any(member.session is not None for member in known)

    def _capacities(self) -> dict[str, float]:
        """What may be in use; one that was lowered counts as it was until everybody was told so."""
        state, now = self._state, self.world.now
        present = {each.name: capacity for each, capacity in zip(state.settings.resources, state.capacity, strict=True)}
        for name, capacity in present.items() if present != self._capacity else ():
            if capacity < (before := self._capacity.get(name, capacity)):
                until = max(now + self._one_lease, self.last_disturbance + 2 * self._one_lease)
                self._lowered[name][before] = until
        self._capacity = present
        if not self._lowered:
            return present
        return {name: max(capacity, self._before_lowered(name)) for name, capacity in present.items()}

    def _before_lowered(self, name: str) -> float:
        """The highest that a capacity was before it was lowered, if that was not long ago."""
        lowered, now = self._lowered.get(name, {}), self.world.now
        return max([before for before, until in lowered.items() if now <= until], default=0.0)

    def _disturbed(self) -> None:
        """A controller begins: what its predecessor had not brought about takes two leases from now."""
        self.last_disturbance = self.world.now
        for before in self._lowered.values():
            before.update(
                {each: self.world.now + 2 * self._one_lease for each, until in before.items() if until >= self._died_at}
            )

    # What is looked at in every turn of the controller.

    def _faults(self, outputs: Sequence[Output]) -> None:
        """A core that fails at a message sends its sender away and goes on, which must not hide the failure here."""
        faults = [record.text for record in recorded(outputs, records_of_core.PolicyFailed)]
        for output in outputs:
            if (
                isinstance(output, Send)
                and isinstance(output.message, wire.Error)
                and output.message.code == "internal"
            ):
                faults.append(output.message.text)
        if faults:
            raise Fault(f"seed {self.world.plan.seed}, t = {self.world.now:.6f} s: {faults[0]}")

    def _revisions(self, t: float, outputs: Sequence[Output]) -> None:
        state = self._state
        sessions = {member.session: member.key for member in state.members() if member.session is not None}
        for output in outputs:
            if isinstance(output, Send) and isinstance(output.message, wire.Rate):
                key, rev = sessions.get(output.session), (output.message.epoch, output.message.rev)
                if key is not None:
                    self.expect(rev > self.told.get(key, (0, 0)), f"revision {rev} after {self.told.get(key)}")
                    self.told[key] = rev
                    self._rates[key].append((t, output.message.rate))
                    member = state.find(*key)
                    self.expect(
                        member is not None and output.message.rate <= member.charge * (1 + TINY),
                        f"a rate of {output.message.rate:g} is sent to a member that is charged less",
                    )

    def _falls(self, t: float, inputs: Sequence[Input], outputs: Sequence[Output]) -> None:
        """No charge falls without an ack of this epoch, the member's word, its death, or the end of its lease."""
        state = self._state
        now = {member.key: member for member in state.members()}
        spoke = self._speakers(inputs, outputs) | self._unheard(t, outputs) | self.words.given_up()
        for key, (charge, reclaim, _) in self._before.items():
            member = now.get(key)
            after = member.charge if member is not None else 0.0
            if after < charge * (1 - TINY):
                reason = key in spoke or state.now >= reclaim * (1 - 1e-12)
                self.expect(reason, f"the charge of member {key} fell from {charge:g} to {after:g} for no reason")

    def _unheard(self, t: float, outputs: Sequence[Output]) -> set[Key]:
        """Those whose lower charge covers all that they were told within a lease, and their fallback."""
        found: set[Key] = set()
        for output in outputs:
            if isinstance(output, WriteRecords) and isinstance(output.record, records_of_core.Adrift):
                record = output.record
                since = t - self.world.plan.settings.waiting * (1 - 1e-12)
                lately = [rate for when, rate in self._rates[record.app, record.member] if when > since]
                if max(lately, default=0.0) <= record.held * (1 + TINY):
                    found.add((record.app, record.member))
        return found

    def _speakers(self, inputs: Sequence[Input], outputs: Sequence[Output]) -> set[Key]:
        sessions, epoch = self._spoken, self.world.controller.epoch
        found: set[Key] = set()
        for each in inputs:
            if isinstance(each, ProcessDead):
                found.add((each.app, each.member))
            if not isinstance(each, Frame):
                continue
            message = each.message
            key = sessions.get(each.session)
            lost = key in self._before and self._before[key][2] == "lost"  # charged on all targets alike
            idle = isinstance(message, wire.Beat) and message.op == 0
            if isinstance(message, wire.Ack | wire.Beat) and message.epoch != epoch and not (idle or lost):
                continue
            if isinstance(message, wire.Register) or (isinstance(message, wire.Post) and not lost):
                continue
            if key is not None:
                found.add(key)
            if isinstance(message, wire.Goodbye | wire.Resync | wire.Hook):
                found |= {
                    (output.record.app, output.record.member)
                    for output in outputs
                    if isinstance(output, WriteRecords)
                    and isinstance(
                        output.record, records_of_core.Gone | records_of_core.Ended | records_of_core.Resynced
                    )
                }
        return found

    def _raises(self, outputs: Sequence[Output]) -> None:
        """Whatever is granted must fit, unless it is no more than was charged before."""
        state, plan = self._state, self.world.plan
        raised: set[str] = set()
        for output in outputs:
            if isinstance(output, WriteRecords) and isinstance(output.record, records_of_core.Granted):
                record = output.record
                member = state.find(record.app, record.member)
                if member is None or member.op is None or record.flags & FREE:
                    continue
                before = self._before.get(member.key, (0.0, 0.0, ""))[0]
                if member.charge > max(before, self._forced(member.key, outputs)) * (1 + TINY):
                    raised |= {state.routes.resources[k].name for k, _ in member.op.route.shares}
        charged = self._charged()
        for name in raised:
            capacity = state.capacity[state.routes.place[name]]
            if plan.settings.reserve == "strict":
                capacity *= 1.0 - plan.settings.phi
            self.expect(
                charged[name] <= capacity * (1 + TINY),
                f"a rate was raised though {charged[name]:g} of {capacity:g} are charged on {name!r}",
            )
            self.expect(state.now >= state.grace_until, "a rate was raised while old leases may live")

    def _forced(self, key: Key, outputs: Sequence[Output]) -> float:
        """What a member is charged with by this turn though nobody granted it, or by an operator's word."""
        made = [output.record for output in outputs if isinstance(output, WriteRecords)]
        kinds = records_of_core.Resynced | records_of_core.Posted
        held = [each.held for each in made if isinstance(each, kinds) and (each.app, each.member) == key]
        freed = [
            each.rate
            for each in made
            if isinstance(each, records_of_core.Granted) and each.flags & FREE and (each.app, each.member) == key
        ]
        member = self._state.find(*key)
        unpaced = member is not None and member.free is not None  # can use more where it was seen
        located = [each for each in made if isinstance(each, records_of_core.Located) and unpaced]
        seen = [member.charge for each in located if member and (each.app, each.member) == key]
        return max(held + freed + seen, default=0.0)

    def _leftovers(self) -> None:
        """Once every member has acked, nothing is left over that somebody could use."""
        core, state = self.world.controller.core, self._state
        plan = self.world.plan
        if state.mode != "run" or core.dirty or len(state.capacity) > 1 or core.decider.policy.name not in CONSERVING:
            return
        members = [member for member in state.members() if member.op is not None and member.stage != "lost"]
        if any(member.stage != "posted" or len(member.revs) > 1 for member in members):
            return
        if any(len(row.members) > 1 for row in state.rows.rows):
            return  # between its members, the parts of an application may wait for the next beat
        if self.longest_wait > 0.9 * plan.settings.max_wait:
            return  # what is kept for those that have waited too long may be more than they need
        usable = float(state.rows.able.sum())
        left = state.grantable(0) - state.charges.outside()[0]
        given = sum(member.charge for member in members if member.row is not None)
        self.seen["settled"] += 1
        self.expect(
            given >= min(usable, left) * (1 - 2 * plan.settings.epsilon) - TINY,
            f"all is acked, {given:g} are given out, {usable:g} could be used, {left:g} are there",
        )

    def _charged(self) -> Counter[str]:
        """Σ a·c on each resource, summed here and not by the core; those that a strict reserve is for are not in it."""
        state, settings = self._state, self.world.plan.settings
        charged: Counter[str] = Counter()
        lost = sum(member.nodes for member in state.members() if member.stage == "lost")
        for member in state.members():
            if member.stage == "lost" and settings.reserve != "strict":
                # More nodes than there are: somebody is in it twice.
                part = min(1.0, settings.machine_nodes / lost)
                charged.update({name: part * rate for name, rate in member.fallback.items()})
            if member.op is not None and member.stage != "lost":
                for k, share in member.op.route.shares:
                    charged[state.routes.resources[k].name] += share * member.charge  # type: ignore[assignment]  # a Counter counts floats, too
        return charged

    def _replay(self) -> None:
        """The same inputs at the same times lead a new core of the same beginning to the same outputs."""
        if self.world.plan.seed % REPLAYED == 0:
            self.seen["replays"] += 1
            difference = self.world.check_replay()
            self.expect(not difference, difference)

    # Words.

    @property
    def _state(self) -> ControllerState:
        return self.world.controller.core.state

    def _charge(self, client: Client) -> float:
        """What the controller charges for a client: the most, if it knows it by several numbers."""
        return max([member.charge for member in self._members(client)], default=0.0)

    def expect(self, true: bool, text: str) -> None:
        """Something must be so."""
        if not true:
            self.fail(text)

    def fail(self, text: str) -> None:
        """It is not."""
        world = self.world
        raise Violation(f"seed {world.plan.seed}, t = {world.now:.6f} s, epoch {world.controller.epoch}: {text}")


class Witness(Judge):
    """Knows nothing of what the controller thinks: it only adds up what clients really use."""

    def started(self, died: str | None) -> None:
        self._disturbed()

    def after_turn(self, t: float, inputs: Sequence[Input], outputs: Sequence[Output]) -> None:
        self._note_members()

    def _client(self, client: Client, rate: float, by: str) -> None:
        if rate > 0.0 and by == FALLBACK:
            self._note_fallback(client)

    def _replay(self) -> None:
        pass
