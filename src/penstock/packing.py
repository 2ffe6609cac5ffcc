"""Jobs on I/O nodes: which run together, where and when, and what comes of it. The Python face of `penstock pack` (P3).

A mapping decides by what was announced: times alone and volumes without noise. The engine then runs each I/O node with
the real ones. Nodes do not disturb each other.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from penstock.engine.program import Floats, Ints
from penstock.engine.run import Execution, execute
from penstock.engine.tally import tally
from penstock.errors import InvalidOption, InvalidScenario
from penstock.mapping.backfill import DEFAULT_SENSITIVITY, Backfill
from penstock.mapping.longest_first import longest_first
from penstock.mapping.make_pack import make_pack
from penstock.metrics.measure import Study
from penstock.model import IoNodes, Scenario
from penstock.runs import Policy
from penstock.sharing import find
from penstock.sharing.policy import Outlook, Sharing
from penstock.sharing.view import SAME

Progress = Callable[[int], None]  # how many jobs have ended

FIRST_FIT, BY_ALPHA = "inf", "alpha"
MOST_IO_NODES = 10_000


@dataclass(frozen=True)
class Pack:
    """Jobs that start together on one I/O node; the node's next pack starts when all of them have ended."""

    jobs: tuple[str, ...]
    io_node: int
    start: float
    end: float
    max_stretch: float
    processors: int  # used by its jobs
    load: float  # L: I/O seconds over the longest time alone, as announced


@dataclass(frozen=True)
class PackedJob:
    """Where and when a job ran. Its stretch counts from its start: (end - start) / time alone."""

    name: str
    io_node: int
    pack: int | None  # place in `Packing.packs`; None when backfilled
    nodes: int
    start: float
    end: float
    stretch: float
    io_share: float  # of its time alone, at the full rate of an I/O node

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {name: value for name, value in asdict(self).items() if name != "io_share"}


@dataclass(frozen=True)
class Packing:
    """Jobs mapped to I/O nodes and run there. Shares are of the processor time until the last job ends."""

    sensitivity: float | str  # as asked: a number, "inf" or "alpha"
    io_nodes: int
    processors: int  # of each I/O node
    sharing: str
    alpha: float  # I/O load of the jobs: processors per I/O node · I/O seconds / processor seconds
    packs: tuple[Pack, ...]  # none when backfilled
    makespan: float
    bound: float  # no schedule can end earlier
    mean_pack_max_stretch: float | None
    max_stretch: float
    mean_stretch: float
    exec: float  # share of processor time in which jobs compute or transfer
    delay: float  # in which they wait for I/O
    idle: float  # in which no job has the processor
    seconds: float  # CPU time in the engine
    jobs: tuple[PackedJob, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        packs = [{**asdict(pack), "jobs": list(pack.jobs)} for pack in self.packs]
        return plain | {"packs": packs, "jobs": [job.to_dict() for job in self.jobs]}


def pack(
    scenario: Scenario,
    sensitivity: str | float | None = None,
    *,
    io_nodes: int | None = None,
    sharing: Policy = "list-fifo",
    backfill: bool = False,
    progress: Progress | None = None,
) -> Packing:
    """Map the jobs of `scenario` to its I/O nodes and run them there. Release times are ignored.

    `sensitivity` is S, a number above 0, "inf" (first-fit) or "alpha" (the I/O load of the jobs): with packs, how much
    average I/O occupation a pack may have; with `backfill`, how much average I/O demand on a node. By default 1, with
    `backfill` 1.5. `io_nodes` overrides how many there are. `sharing` divides the bandwidth of each node.

    >>> from penstock import Scenario
    >>> nodes = {"count": 1, "bandwidth": 1, "nodes": 4}
    >>> jobs = [{"name": name, "nodes": 2, "phases": [{"compute": 1}, {"write": 3}]} for name in ("a", "b")]
    >>> two = Scenario.from_document({"version": 1, "platform": {"io_nodes": nodes}, "applications": jobs})
    >>> [each.jobs for each in pack(two).packs], pack(two).makespan
    ([('a',), ('b',)], 8.0)
    >>> [each.jobs for each in pack(two, "inf").packs], pack(two, "inf").makespan
    ([('a', 'b')], 7.0)
    """
    return _pack(_Batch(scenario, _machine(scenario, io_nodes)), sensitivity, find(sharing), backfill, progress)


def compare_packings(
    scenario: Scenario,
    *,
    io_nodes: int | None = None,
    sharing: Policy = "list-fifo",
    progress: Progress | None = None,
) -> dict[str, Packing]:
    """The mappings of P3 (first-fit, S = 1, S = alpha) and backfilling, by name."""
    batch, policy = _Batch(scenario, _machine(scenario, io_nodes)), find(sharing)
    asked: dict[str, str | float] = {"first-fit": FIRST_FIT, "S = 1": 1.0, "S = alpha": BY_ALPHA}
    packings = {name: _pack(batch, given, policy, False, progress) for name, given in asked.items()}
    return packings | {"backfill": _pack(batch, None, policy, True, progress)}


class _Batch:
    """The jobs as an I/O node sees them, all there from the start."""

    def __init__(self, scenario: Scenario, machine: IoNodes) -> None:
        self.machine = machine
        self.study = Study(_on_one_node(scenario, machine))
        self.names = tuple(application.name for application in scenario.applications)
        self.processors = np.array([application.nodes for application in scenario.applications], dtype=np.int64)
        rate = machine.bandwidth
        self.io: Floats = np.array([tally(each.phases, rate, rate).transfer for each in scenario.applications])

    @cached_property
    def seconds(self) -> Floats:
        """T_i: how long each takes alone, as announced."""
        return self.study.foresight.alone()

    @property
    def real_seconds(self) -> Floats:
        """How long each takes alone in reality."""
        return self.study.alone.listed

    @property
    def alpha(self) -> float:
        """P3's average I/O occupation, were no processor ever idle."""
        return float(self.machine.nodes * self.io.sum() / (self.processors @ self.seconds))

    @property
    def bound(self) -> float:
        """No schedule ends earlier: the longest job, all processor time, all I/O time."""
        real = self.study.program
        computing = float(self.processors @ self.real_seconds) / self.machine.nodes
        moving = float(real.volume.sum()) / real.capacity
        return max(float(self.real_seconds.max()), max(computing, moving) / self.machine.count)


class _Placed(NamedTuple):
    """For each job, its I/O node, its pack (-1: none), and when it ran; and the engine's time for it."""

    node: Ints
    pack: Ints
    start: Floats
    end: Floats
    seconds: float


def _machine(scenario: Scenario, io_nodes: int | None) -> IoNodes:
    platform = scenario.platform
    if scenario.window is not None:
        raise InvalidScenario("the scenario has a window; packs run every job to its end, so leave the window out")
    machine = platform.io_nodes
    if machine is None and platform.bandwidth and platform.nodes:
        machine = IoNodes(count=1, bandwidth=platform.bandwidth, nodes=platform.nodes)
    if machine is None:
        raise InvalidScenario(
            "platform.io_nodes is missing; packs run on I/O nodes, as in "
            "io_nodes: {count: 3, bandwidth: 20 GB/s, nodes: 128}"
        )
    for application in scenario.applications:
        if application.nodes > machine.nodes:
            raise InvalidScenario(
                f"application {application.name!r} needs {application.nodes:,} nodes; an I/O node has {machine.nodes:,}"
            )
    if io_nodes is None:
        return machine
    if type(io_nodes) is not int or not 1 <= io_nodes <= MOST_IO_NODES:
        raise InvalidOption(f"io_nodes is {io_nodes!r}; accepted is a whole number from 1 to {MOST_IO_NODES:,}")
    return machine.model_copy(update={"count": io_nodes})


def _on_one_node(scenario: Scenario, machine: IoNodes) -> Scenario:
    """The same jobs, all there from the start, on a platform that is one I/O node."""
    platform = scenario.platform.model_copy(update={"bandwidth": machine.bandwidth, "io_nodes": None})
    anywhere = {"release": 0.0, "io_node": None}
    jobs = tuple(application.model_copy(update=anywhere) for application in scenario.applications)
    return scenario.model_copy(update={"platform": platform, "applications": jobs})


def _chosen(given: str | float | None, batch: _Batch, default: float) -> tuple[float | str, float]:
    """The sensitivity as it is reported, and as a number."""
    if given is None:
        return default, default
    if given == BY_ALPHA:
        return BY_ALPHA, batch.alpha
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not number > 0.0:
        raise InvalidOption(f"sensitivity is {given!r}; accepted is a number above 0, inf (first-fit) or alpha")
    return FIRST_FIT if math.isinf(number) else number, number


def _pack(
    batch: _Batch, sensitivity: str | float | None, policy: Sharing, backfill: bool, progress: Progress | None
) -> Packing:
    report = progress or (lambda ended: None)
    shown, number = _chosen(sensitivity, batch, DEFAULT_SENSITIVITY if backfill else 1.0)
    run = _run_backfilled if backfill else _run_packs
    return _packing(batch, shown, policy, run(batch, number, policy, report))


def _run_packs(batch: _Batch, sensitivity: float, policy: Sharing, report: Progress) -> _Placed:
    pack = make_pack(batch.seconds, batch.io, batch.processors, batch.machine.nodes, sensitivity)
    longest = np.zeros(pack.max() + 1)
    np.maximum.at(longest, pack, batch.seconds)
    node = longest_first(longest, batch.machine.count)
    free = np.zeros(batch.machine.count)
    start, end = np.empty((2, pack.size))
    engine, ended = 0.0, 0
    # Packs are numbered by falling time alone, so a node takes them in the order in which they were dealt.
    for number, place in enumerate(node):
        jobs = np.flatnonzero(pack == number)
        foresight = batch.study.foresight.pick(jobs) if policy.prepare else None
        program = batch.study.program.pick(jobs)
        run = execute(program, policy, _outlook(program.volume.size), foresight)
        start[jobs], end[jobs] = free[place], free[place] + run.completion
        free[place] += run.end
        engine, ended = engine + run.seconds, ended + jobs.size
        report(ended)
    return _Placed(node[pack], pack, start, end, engine)


def _outlook(operations: int) -> Outlook:
    return Outlook(0.0, math.inf, operations)


def _run_backfilled(batch: _Batch, sensitivity: float, policy: Sharing, report: Progress) -> _Placed:
    machine, program = batch.machine, batch.study.program
    rule = Backfill(batch.seconds, batch.io, batch.processors, machine.nodes, machine.count, sensitivity)
    foresight = batch.study.foresight if policy.prepare else None
    executions: dict[int, Execution] = {}
    node, start, end = np.empty(len(batch.names), np.int64), *np.empty((2, len(batch.names)))

    def begin(places: Sequence[int], now: float) -> None:
        started = rule.start(places, now)
        for place in sorted({chosen for _, chosen in started}):
            jobs = sorted(job for job, chosen in started if chosen == place)
            if place not in executions:
                executions[place] = Execution(program, policy, _outlook(program.volume.size), foresight, held=True)
            executions[place].admit(jobs, now)
            node[jobs], start[jobs] = place, now

    begin(range(machine.count), 0.0)
    # A node changes only when a job on it ends, so each runs up to that, and the earliest is looked after.
    ends = [(execution.next_end(), place) for place, execution in executions.items()]
    heapq.heapify(ends)
    ended = 0
    while ends:
        now, place = heapq.heappop(ends)
        completion = executions[place].completion
        over = [job for job in rule.running[place] if completion[job] <= now * (1.0 + SAME)]
        end[over] = completion[over]
        rule.end(place, over)
        begin([place], now)
        if rule.running[place]:
            heapq.heappush(ends, (executions[place].next_end(), place))
        ended += len(over)
        report(ended)
    nobody = np.full(node.size, -1)
    return _Placed(node, nobody, start, end, sum(execution.seconds for execution in executions.values()))


def _packing(batch: _Batch, sensitivity: float | str, policy: Sharing, placed: _Placed) -> Packing:
    machine, real = batch.machine, batch.real_seconds
    stretch = (placed.end - placed.start) / real
    makespan = float(placed.end.max())
    whole = machine.count * machine.nodes * makespan
    busy = float(batch.processors @ real) / whole
    delay = float(batch.processors @ np.maximum(0.0, placed.end - placed.start - real)) / whole
    packs = tuple(_one_pack(batch, placed, stretch, number) for number in range(placed.pack.max() + 1))
    return Packing(
        sensitivity=sensitivity,
        io_nodes=machine.count,
        processors=machine.nodes,
        sharing=policy.label,
        alpha=batch.alpha,
        packs=packs,
        makespan=makespan,
        bound=batch.bound,
        mean_pack_max_stretch=float(np.mean([pack.max_stretch for pack in packs])) if packs else None,
        max_stretch=float(stretch.max()),
        mean_stretch=float(stretch.mean()),
        exec=busy,
        delay=delay,
        idle=max(0.0, 1.0 - busy - delay),
        seconds=placed.seconds,
        jobs=tuple(
            PackedJob(
                name=name,
                io_node=int(placed.node[i]),
                pack=int(placed.pack[i]) if packs else None,
                nodes=int(batch.processors[i]),
                start=float(placed.start[i]),
                end=float(placed.end[i]),
                stretch=float(stretch[i]),
                io_share=float(batch.io[i] / batch.seconds[i]),
            )
            for i, name in enumerate(batch.names)
        ),
    )


def _one_pack(batch: _Batch, placed: _Placed, stretch: Floats, number: int) -> Pack:
    jobs = np.flatnonzero(placed.pack == number)
    return Pack(
        jobs=tuple(batch.names[job] for job in jobs),
        io_node=int(placed.node[jobs[0]]),
        start=float(placed.start[jobs[0]]),
        end=float(placed.end[jobs].max()),
        max_stretch=float(stretch[jobs].max()),
        processors=int(batch.processors[jobs].sum()),
        load=float(batch.io[jobs].sum() / batch.seconds[jobs].max()),
    )
