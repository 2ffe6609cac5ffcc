"""What an operator chooses for a controller: what is shared, by which policy, and the times that leases go by."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.errors import InvalidOption
from penstock.live.core.shares import Share
from penstock.wire.messages import BYTES, KINDS, PING

DIRECTIONS = ("read", "write")
RESERVES = ("bounded", "strict")
UNKNOWN = "unknown"  # the target of operations that name none, where there are several
_ROUNDING = 1e-9  # of times on clocks that have run for years


@dataclass(frozen=True, slots=True)
class Resource:
    """Bandwidth that is shared: of one target or, without one, of all together; of one direction or of both."""

    name: str
    capacity: float  # B_k, bytes/s
    target: str | None = None
    direction: str | None = None
    path: str | None = None  # where the target is mounted: so clients see which one their files are on
    kind: str = BYTES  # or operations on names, whose capacity is a number a second


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """Of a controller. Times are seconds.

    Where there are several targets, there is a resource `unknown`, too: operations that name no target are charged on
    it until their bytes were seen somewhere. It has what the smallest target has, unless it is given.

    `phi` is the part of each capacity that all nodes of the machine together may use when nobody tells them a rate;
    with `reserve` strict it is kept free at all times, else it may come on top for as long as a lease takes to run out.
    """

    resources: tuple[Resource, ...]
    machine_nodes: int = 1000
    sharing: str = "fair-share"
    phi: float = 0.5
    reserve: str = "bounded"
    lease: float = 8.0
    beat: float = 2.0
    ping: float = PING  # between beats of members that have nothing to move
    drift: float = 1e-3  # how far any clock may run from real time, relative
    pace: float = 0.002  # between two decisions, at least
    epsilon: float = 0.02  # changes of a rate below this part of it wait for a renewal
    max_wait: float = 600.0  # at rate 0, before an application gets the floor
    floor: float | None = None  # bytes/s; None: its fallback
    forget: float = 3600.0  # how long one that was lost is remembered
    window_begin: float = 0.0
    window_end: float | None = None  # for policies that look at the end of a window, in seconds since the beginning
    members_per_job: int = 64
    jobs_per_user: int = 20_000  # that are remembered; nobody may fill the memory with jobs
    shares: tuple[Share, ...] | None = None  # of accounts and users; None: all jobs are equal, whosoever they are

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise InvalidOption(problem)
        object.__setattr__(self, "resources", _with_unknown(self.resources))

    @property
    def waiting(self) -> float:
        """W: when this has passed since a beat arrived, the lease that it gave is over on any clock."""
        return self.lease * (1.0 + self.drift) / (1.0 - self.drift) * (1.0 + _ROUNDING)

    @property
    def silence(self) -> float:
        """How long a member with nothing to move may be silent on top of W until it counts as cut off.

        One ping may be missing: a job that computes may keep the thread that pings from running for a while.
        """
        return 2.0 * self.ping


def _with_unknown(resources: tuple[Resource, ...]) -> tuple[Resource, ...]:
    """With one more, on which operations are charged that name no target, if there is a choice of targets."""
    targets = {each.target for each in resources if each.target is not None}
    if UNKNOWN in targets or len(targets) < 2:
        return resources
    least = min(each.capacity for each in resources if each.target is not None)
    return (*resources, Resource(UNKNOWN, least, target=UNKNOWN))


def _problems(settings: ControllerSettings) -> Iterator[str]:
    if not any(resource.kind == BYTES for resource in settings.resources):
        yield "there is nothing to share; give a capacity"
    for name, count in Counter(resource.name for resource in settings.resources).items():
        if count > 1:
            yield f"resource {name!r} is there {count} times; names are unique"
    for resource in settings.resources:
        yield from _resource_problems(resource)
    yield from _time_problems(settings)
    yield from _number_problems(settings)


def _time_problems(settings: ControllerSettings) -> Iterator[str]:
    for name in ("lease", "beat", "ping", "max_wait", "forget"):
        if not 0.0 < getattr(settings, name) < math.inf:
            yield f"{name} is {getattr(settings, name):g}; a time in seconds > 0 is accepted"
    if not settings.beat < settings.lease:
        yield f"beat is {settings.beat:g} s; it must be shorter than the lease, {settings.lease:g} s"
    if not 0.0 <= settings.pace < math.inf:
        yield f"pace is {settings.pace:g}; a time in seconds ≥ 0 is accepted"


def _number_problems(settings: ControllerSettings) -> Iterator[str]:
    for name, least, below in (("phi", 0.0, 1.0), ("drift", 0.0, 0.5), ("epsilon", 0.0, 1.0)):
        if not least <= getattr(settings, name) < below:
            yield f"{name} is {getattr(settings, name):g}; a number from {least:g} to below {below:g} is accepted"
    if settings.phi == 0.0:
        yield "phi is 0; without a fallback a job would hang when the controller is away"
    if settings.reserve not in RESERVES:
        yield f"reserve is {settings.reserve!r}; accepted are {' and '.join(RESERVES)}"
    if settings.floor is not None and not 0.0 < settings.floor < math.inf:
        yield f"floor is {settings.floor:g}; a rate in bytes/s > 0 is accepted"
    for share in settings.shares or ():
        if not 0.0 < share.weight < math.inf:
            yield f"the share of {share.account or share.uid!r} is {share.weight:g}; a number > 0 is accepted"
    for name in ("machine_nodes", "members_per_job", "jobs_per_user"):
        if getattr(settings, name) < 1:
            yield f"{name} is {getattr(settings, name)}; a whole number ≥ 1 is accepted"


def _resource_problems(resource: Resource) -> Iterator[str]:
    if not resource.name or not resource.name.isprintable():
        yield f"a resource is named {resource.name!r}; a name is printable text, not empty"
    if (resource.name == UNKNOWN) != (resource.target == UNKNOWN):
        yield f"resource {resource.name!r} is of target {resource.target!r}; the one named 'unknown' is of 'unknown'"
    if resource.kind not in KINDS:
        yield f"the kind of {resource.name!r} is {resource.kind!r}; accepted are {' and '.join(KINDS)}"
    if resource.kind != BYTES and (resource.target or resource.direction or resource.path):
        yield f"resource {resource.name!r} is of operations, which have no target, direction or path"
    if not 0.0 < resource.capacity < math.inf:
        yield f"the capacity of {resource.name!r} is {resource.capacity:g}; a bandwidth > 0 is accepted"
    if resource.direction not in (None, *DIRECTIONS):
        yield f"the direction of {resource.name!r} is {resource.direction!r}; accepted are read, write, or none"
