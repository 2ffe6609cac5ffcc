"""Looking back at I/O phases: those of all jobs of a journal, and what became of each second of them.

While a phase lasts, its job could use `limit`; one that was seen to use less is granted no more than it needs, and then
that is what it is `able` to use. What it is told to use is less, for one of three reasons: the *policy* wants it so;
there is no *room* yet, since others have not confirmed that they slowed down; or the *controller* is away, or does not
know yet who else is there. All else that is not used is the *client*'s own.

Numbers only change with records about the job, so a phase is brought up to date only then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from penstock.kernels.arrays import Floats
from penstock.live.core import ControllerState, records
from penstock.live.core.members import App, Member
from penstock.live.journal import JournalEntry
from penstock.wire.messages import BYTES

_NO_REASON = 1e-9  # of the limit: less is not worth a reason


class Numbers(NamedTuple):
    """Of a phase at some moment, in bytes/s: what it could and would use, what it is told, and why that is less."""

    limit: float = 0.0
    able: float = 0.0  # the limit, or less if it was seen to need less
    rate: float = 0.0
    policy: float = 0.0
    room: float = 0.0
    controller: float = 0.0

    @property
    def held_back(self) -> bool:
        """Whether it is told less than it would use."""
        return self.able - self.rate > _NO_REASON * self.able


class OrderKeys(NamedTuple):
    """What policies order jobs by, of one of them, when it and a job that waits first stood side by side."""

    posted: float  # when its phase began, in the journal's time
    yield_: float  # progress since its release, per second
    remaining: float  # bytes that it had still to move


@dataclass(eq=False)
class PastPhase:
    """One I/O phase of a job, from its first announcement to the end of its last operation. Times are the journal's."""

    app: int
    job: str
    uid: int
    nodes: float
    direction: str
    targets: tuple[str, ...]
    places: frozenset[int]  # of the resources that it uses
    posted: float
    wall: float  # when it was posted, in seconds since 1970
    work: float  # seconds that the job computed before it
    announced: float = 0.0
    moved: float = 0.0
    limit: float = 0.0  # the highest
    alone: float = 0.0  # seconds for the bytes moved, each at what could be used when it was
    first: float | None = None  # when it was first told a rate above 0
    ended: float | None = None
    policy: float = 0.0  # seconds lost
    room: float = 0.0
    controller: float = 0.0
    lost: float = 0.0  # bytes that it could have moved, and was not told to
    limited: float = 0.0  # seconds at less than the limit
    given: float = 0.0  # bytes that it was told to move
    held: dict[int, float] = field(default_factory=dict)  # bytes that others were told to move meanwhile
    waits: float | None = None  # since when it was first limited
    sharing: str = ""  # the policy then
    standings: dict[int, OrderKeys] = field(default_factory=dict)  # of it and of those beside it, by application
    settled: float = 0.0
    numbers: Numbers = field(default_factory=Numbers)
    parts: dict[int, float] = field(default_factory=dict)  # by member: what it reported of its open operation

    def report(self, member: int, done: float) -> None:
        """Note how much of its open operation a member has moved by now."""
        limit = self.numbers.limit or self.limit
        if limit > 0.0:
            self.alone += (done - self.parts.get(member, 0.0)) / limit
        self.parts[member] = done

    def given_at(self, now: float, since: float) -> float:
        """Bytes that it has been told to move from one time to another."""
        return self.given + self.numbers.rate * max(0.0, now - max(self.settled, since))


class _Seen(NamedTuple):
    """What others had been given when somebody began to be limited."""

    given: dict[PastPhase, float]
    closed: int


class Phases:
    """A watcher that finds all phases; seconds before `since` (seconds since 1970) are not counted.

    With a `job`, only of its phases is it noted who was given what meanwhile, and how they stood.
    """

    def __init__(self, since: float = -inf, job: str | None = None) -> None:
        self.closed: list[PastPhase] = []
        self.open: dict[int, PastPhase] = {}
        self.names: dict[int, tuple[str, int]] = {}  # job and user by application
        self.capacity: dict[str, dict[float, float]] = {}  # by resource: seconds at each capacity
        self.policies: dict[str, float] = {}  # seconds under each
        self.decisions = 0
        self.on_names = 0  # phases of operations on names, which are left out
        self.begin = self.end = 0.0
        self.wall = 0.0  # of the end
        self._lease = 0.0
        self._since, self._from = since, -inf
        self._job = job
        self._seen: dict[PastPhase, _Seen] = {}
        self._grace = -inf
        self._in_force: tuple[str, dict[str, float]] | None = None  # policy and capacities

    @property
    def all(self) -> list[PastPhase]:
        """Those that ended, in that order, then those that did not."""
        return [*self.closed, *self.open.values()]

    def begun(self, state: ControllerState, wall: float) -> None:
        """Phases that were under way when the journal begins."""
        self.begin = self.end = state.now
        self.wall, self._lease = wall, state.settings.lease
        self._from = state.now - (wall - self._since)
        for app in state.apps.values():
            if app.active and app.kind == BYTES:
                self._open(state, app, wall - (state.now - app.posted))
                self._read(state, app)

    def happened(self, state: ControllerState, entry: JournalEntry, wall: float) -> None:
        """Bring up to date whom a record is about."""
        self._count_time(state, state.now - self.end)
        self.end, self.wall, self._lease = state.now, wall, state.settings.lease
        self._from = state.now - (wall - self._since)
        record = entry.record
        if isinstance(record, records.Started):
            self._settle_outage(state)
        affected = self._affected(record)
        for number in affected:
            if (phase := self.open.get(number)) is not None:
                self._settle(phase, state.now)
        self._grace = state.grace_until if state.chosen == "run" else -inf
        self._note(state, record, wall)
        for number in affected:
            self._look(state, number)

    # Who, and since when.

    def _affected(self, record: records.StateChange) -> Iterable[int]:
        self.decisions += isinstance(record, records.RatesDecided)
        return concerned(record, self.open)

    def _note(self, state: ControllerState, record: records.StateChange, wall: float) -> None:
        """What a record says of volumes."""
        if isinstance(record, records.Posted | records.Resynced):
            app = state.apps[record.app]
            if app.kind != BYTES:
                self.on_names += 1
                return
            phase = self.open.get(record.app)
            if phase is None:
                phase = self._open(state, app, wall - (state.now - app.posted))
                self._read(state, app)
            if isinstance(record, records.Posted) or record.member not in phase.parts:
                phase.announced += record.volume
            if isinstance(record, records.Posted):
                phase.parts[record.member] = 0.0
            else:
                phase.report(record.member, record.done)
            return
        phase_of = self.open.get(getattr(record, "app", 0))
        if phase_of is None:
            return
        if isinstance(record, records.Extended):
            phase_of.announced += record.more
        elif isinstance(record, records.Progressed | records.Adrift):
            phase_of.report(record.member, record.done)
        elif isinstance(record, records.Ended):
            phase_of.report(record.member, record.done)
            phase_of.moved += phase_of.parts.pop(record.member)
        elif isinstance(record, records.Gone):
            phase_of.moved += phase_of.parts.pop(record.member, 0.0)

    def _look(self, state: ControllerState, number: int) -> None:
        app = state.apps.get(number)
        if app is not None and app.active and app.kind == BYTES:
            self._read(state, app)
        elif number in self.open:
            self._close(state, self.open.pop(number))

    def _open(self, state: ControllerState, app: App, wall: float) -> PastPhase:
        member = next(member for member in app.members.values() if member.op is not None)
        assert member.op is not None
        direction, targets = member.op.route.key
        phase = PastPhase(
            app.number, app.job, app.uid, app.nodes, direction, targets,
            frozenset(k for k, _ in member.op.route.shares), app.posted, wall, app.work,
        )  # fmt: skip
        phase.settled = app.posted
        self.open[app.number] = phase
        self.names[app.number] = app.job, app.uid
        if self._job is not None:
            for waiting in self._seen:
                self._compare(state, waiting, [phase])
        return phase

    def _close(self, state: ControllerState, phase: PastPhase) -> None:
        phase.ended = state.now
        phase.moved += sum(phase.parts.values())
        self._not_limited(phase, state.now)
        phase.numbers = Numbers()
        self.closed.append(phase)

    # What became of the time.

    def _read(self, state: ControllerState, app: App) -> None:
        phase = self.open[app.number]
        phase.numbers = numbers = numbers_of(state, app)
        phase.limit = max(phase.limit, numbers.limit)
        phase.nodes = app.nodes
        if phase.first is None and numbers.rate > 0.0:
            phase.first = state.now
        if numbers.held_back:
            if phase not in self._seen and self._job in (None, phase.job):
                others = self._others(phase)
                self._seen[phase] = _Seen(
                    {each: each.given_at(state.now, self._from) for each in others}, len(self.closed)
                )
                if self._job is not None:
                    self._compare(state, phase, [phase, *others])
        else:
            self._not_limited(phase, state.now)

    def _compare(self, state: ControllerState, waiting: PastPhase, others: Sequence[PastPhase]) -> None:
        if waiting.waits is None:
            waiting.waits, waiting.sharing = state.now, state.sharing
        settled = state.rows.settled_to(state.now)
        for each in others:
            if each.app not in waiting.standings and each.places & waiting.places:
                waiting.standings[each.app] = _standing(state, state.apps[each.app], *settled)

    def _others(self, phase: PastPhase) -> list[PastPhase]:
        return [each for each in self.open.values() if each is not phase and each.places & phase.places]

    def _not_limited(self, phase: PastPhase, now: float) -> None:
        """Note who was given what since the phase began to be limited."""
        seen = self._seen.pop(phase, None)
        if seen is None:
            return
        gone = [each for each in self.closed[seen.closed :] if each.places & phase.places]
        for other in (*gone, *self._others(phase)):
            bytes_ = other.given_at(now, self._from) - seen.given.get(other, 0.0)
            if bytes_ > 0.0 and other.app != phase.app:
                phase.held[other.app] = phase.held.get(other.app, 0.0) + bytes_

    def _settle(self, phase: PastPhase, now: float) -> None:
        """Count the time since the phase was last looked at, at the numbers of then."""
        begin, phase.settled = max(phase.settled, self._from), max(phase.settled, now)
        early = min(now, self._grace) - begin
        if early > 0.0:
            self._count(phase, phase.numbers, early, all_controller=True)
            begin += early
        if now > begin:
            self._count(phase, phase.numbers, now - begin)

    def _count(self, phase: PastPhase, numbers: Numbers, seconds: float, all_controller: bool = False) -> None:
        _, able, rate, policy, room, controller = numbers
        if all_controller:
            policy, room, controller = 0.0, 0.0, policy + room + controller
        phase.given += rate * seconds
        if able <= 0.0:
            return
        phase.policy += policy / able * seconds
        phase.room += room / able * seconds
        phase.controller += controller / able * seconds
        phase.lost += max(0.0, able - rate) * seconds
        if numbers.held_back:
            phase.limited += seconds

    def _settle_outage(self, state: ControllerState) -> None:
        """A controller takes over: told rates held until the leases were over, then everyone was on its own."""
        lease = state.settings.lease
        for phase in self.open.values():
            if state.now - phase.settled <= lease:
                continue
            self._settle(phase, phase.settled + lease)
            app = state.apps.get(phase.app)
            members = app.members.values() if app is not None else ()
            limit, able = phase.numbers.limit, phase.numbers.able
            alone = sum(_alone(state, member) for member in members if member.op is not None)
            rate = min(alone, able)
            begin = max(phase.settled, self._from)
            phase.settled = state.now
            if state.now > begin:
                self._count(phase, Numbers(limit, able, rate, 0.0, 0.0, able - rate), state.now - begin)

    def _count_time(self, state: ControllerState, seconds: float) -> None:
        """What was in force since the record before counts for the time up to this one."""
        names = (resource.name for resource in state.settings.resources)
        now = state.sharing, dict(zip(names, state.capacity, strict=True))
        policy, capacities = self._in_force or now
        self.policies[policy] = self.policies.get(policy, 0.0) + seconds
        for name, capacity in capacities.items():
            times = self.capacity.setdefault(name, {})
            times[capacity] = times.get(capacity, 0.0) + seconds
        self._in_force = now

    def finish(self, until: float = -inf, goes_on: bool = False) -> None:
        """Bring everything up to the end of the journal, or to a time after it (seconds since 1970).

        While nothing is written all is as it was, if the controller `goes_on`; else that is so for a lease.
        """
        later = max(0.0, until - self.wall)
        later = later if goes_on else min(later, self._lease)
        self.end, self.wall = self.end + later, self.wall + later
        for phase in self.open.values():
            self._settle(phase, self.end)
            phase.moved += sum(phase.parts.values())
        for phase in self.open.values():
            self._not_limited(phase, self.end)


def concerned(record: records.StateChange, everyone: Iterable[int]) -> Iterable[int]:
    """The applications whose numbers a record may change."""
    if isinstance(record, records.RatesDecided):
        return {number for number, *_ in record.rates} | {number for number, *_ in record.floored}
    if isinstance(record, records.Started | records.Commanded):
        return list(everyone)
    number = getattr(record, "app", 0)
    return (number,) if number else ()


def numbers_of(state: ControllerState, app: App) -> Numbers:
    """What an application with an open phase could use and is told."""
    inside: dict[int, list[Member]] = {}
    limit = able = rate = policy = room = controller = 0.0
    for member in app.members.values():
        if member.op is None:
            continue
        if member.row is not None:
            inside.setdefault(member.row.index, []).append(member)
            continue
        free = member.unpaced or app.job in state.exempt
        most = state.limit(member)
        need = most if free else min(most, member.usable)
        told = most if free else min(member.rate, most)
        limit, able, rate, controller = limit + most, able + need, rate + told, controller + max(0.0, need - told)
    for index, members in inside.items():
        most, wanted = float(state.rows.limit[index]), float(state.rows.wanted[index])
        told = min(most, sum(state.limit(each) if each.unpaced else each.rate for each in members))
        need = min(most, float(state.rows.usable[index]))
        limit, able, rate = limit + most, able + need, rate + told
        room += max(0.0, min(wanted, need) - told)
        policy += max(0.0, need - max(told, min(wanted, need)))
    return Numbers(limit, able, rate, policy, room, controller)


def _standing(state: ControllerState, app: App, remaining: Floats, progress: Floats) -> OrderKeys:
    busy = [member for member in app.members.values() if member.op is not None]
    rows = {member.row.index for member in busy if member.row is not None}
    unseen = sum(each.op.volume - each.op.done for each in busy if each.op is not None and each.row is None)
    age = state.now - app.release
    done = max([app.progress, *(float(progress[row]) for row in rows)])
    left = sum(max(0.0, float(remaining[row])) for row in rows)
    return OrderKeys(app.posted, done / age if age > 0.0 else 1.0, left + unseen)


def _alone(state: ControllerState, member: Member) -> float:
    """What a member uses without a controller."""
    assert member.op is not None
    return state.fallback(member, member.op.route)
