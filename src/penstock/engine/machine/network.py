"""Resources, and the flows that may cross them, in arrays: what does not change during a run.

An operation of V bytes on n targets is n flows of V/n, each over its target, the application's I/O node and the file
system in its direction; without targets it is one. Every application has its flows for writes and for reads; behind a
buffer these are its drains and its fetches, and beside them are one flow into the buffer and one out of it. Who reads
and has no input in the buffer fetches straight past it, and who has no room there at all writes past it: by flows of
their own, which do not cross its port. A flow that moves at rate x takes use·x of each resource on its path.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from penstock.engine.machine.filling import fill_alone
from penstock.errors import InvalidScenario
from penstock.kernels.arrays import Floats, FloatTable, Ints
from penstock.model import Application, Scenario, Target
from penstock.model.plan import BUFFER, IO_NODE, LINK, TARGET, resource_name

Path = list[tuple[int, float]]  # resources, and what a unit of rate takes of each
OUT, IN, PUT, GET = range(4)  # what a flow is: to the file system, from it, into the buffer, out of it


class Resource(NamedTuple):
    """Something that is shared."""

    name: str
    kind: str
    capacity: float
    interference: tuple[float, ...] | None = None


class Layout(NamedTuple):
    """Who goes where: for each application its I/O node (-1: none) and its targets, by place."""

    io_node: Sequence[int]
    targets: Sequence[Sequence[int]]


class Network(NamedTuple):
    """`m` applications, `R` resources, `S` flows that may exist; flow s crosses the edges `path[s] : path[s + 1]`."""

    capacity: Floats  # R
    efficiency: FloatTable  # R × k: share of it with 1, 2, … applications moving; empty: always all
    first: Ints  # 4·m + 1: the flows of kind q of application i are first[4·i + q] : first[4·i + q + 1]
    owner: Ints  # S
    kind: Ints  # S: OUT, IN, PUT or GET; straight past the buffer they lie behind the PUT, or the GET
    path: Ints  # S + 1
    resource: Ints  # E
    use: Floats  # E: of the resource, per byte/s
    edge_flow: Ints  # E: whose edge it is
    place: Ints  # E: which one its owner is among the applications that may use the resource, in scenario order
    peak: Floats  # S: the most that it can be
    weight: Floats  # S: its rate if its application were alone
    even: Floats  # S: 1/n, its weight under max-min
    room: Ints  # R + 1: edges of a resource, at most so many side by side
    occupant_first: Ints  # R + 1
    occupant: Ints  # the applications that may use a resource, resource after resource
    speed: FloatTable  # m × 2: b_i of a write and of a read
    buffered: Ints  # m: 1: it has a part of the buffer
    port: int  # the buffer's resource; -1: it has none


class Caps(NamedTuple):
    """What an application can drive by itself if all its nodes have as much to move; infinity if nothing says."""

    write: float
    read: float


def resources_of(scenario: Scenario) -> list[Resource]:
    """All resources of a scenario, in the order of their names in models §9."""
    platform = scenario.platform
    found: list[Resource] = []
    if platform.io_nodes is not None:
        nodes = platform.io_nodes
        found += [Resource(f"io_node:{k}", IO_NODE, nodes.bandwidth, nodes.interference) for k in range(nodes.count)]
    for place, target in enumerate(targets_of(scenario)):
        size = 1.0 if target.capacity is None else target.capacity
        found.append(Resource(resource_name(place, scenario), TARGET, size, target.interference))
    directions = {"read": platform.read_bandwidth, "write": platform.write_bandwidth}
    for way, bandwidth in directions.items():
        if bandwidth is not None:
            found.append(Resource(f"file_system:{way}", LINK, bandwidth, platform.interference))
    if platform.bandwidth is not None and platform.targets is None:
        found.append(Resource("file_system", LINK, platform.bandwidth, platform.interference))
    buffer = platform.burst_buffer
    if buffer is not None and buffer.bandwidth is not None:
        found.append(Resource("buffer", BUFFER, buffer.bandwidth))
    return found


def targets_of(scenario: Scenario) -> tuple[Target, ...]:
    """The targets of the platform, none if it has none."""
    targets = scenario.platform.targets
    if isinstance(targets, int):
        return tuple(Target(name=str(place)) for place in range(targets))
    return targets or ()


def caps_of(application: Application, scenario: Scenario) -> Caps:
    """Its own caps, else what its nodes can drive."""
    own, each = application.bandwidth, scenario.platform.node_bandwidth
    if own is None:
        own = math.inf if each is None else application.nodes * each
    return Caps(application.write_bandwidth or own, application.read_bandwidth or own)


class _Builder:
    """Collects flows, application after application."""

    def __init__(self, scenario: Scenario, resources: Sequence[Resource], layout: Layout, shares: Floats) -> None:
        self.scenario, self.resources, self.layout, self.shares = scenario, resources, layout, shares
        self.index = {resource.name: place for place, resource in enumerate(resources)}
        self.targets = targets_of(scenario)
        self.first, self.path = [0], [0]
        self.resource: list[int] = []
        self.use: list[float] = []
        self.owner: list[int] = []
        self.kind: list[int] = []
        self.peak: list[float] = []
        self.even: list[float] = []

    def add_all(self) -> None:
        for i, application in enumerate(self.scenario.applications):
            caps = caps_of(application, self.scenario)
            buffered = self.shares[i] > 0.0
            port = [(self.index["buffer"], 1.0)] if buffered and "buffer" in self.index else []
            for kind, way, cap in ((OUT, "write", caps.write), (IN, "read", caps.read)):
                self._add_phase(i, application, kind, way, cap, buffered, port)
                self.first.append(len(self.owner))
            for kind, way, cap in ((PUT, "write", caps.write), (GET, "read", caps.read)):
                if buffered:
                    self._add(i, kind, port, self._known(application, i, way, cap) / application.node_skew, 1.0)
                if buffered and (port or kind == GET):
                    self._add_phase(i, application, kind - 2, way, cap, buffered, [])
                self.first.append(len(self.owner))

    def _add_phase(
        self, i: int, application: Application, kind: int, way: str, cap: float, buffered: bool, port: Path
    ) -> None:
        """The flows of an operation, or of drains and fetches."""
        common = [self.index[name] for name in self._shared(i, way) if name in self.index]
        chosen = self.layout.targets[i]
        n = max(1, len(chosen))
        most = self._peak(application, i, n, way, cap, buffered)
        for place in chosen or (-1,):
            path = [*port, *((shared, 1.0) for shared in common)]
            peak = most
            if place >= 0:
                target = self.targets[place]
                peak = min(peak, target.bandwidth or math.inf)
                if math.isinf(peak) and target.capacity is not None:
                    peak = target.capacity / application.node_skew
                self._check_peak(application, peak)
                at = self.index[resource_name(place, self.scenario)]
                path.append((at, 1.0 if target.capacity is not None else 1.0 / peak))
            self._check_peak(application, peak)
            self._add(i, kind, path, peak, 1.0 / n)

    def _shared(self, i: int, way: str) -> list[str]:
        node = self.layout.io_node[i]
        return [*([f"io_node:{node}"] if node >= 0 else []), f"file_system:{way}", "file_system"]

    def _peak(self, application: Application, i: int, n: int, way: str, cap: float, buffered: bool) -> float:
        """The most that one of its n flows can be: by its profile where it has one; drains keep to the cap, too."""
        skew = application.node_skew
        if self.targets and application.profile is not None:
            profile = application.profile[n] / skew / n
            return min(cap / skew / n, profile) if buffered else profile
        # Not clipped to what is narrower on its way: a target that divides its time goes by what a flow could be.
        known = self._known(application, i, way, cap)
        if skew > 1.0 and not buffered and not self.targets:
            known = min(known, self._narrowest(i, way))  # its slowest node holds up as much as could be moved
        return known / skew / n

    def _narrowest(self, i: int, way: str) -> float:
        """The least of what all its flows cross: no application can use more (models §1)."""
        common = [self.resources[self.index[name]].capacity for name in self._shared(i, way) if name in self.index]
        return min(common, default=math.inf)

    def _known(self, application: Application, i: int, way: str, cap: float) -> float:
        """A cap behind a buffer: it may be above what the file system takes; without one it is as much as that."""
        return self._narrowest(i, way) if math.isinf(cap) else cap

    def _check_peak(self, application: Application, peak: float) -> None:
        if math.isinf(peak):
            raise InvalidScenario(
                f"application {application.name!r} has nothing that limits it: neither a cap (bandwidth, a profile, "
                "node_bandwidth of the platform) nor an I/O node, a file system or a target with a capacity"
            )

    def _add(self, i: int, kind: int, path: Path, peak: float, even: float) -> None:
        self.owner.append(i)
        self.kind.append(kind)
        self.peak.append(peak)
        self.even.append(even)
        self.resource += [at for at, _ in path]
        self.use += [use for _, use in path]
        self.path.append(len(self.resource))


def network_of(scenario: Scenario, resources: Sequence[Resource], layout: Layout, shares: Floats) -> Network:
    """The arrays; `shares` are the parts of the buffer that applications would have, all 0 without one."""
    built = _Builder(scenario, resources, layout, shares)
    built.add_all()
    owner, path = np.array(built.owner, np.int64), np.array(built.path, np.int64)
    resource, use = np.array(built.resource, np.int64), np.array(built.use, np.float64)
    capacity = np.array([each.capacity for each in resources], np.float64)
    peak = np.array(built.peak, np.float64)
    edge_flow = np.repeat(np.arange(owner.size), np.diff(path))
    first = np.array(built.first, np.int64)
    alike = np.ones(owner.size)  # so the slowest of an operation's flows is the last, and whoever is alone has yield 1
    weight = np.zeros(owner.size)
    room = np.zeros(capacity.size)
    for k in range(first.size - 1):
        past = first[k] + 1 if k % 4 >= PUT and first[k] < first[k + 1] else first[k + 1]
        fill_alone(path, resource, use, capacity, alike, peak, room, first[k], past, weight)
        if past < first[k + 1]:  # straight past the buffer they count as through it
            weight[past : first[k + 1]] = weight[first[k - 2] : first[k - 1]]
    occupant_first, occupant, place = _occupants(owner[edge_flow], resource, capacity.size)
    m = len(scenario.applications)
    buffered = (shares > 0.0).astype(np.int64)
    return Network(
        capacity=capacity,
        efficiency=_efficiencies(resources),
        first=first,
        owner=owner,
        kind=np.array(built.kind, np.int64),
        path=path,
        resource=resource,
        use=use,
        edge_flow=edge_flow,
        place=place,
        peak=peak,
        weight=weight,
        even=np.array(built.even, np.float64),
        room=np.concatenate([[0], np.cumsum(np.bincount(resource, minlength=capacity.size))]).astype(np.int64),
        occupant_first=occupant_first,
        occupant=occupant,
        speed=np.array([[_speed(first, weight, buffered[i], i, kind) for kind in (OUT, IN)] for i in range(m)]),
        buffered=buffered,
        port=built.index.get("buffer", -1),
    )


def _speed(first: Ints, weight: Floats, buffered: int, i: int, kind: int) -> float:
    """b_i of an operation: n·min w, so that who is alone has yield 1; behind a buffer what its port takes."""
    chosen = 4 * i + (kind + 2 if buffered else kind)
    own = weight[first[chosen] : first[chosen] + 1 if buffered else first[chosen + 1]]
    return float(own.size * own.min())


def _occupants(owner: Ints, resource: Ints, count: int) -> tuple[Ints, Ints, Ints]:
    """The applications of each resource, and for each edge its owner's place among them."""
    width = int(owner.max(initial=0)) + 1
    keys, place = np.unique(resource * width + owner, return_inverse=True)
    first = np.searchsorted(keys, np.arange(count + 1) * width)
    return first.astype(np.int64), (keys % width).astype(np.int64), (place - first[resource]).astype(np.int64)


def _efficiencies(resources: Sequence[Resource]) -> FloatTable:
    tables = [each.interference or (1.0,) for each in resources]
    most = max(len(each) for each in tables)
    if most == 1:
        return np.empty((0, 0))
    return np.array([[*each, *[each[-1]] * (most - len(each))] for each in tables], np.float64)
