"""A generator of jobs that come and go: submitted at random or at a log's times, queued for nodes, gone when done.

    kind         one of a class for each job, as likely as it is frequent: P5's table 1, with hours as P5 prints them
                 and a checkpoint every hour, or the workflows of APEX at NERSC or Trilab (P1 §6.3)
    submission   a Poisson process, or the times of an SWF log, stretched to the days asked for
    rate         so many that they would keep `utilisation` of the nodes busy in the long run
    start        first come, first served on the nodes; the queue has been at work before the window begins, for three
                 of the longest jobs
    phases       read the input, then compute and write a checkpoint again and again, and write the result
    volumes      those of the table times one factor, so that the I/O pressure of the window is the one asked for

The machine is in the middle of its life when the window begins: who started before has what is left of its phases, and
the progress of a job that nobody disturbed. Who has not finished when it ends is unfinished. A node stands for 16 cores
of the tables, so that numbers look like a machine's of today. `length` makes all jobs shorter or longer: those of APEX
take up to eleven days.
"""

from __future__ import annotations

import gzip
import heapq
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.kernels.arrays import Floats, Ints
from penstock.model import COMPUTE, READ, WRITE, Application, Platform, Scenario, Trace, Window
from penstock.workloads.apex_table import read_table
from penstock.workloads.checkpoints import GB, HOUR, MODELS, WALLTIMES
from penstock.workloads.registry import Accepted, generator

DAY = 24 * HOUR
CORES_PER_NODE = 16
LONGEST_FIRST = 3.0  # of the longest jobs one after the other, before the window begins
CHECKPOINTS = 1 * HOUR  # of P5's kinds, between two of them
INPUT, RESULT = 0.5, 1.0  # likewise, of the size of a checkpoint
MOST_JOBS = 200_000
CLASSES = ("p5", "nersc", "trilab")
_CLOSE = 1e-6  # of the factor


class JobKind(NamedTuple):
    """Jobs that are alike."""

    name: str
    frequency: float  # of all jobs, in proportion
    nodes: int
    wall: float  # seconds alone
    input: float  # bytes, as all volumes; before scaling
    result: float
    checkpoint: float
    period: float  # seconds from one checkpoint to the next


class Submissions(NamedTuple):
    """Jobs in the order of their submission, those before the window included; its begin is time 0."""

    kind: Ints
    submitted: Floats
    start: Floats
    wall: Floats


@generator("arrivals", source="ours; kinds of jobs: P5 table 1, P1 §6.3")
def arrivals(
    seed: int = 0,
    *,
    days: Annotated[float, Accepted("a number from 0.1 to 400", lambda value: 0.1 <= value <= 400)] = 7.0,
    nodes: Annotated[int, Accepted("a whole number from 2,000 to 1e7", lambda value: 2_000 <= value <= 1e7)] = 20_000,
    utilisation: Annotated[float, Accepted("a number from 0.01 to 2", lambda value: 0.01 <= value <= 2)] = 0.8,
    pressure: Annotated[float, Accepted("a number from 1e-6 to 10", lambda value: 1e-6 <= value <= 10)] = 0.6,
    bandwidth: Annotated[float, Accepted("bytes/s from 1 to 1e18", lambda value: 1 <= value <= 1e18)] = 500 * GB,
    node_bandwidth: Annotated[float, Accepted("bytes/s from 1 to 1e18", lambda value: 1 <= value <= 1e18)] = 1 * GB,
    classes: Annotated[str, Accepted(f"one of {', '.join(CLASSES)}", lambda value: value in CLASSES)] = "p5",
    length: Annotated[float, Accepted("a number from 0.001 to 10", lambda value: 1e-3 <= value <= 10)] = 1.0,
    swf: Annotated[str | None, Accepted("the path of an SWF log, or none", lambda value: True)] = None,
) -> Scenario:
    """Jobs that are submitted at random, wait for nodes, run and leave; `pressure` of the bandwidth is asked for."""
    draw = np.random.default_rng(seed)
    window = days * DAY
    kinds = _kinds(classes, length)
    warm = LONGEST_FIRST * max(kind.wall for kind in kinds)
    queue = _queue(draw, kinds, (warm, window), nodes, utilisation, swf)
    seen = np.flatnonzero((queue.start < window) & (queue.start + queue.wall > 0.0))
    if not seen.size:
        raise InvalidOption(
            f"arrivals: utilisation is {utilisation:g}: nobody runs in {days:g} days; accepted is more."
        )
    jobs = [_job(kinds[queue.kind[i]], float(queue.start[i]), node_bandwidth, bandwidth) for i in seen]
    factor = _factor(jobs, pressure * bandwidth * window, window)
    return Scenario(
        version=1,
        platform=Platform(bandwidth=bandwidth, nodes=nodes, node_bandwidth=node_bandwidth),
        window=Window(begin=warm, end=warm + window),
        applications=tuple(
            Application(
                name=f"{job.kind.name}-{number}",
                nodes=job.kind.nodes,
                release=warm + job.start,
                phases=job.trace(factor),
            )
            for number, job in enumerate(jobs, 1)
        ),
    )


def _kinds(classes: str, length: float) -> tuple[JobKind, ...]:
    """What jobs there are; the widest takes as many nodes as the smallest machine that is accepted."""
    found = _of_p5() if classes == "p5" else _of_apex(classes)
    return tuple(kind._replace(wall=length * kind.wall) for kind in found)


def _of_p5() -> list[JobKind]:
    walls = [HOUR * wall for wall in WALLTIMES["printed"]]
    sizes = [GB * model.checkpoint for model in MODELS]
    return [
        JobKind(model.name, model.frequency, _nodes(model.cores), wall, INPUT * size, RESULT * size, size, CHECKPOINTS)
        for model, wall, size in zip(MODELS, walls, sizes, strict=True)
    ]


def _of_apex(classes: str) -> list[JobKind]:
    return [
        JobKind(
            each.name,
            each.share / each.node_seconds,
            _nodes(each.cores),
            each.wall,
            each.input,
            each.output,
            each.checkpoint,
            each.period,
        )
        for each in read_table(classes.upper()).workflows
    ]


def _nodes(cores: int) -> int:
    return -(-cores // CORES_PER_NODE)


class _Job(NamedTuple):
    """One job alone: it reads, computes and writes from `start` on, at its own speed."""

    kind: JobKind
    cap: float
    start: float

    def phases(self, factor: float) -> tuple[Ints, Floats]:
        """Kinds and seconds of its phases, in order, at that many times its sizes."""
        count = max(0, int(self.kind.wall / self.kind.period) - 1) if self.kind.checkpoint else 0
        sizes = np.concatenate([[self.kind.input], np.full(count, self.kind.checkpoint), [self.kind.result]])
        io = factor * sizes / self.cap
        # Where I/O alone would take longer than the wall time, the job is as long as its I/O.
        work = max(0.0, self.kind.wall - float(io.sum())) / (count + 1)
        seconds = np.empty(2 * io.size - 1)
        seconds[::2], seconds[1::2] = io, work
        kind = np.full(seconds.size, COMPUTE)
        kind[::2] = WRITE
        kind[0] = READ
        return kind, seconds

    def trace(self, factor: float) -> Trace:
        """What is left of its phases when the window begins, volumes in bytes."""
        kind, seconds = self.phases(factor)
        ends = np.cumsum(seconds)
        gone = max(0.0, -self.start)
        left = np.minimum(seconds, np.maximum(0.0, ends - gone))
        there = left > 0.0
        amount = np.where(kind == COMPUTE, left, left * self.cap)[there]
        return Trace(kind=kind[there].astype(np.int8), amount=amount)


def _job(kind: JobKind, start: float, node_bandwidth: float, bandwidth: float) -> _Job:
    return _Job(kind, min(kind.nodes * node_bandwidth, bandwidth), start)


def _queue(
    draw: np.random.Generator,
    kinds: tuple[JobKind, ...],
    seconds: tuple[float, float],
    nodes: int,
    utilisation: float,
    swf: str | None,
) -> Submissions:
    """Who is submitted and started when; `seconds` are those before the window and those of the window."""
    frequency = np.array([kind.frequency for kind in kinds]) / sum(kind.frequency for kind in kinds)
    width, walls = np.array([kind.nodes for kind in kinds]), np.array([kind.wall for kind in kinds])
    rate = utilisation * nodes / float(frequency @ (width * walls))
    expected = rate * sum(seconds)
    if expected > MOST_JOBS:
        raise InvalidOption(
            f"arrivals: these settings make about {expected:,.0f} jobs, {seconds[0] / DAY:.3g} days before the window "
            f"included; accepted are {MOST_JOBS:,}: fewer nodes or days, or longer jobs."
        )
    times = _poisson(draw, rate, *seconds) if swf is None else _logged(Path(swf), *seconds)
    kind = draw.choice(len(kinds), times.size, p=frequency)
    start = _first_come(times, width[kind], walls[kind], nodes)
    return Submissions(kind, times, start, walls[kind])


def _poisson(draw: np.random.Generator, rate: float, before: float, window: float) -> Floats:
    count = int(draw.poisson(rate * (before + window)))
    return np.sort(draw.uniform(-before, window, count))


def _logged(path: Path, before: float, window: float) -> Floats:
    """The submission times of an SWF log, stretched so that they fill the window and the days before."""
    with reading(path, InvalidOption, "an SWF log"):
        text = path.read_bytes()
    lines = (gzip.decompress(text) if path.suffix == ".gz" else text).decode("ascii", "replace").splitlines()
    fields = [line.split() for line in lines if line.strip() and not line.startswith(";")]
    try:
        times = np.sort([time for each in fields if (time := float(each[1])) >= 0.0])
    except (IndexError, ValueError):
        raise InvalidOption(f"arrivals: {path} is no SWF log; accepted is one whose second field is a time.") from None
    if times.size < 2 or times[-1] == times[0]:
        raise InvalidOption(f"arrivals: {path} has fewer than two submission times; accepted is a log with more.")
    stretched: Floats = (times - times[0]) / (times[-1] - times[0]) * (before + window) - before
    return stretched


def _first_come(times: Floats, widths: Ints, walls: Floats, nodes: int) -> Floats:
    """When each job starts: it is submitted, everybody before it has started, and its nodes are free."""
    running: list[tuple[float, int]] = []
    starts, now, free = np.empty(times.size), -np.inf, nodes
    for number, (time, width, wall) in enumerate(zip(times.tolist(), widths.tolist(), walls.tolist(), strict=True)):
        now = max(now, time)
        while running and running[0][0] <= now:
            free += heapq.heappop(running)[1]
        while free < width:
            now, freed = heapq.heappop(running)
            free += freed
        free -= width
        heapq.heappush(running, (now + wall, width))
        starts[number] = now
    return starts


def _factor(jobs: list[_Job], wanted: float, window: float) -> float:
    """How many times the sizes of the table move that many bytes in the window, each job alone."""
    alike: dict[JobKind, list[_Job]] = {}
    for job in jobs:
        alike.setdefault(job.kind, []).append(job)

    def moved(factor: float) -> float:
        return sum(_moved(some, factor, window) for some in alike.values())

    low, high = 0.0, 1.0
    while moved(high) < wanted:
        low, high = high, 2.0 * high
        if high > 1e6:
            raise InvalidOption(
                f"arrivals: pressure cannot be reached: all jobs do nothing but I/O and move {moved(high):.3g} bytes of"
                f" {wanted:.3g}; accepted is a lower pressure, or a higher utilisation or node_bandwidth."
            )
    while high - low > _CLOSE * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if moved(middle) < wanted else (low, middle)
    return high


def _moved(alike: list[_Job], factor: float, window: float) -> float:
    """What jobs of one kind move in the window, each alone."""
    kind, seconds = alike[0].phases(factor)
    io = kind != COMPUTE
    ends = np.array([job.start for job in alike])[:, np.newaxis] + np.cumsum(seconds)[io]
    inside = np.clip(ends, 0.0, window) - np.clip(ends - seconds[io], 0.0, window)
    return float(inside.sum()) * alike[0].cap
