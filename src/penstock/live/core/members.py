"""Applications and their members, as the controller knows them. Times count from the beginning of the state."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, isnan, nan
from typing import NamedTuple

from penstock.kernels.compile import plain
from penstock.live.core.resources import Key, Route
from penstock.policies.sharing.rules import mean_iteration
from penstock.wire.messages import BYTES

_omega = plain(mean_iteration)
Rev = tuple[int, int]  # (epoch, number): the order of all that a member was ever told


@dataclass(slots=True)
class BatchJob:
    """What the batch system said about a job."""

    uid: int
    nodes: int
    ends: float  # when its time is over; infinity if it did not say
    account: str = ""
    restart: int = 0  # how often it was requeued
    names: tuple[str, ...] = ()  # of its nodes, if they were said
    over: frozenset[str] = frozenset()  # nodes on which it has ended
    ending: bool = False

    def may_have(self, node: str) -> bool:
        """Whether that may be one of its nodes."""
        return not self.names or node in self.names


class Stage(StrEnum):
    """Where a member stands."""

    IDLE = "idle"  # registered, no operation
    POSTED = "posted"  # with an operation
    ORPHAN = "orphan"  # with an operation; the link is lost, the lease may live
    LOST = "lost"  # the lease is over: it goes on at its fallback
    RECOVERED = "recovered"  # with an operation, known from the journal only
    GONE = "gone"


@dataclass(slots=True)
class Op:
    """An operation under way. `done` is where it was at `since`; from there on it moves at the member's rate."""

    number: int
    volume: float
    route: Route
    cap: float | None
    posted: float
    since: float
    confidence: float = 1.0
    done: float = 0.0
    reported: float = 0.0
    said: float = 0.0  # the volume in the member's own words
    program: str = ""

    def done_at(self, now: float, rate: float) -> float:
        """How far it should be by now."""
        return min(self.volume, self.done + rate * (now - self.since))


class Seen(NamedTuple):
    """At a beat: how far an operation was, how far it could have been at least, and the rate that it was told."""

    time: float
    done: float
    allowed: float
    rate: float


@dataclass(slots=True, eq=False)
class Member:
    """One connection that moves bytes for an application.

    `rate` is the newest that it was told, `charge` the most that it may be using as far as can be proved: the highest
    of `revs`, which are all since the one that it acked last.
    """

    app: App
    number: int
    nodes: float
    cap: float | None = None
    fallback: dict[str, float] = field(default_factory=dict)  # by resource, for an operation on that one alone
    labels: dict[str, str] = field(default_factory=dict)
    stage: Stage = Stage.IDLE
    op: Op | None = None
    last_op: int = -1
    rate: float = 0.0
    rev: int = 0  # the newest that it was told
    revs: dict[Rev, float] = field(default_factory=dict)
    free: Rev | None = None  # told to go unpaced by this one, which no lease ends
    charge: float = 0.0
    lost_at: float = inf
    usable: float = inf  # what it can use by what it was seen to use; infinity: all that it is granted
    row: RouteRow | None = None
    # While connected only.
    session: int | None = None
    connection: int = -1  # by which a node's agent last spoke for it
    hb: int = -1
    reclaim: float = inf
    lapse: tuple[Rev, float] | None = None  # since this one it was told less; when all before it are over
    entered: float = -inf  # when it last came with an operation
    seen: list[Seen] = field(default_factory=list)  # at its last beats
    outside: float = 0.0  # bytes that went past its pacer, by its own word, and how
    how: str = ""

    @property
    def key(self) -> tuple[int, int]:
        """What records call it."""
        return self.app.number, self.number

    @property
    def closed_without_moving(self) -> bool:
        """Whether it hung up before its first operation: nothing was ever granted to it."""
        return self.stage is Stage.IDLE and self.session is None and self.last_op < 0

    @property
    def unpaced(self) -> bool:
        """Whether the newest word to it was to go unpaced."""
        return self.free is not None and self.free[1] == self.rev


@dataclass(slots=True, eq=False)
class App:
    """One job's identity. `progress` counts finished phases only; `posted` is when the present one began, or NaN."""

    number: int
    job: str
    uid: int
    place: int
    release: float
    progress: float
    since: float  # when it was last known to have no operation
    labels: dict[str, str] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict)
    posted: float = nan
    work: float = 0.0
    phase_bytes: float = 0.0  # of the members that ended their part of the present phase
    phase_limit: float = 0.0
    operations: int = 0
    iterations: float = 0.0
    iteration_seconds: float = 0.0
    announced: float = 0.0
    moved: float = 0.0
    empty_since: float = inf
    evicted: bool = False
    account: str = ""  # by the word of the batch system or a token
    seen_on: dict[str, tuple[str, ...]] = field(default_factory=dict)  # targets, by direction, if it names none
    program: str = ""  # a digest of what moves its bytes, of a job that announces nothing
    volumes: list[float] = field(default_factory=list)  # of its last phases that nobody announced
    most_nodes: int = 0  # that it had in this run
    period: float = nan  # of an iteration, by earlier runs
    kind: str = BYTES  # what its volumes and rates are counted in; what a job does on names is another application

    @property
    def active(self) -> bool:
        """Whether a phase is under way."""
        return self.posted == self.posted  # not NaN

    @property
    def nodes(self) -> float:
        """Of all its members."""
        return sum(member.nodes for member in self.members.values())

    @property
    def owner(self) -> tuple[str, int]:
        """Whose bandwidth it uses."""
        return self.account, self.uid

    @property
    def omega(self) -> float:
        """The mean length of its iterations so far; before the first, that of earlier runs if it is known."""
        own = _omega(self.iteration_seconds, self.iterations)
        return self.period if isnan(own) else own


class RateSplit(NamedTuple):
    """How the rate of a row was last divided among its members, for renewals."""

    time: float
    rate: float
    parts: dict[Member, float]


@dataclass(slots=True, eq=False)
class RouteRow:
    """The members of an application that use the same route, as one line of what a policy is shown."""

    app: App
    route: Route
    index: int
    members: dict[int, Member] = field(default_factory=dict)
    lately: RateSplit | None = None

    @property
    def key(self) -> tuple[int, Key]:
        """What decisions call it."""
        return self.app.number, self.route.key
