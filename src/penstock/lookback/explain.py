"""Looking back: why a job waited, and behind whom; and who was held back of late."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError, nearest
from penstock.live.journal.folder import in_use
from penstock.lookback.phases import OrderKeys, PastPhase, Phases
from penstock.lookback.walk import walk

MOST_HOLDERS = 5
REASONS = ("policy", "room", "controller")


OTHERS = "a job of another user"


class UnknownJob(PenstockError):
    """A job that a journal knows nothing of."""


@dataclass(frozen=True)
class Rank:
    """What policies go by, of a job at some moment; times are seconds."""

    posted: float  # how long before the other began to wait it had posted; below 0: after that
    yield_: float  # progress per second since its release
    remaining: float  # bytes still to move

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"posted": self.posted, "yield": self.yield_, "remaining": self.remaining}


@dataclass(frozen=True)
class Holder:
    """Somebody who was told to move so many bytes while another was held back."""

    job: str
    app: int
    bytes: float
    share: float  # of all that was told to others meanwhile
    rank: Rank | None = None  # when the other began to wait, or when it came itself; None: of several waits

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Holder:
        """What `to_dict` gave."""
        return cls(**{**told, "rank": _rank_of(told["rank"])})

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return vars(self) | {"rank": self.rank.to_dict() if self.rank else None}


@dataclass(frozen=True)
class Explained:
    """What became of one phase. Times are seconds; `delay` is the sum of what it lost for each reason."""

    number: int
    posted: str  # date and time
    direction: str
    targets: tuple[str, ...]
    announced: float
    moved: float
    limit: float
    seconds: float  # from the announcement to the end, or so far
    waited: float | None  # until the first rate above 0; None: there was none
    ended: bool
    dedicated: float  # what it would have taken alone
    policy: float
    room: float
    controller: float
    client: float
    held_by: tuple[Holder, ...]
    sharing: str | None  # the policy when it began to wait; None: it never did
    rank: Rank | None  # its own then

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Explained:
        """What `to_dict` gave."""
        plain = {name: value for name, value in told.items() if name != "delay"}
        held_by = tuple(map(Holder.from_dict, told["held_by"]))
        return cls(**{**plain, "targets": tuple(told["targets"]), "held_by": held_by, "rank": _rank_of(told["rank"])})

    @property
    def delay(self) -> float:
        """How much longer it took than alone."""
        return self.seconds - self.dedicated

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        held_by, rank = [holder.to_dict() for holder in self.held_by], self.rank.to_dict() if self.rank else None
        return vars(self) | {"delay": self.delay, "held_by": held_by, "rank": rank}


@dataclass(frozen=True)
class Explanation:
    """All phases of a job."""

    job: str
    operations: tuple[Explained, ...]
    held_by: tuple[Holder, ...]

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Explanation:
        """What `to_dict` gave."""
        operations = (Explained.from_dict(each) for each in told["operations"])
        return cls(told["job"], tuple(operations), tuple(map(Holder.from_dict, told["held_by"])))

    def total(self, name: str) -> float:
        """The sum of one of the numbers over all phases."""
        return float(sum(getattr(each, name) for each in self.operations))

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        names = ("announced", "moved", "seconds", "dedicated", "delay", *REASONS, "client")
        return {
            "job": self.job,
            "total": {name: self.total(name) for name in names},
            "held_by": [holder.to_dict() for holder in self.held_by],
            "operations": [each.to_dict() for each in self.operations],
        }


@dataclass
class HeldBack:
    """How much a job, or all jobs of a user, were held back."""

    name: str
    uid: int
    operations: int = 0
    limited: float = 0.0  # seconds at less than it could use
    lost: float = 0.0  # bytes that it could have moved in that time, and was not told to
    delay: float = 0.0  # seconds, as if it had been at its full rate or at none
    policy: float = 0.0
    room: float = 0.0
    controller: float = 0.0
    held: dict[int, float] = field(default_factory=dict)
    held_by: tuple[Holder, ...] = ()

    def add(self, phase: PastPhase) -> None:
        """Count a phase."""
        self.operations += 1
        self.limited += phase.limited
        self.lost += phase.lost
        for reason in REASONS:
            setattr(self, reason, getattr(self, reason) + getattr(phase, reason))
        self.delay += sum(getattr(phase, reason) for reason in REASONS)
        _add(self.held, phase.held)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        plain = {name: value for name, value in vars(self).items() if name != "held"}
        return plain | {"held_by": [holder.to_dict() for holder in self.held_by]}


@dataclass(frozen=True)
class Limited:
    """Who was held back between two times, most bytes lost first."""

    seconds: float
    until: str
    jobs: tuple[HeldBack, ...]
    users: tuple[HeldBack, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        jobs, users = ([each.to_dict() for each in held] for held in (self.jobs, self.users))
        return {"seconds": self.seconds, "until": self.until, "jobs": jobs, "users": users}


def explain(directory: str | os.PathLike[str], job: str, uid: int | None = None) -> Explanation:
    """Every phase of a job that the journal knows: what it lost, why, and to whom.

    For a user only jobs of its own are there, and what is said of others is how much they moved, not who they are.
    """
    phases = Phases(job=job)
    walk(directory, phases)
    phases.finish()
    own = [phase for phase in phases.all if phase.job == job and uid in (None, phases.names[phase.app][1])]
    if uid is not None:
        phases.names = {app: named if named[1] == uid else (OTHERS, -1) for app, named in phases.names.items()}
    if not own and uid is not None:
        raise UnknownJob(f"no job {job!r} of yours did any I/O that is remembered")
    if not own:
        raise UnknownJob(f"{directory}: {_not_there(job, {phase.job for phase in phases.all})}")
    own.sort(key=lambda phase: phase.posted)
    held: dict[int, float] = {}
    for phase in own:
        _add(held, phase.held)
    explained = (_explained(number, phase, phases) for number, phase in enumerate(own, start=1))
    return Explanation(job, tuple(explained), _holders(held, phases))


def limited(directory: str | os.PathLike[str], last: float, now: float | None = None) -> Limited:
    """Who was held back in the last seconds before `now` (since 1970)."""
    until = time.time() if now is None else now
    phases = Phases(until - last)
    walk(directory, phases, until - last)
    phases.finish(until, goes_on=in_use(Path(directory)))
    jobs: dict[int, HeldBack] = {}
    users: dict[int, HeldBack] = {}
    for phase in phases.all:
        if phase.limited > 0.0:
            jobs.setdefault(phase.app, HeldBack(phase.job, phase.uid)).add(phase)
            users.setdefault(phase.uid, HeldBack(str(phase.uid), phase.uid)).add(phase)
    for held in (*jobs.values(), *users.values()):
        held.held_by = _holders(held.held, phases)
    return Limited(last, _date(until), _worst_first(jobs.values()), _worst_first(users.values()))


def _explained(number: int, phase: PastPhase, phases: Phases) -> Explained:
    end = phases.end if phase.ended is None else phase.ended
    seconds = end - phase.posted
    ranks = {app: _rank(phase, standing) for app, standing in phase.standings.items()}
    return Explained(
        number=number,
        posted=_date(phase.wall),
        direction=phase.direction,
        targets=phase.targets,
        announced=phase.announced,
        moved=phase.moved,
        limit=phase.limit,
        seconds=seconds,
        waited=None if phase.first is None else phase.first - phase.posted,
        ended=phase.ended is not None,
        dedicated=phase.alone,
        policy=phase.policy,
        room=phase.room,
        controller=phase.controller,
        client=seconds - phase.alone - phase.policy - phase.room - phase.controller,
        held_by=_holders(phase.held, phases, ranks),
        sharing=phase.sharing or None,
        rank=ranks.get(phase.app),
    )


def _rank_of(told: Mapping[str, float] | None) -> Rank | None:
    return None if told is None else Rank(told["posted"], told["yield"], told["remaining"])


def _rank(phase: PastPhase, standing: OrderKeys) -> Rank:
    assert phase.waits is not None
    return Rank(phase.waits - standing.posted, standing.yield_, standing.remaining)


def _holders(held: Mapping[int, float], phases: Phases, ranks: Mapping[int, Rank] | None = None) -> tuple[Holder, ...]:
    total, ranks = sum(held.values()), ranks or {}
    most = sorted(held.items(), key=lambda item: (-item[1], item[0]))[:MOST_HOLDERS]
    named = [(phases.names[app], app, amount) for app, amount in most]
    return tuple(
        Holder(OTHERS, 0, amount, amount / total) if uid < 0 and job == OTHERS
        else Holder(job, app, amount, amount / total, ranks.get(app))
        for (job, uid), app, amount in named
    )  # fmt: skip


def _add(total: dict[int, float], more: Mapping[int, float]) -> None:
    for app, amount in more.items():
        total[app] = total.get(app, 0.0) + amount


def _worst_first(held: Iterable[HeldBack]) -> tuple[HeldBack, ...]:
    return tuple(sorted(held, key=lambda each: (-each.lost, each.name)))


def _not_there(job: str, known: set[str]) -> str:
    if not known:
        return f"no job {job!r}: no job did any I/O"
    near = nearest(job, known)
    shown = ", ".join(sorted(known)[:10]) + (" …" if len(known) > 10 else "")
    return f"no job {job!r} did any I/O; {f'did you mean {near[0]!r}? ' if near else ''}known: {shown}"


def _date(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).astimezone().isoformat(timespec="milliseconds")
