"""Jobs that come and go: submitted at random or at the times of a log, queued for nodes, and gone when they are done.

    kind         one of MODELS of P5's table 1 (APEX) for each job, as likely as it is frequent; hours as P5 prints them
    submission   a Poisson process, or the times of an SWF log, stretched to the days asked for
    rate         so many that they would keep `utilisation` of the nodes busy in the long run
    start        first come, first served on the nodes; the queue has been at work for WARM_UP before the window begins
    phases       read the input, then compute and write a checkpoint again and again, and write the result
    volumes      those of the table times one factor, so that the I/O pressure of the window is the one asked for

The machine is in the middle of its life when the window begins, at WARM_UP: who started before has what is left of its
phases, and the progress of a job that nobody disturbed. Who has not finished when it ends is unfinished.
Nodes stand for P5's cores divided by 16, so that numbers look like a machine's of today.
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
from penstock.workloads.checkpoints import GB, HOUR, MODELS, WALLTIMES
from penstock.workloads.registry import Accepted, generator

DAY = 24 * HOUR
CORES_PER_NODE = 16
WARM_UP = 4 * DAY  # three of the longest jobs one after the other
CHECKPOINTS_PER_DAY = 24.0
INPUT, RESULT = 0.5, 1.0  # of the size of a checkpoint
MOST_JOBS = 200_000
_CLOSE = 1e-6  # of the factor


class Queue(NamedTuple):
    """Jobs in the order of their submission, the warm-up included; times count from the begin of the window."""

    kind: Ints
    submitted: Floats
    start: Floats
    wall: Floats


@generator("arrivals", source="ours; kinds of jobs: P5 table 1")
def arrivals(
    seed: int = 0,
    *,
    days: Annotated[float, Accepted("a number from 0.1 to 400", lambda value: 0.1 <= value <= 400)] = 7.0,
    nodes: Annotated[int, Accepted("a whole number from 2,000 to 1e7", lambda value: 2_000 <= value <= 1e7)] = 20_000,
    utilisation: Annotated[float, Accepted("a number from 0.01 to 2", lambda value: 0.01 <= value <= 2)] = 0.8,
    pressure: Annotated[float, Accepted("a number from 1e-6 to 10", lambda value: 1e-6 <= value <= 10)] = 0.6,
    bandwidth: Annotated[float, Accepted("bytes/s from 1 to 1e18", lambda value: 1 <= value <= 1e18)] = 500 * GB,
    node_bandwidth: Annotated[float, Accepted("bytes/s from 1 to 1e18", lambda value: 1 <= value <= 1e18)] = 1 * GB,
    swf: Annotated[str | None, Accepted("the path of an SWF log, or none", lambda value: True)] = None,
) -> Scenario:
    """Jobs that are submitted at random, wait for nodes, run and leave; `pressure` of the bandwidth is asked for."""
    draw = np.random.default_rng(seed)
    window = days * DAY
    queue = _queue(draw, window, nodes, utilisation, swf)
    seen = np.flatnonzero((queue.start < window) & (queue.start + queue.wall > 0.0))
    if not seen.size:
        raise InvalidOption(
            f"arrivals: utilisation is {utilisation:g}: nobody runs in {days:g} days; accepted is more."
        )
    width = _of_kinds([model.cores // CORES_PER_NODE for model in MODELS], queue.kind[seen])
    jobs = [
        _Job(float(size), float(cap), float(wall), float(start))
        for size, cap, wall, start in zip(
            GB * _of_kinds([model.checkpoint for model in MODELS], queue.kind[seen]),
            np.minimum(width * node_bandwidth, bandwidth),
            queue.wall[seen],
            queue.start[seen],
            strict=True,
        )
    ]
    factor = _factor(jobs, pressure * bandwidth * window, window)
    return Scenario(
        version=1,
        platform=Platform(bandwidth=bandwidth, nodes=nodes, node_bandwidth=node_bandwidth),
        window=Window(begin=WARM_UP, end=WARM_UP + window),
        applications=tuple(
            Application(
                name=f"{MODELS[queue.kind[i]].name}-{number + 1}",
                nodes=int(width[number]),
                release=WARM_UP + job.start,
                phases=job.trace(factor),
            )
            for number, (i, job) in enumerate(zip(seen, jobs, strict=True))
        ),
    )


class _Job(NamedTuple):
    """One job alone: it reads, computes and writes for `wall` seconds from `start` on, at its own speed."""

    size: float  # of a checkpoint, before scaling
    cap: float
    wall: float
    start: float

    def phases(self, factor: float) -> tuple[Ints, Floats]:
        """Kinds and seconds of its phases, in order, at that many times its sizes."""
        write = factor * self.size / self.cap
        count = max(0, int(self.wall / DAY * CHECKPOINTS_PER_DAY) - 1)
        io = np.concatenate([[INPUT * write], np.full(count, write), [RESULT * write]])
        # Where I/O alone would take longer than the wall time, the job is as long as its I/O.
        work = max(0.0, self.wall - float(io.sum())) / (count + 1)
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

    def moved(self, factor: float, window: float) -> float:
        """Bytes in the window, if it runs alone."""
        kind, seconds = self.phases(factor)
        ends = self.start + np.cumsum(seconds)
        inside = np.clip(ends, 0.0, window) - np.clip(ends - seconds, 0.0, window)
        return float(inside[kind != COMPUTE].sum()) * self.cap


def _of_kinds(values: list[float] | list[int], kind: Ints) -> Floats:
    return np.array(values, dtype=float)[kind]


def _queue(draw: np.random.Generator, window: float, nodes: int, utilisation: float, swf: str | None) -> Queue:
    """Who is submitted and started when."""
    frequency = np.array([model.frequency for model in MODELS]) / 100
    width = np.array([model.cores // CORES_PER_NODE for model in MODELS])
    walls = HOUR * np.array(WALLTIMES["printed"])
    rate = utilisation * nodes / float(frequency @ (width * walls))
    expected = rate * (window + WARM_UP)
    if expected > MOST_JOBS:
        raise InvalidOption(f"arrivals: these settings make about {expected:,.0f} jobs; accepted are {MOST_JOBS:,}.")
    times = _poisson(draw, rate, window) if swf is None else _logged(Path(swf), window)
    kind = draw.choice(len(MODELS), times.size, p=frequency)
    start = _first_come(times, width[kind], walls[kind], nodes)
    return Queue(kind, times, start, walls[kind])


def _poisson(draw: np.random.Generator, rate: float, window: float) -> Floats:
    count = int(draw.poisson(rate * (window + WARM_UP)))
    return np.sort(draw.uniform(-WARM_UP, window, count))


def _logged(path: Path, window: float) -> Floats:
    """The submission times of an SWF log, stretched so that they fill the warm-up and the window."""
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
    stretched: Floats = (times - times[0]) / (times[-1] - times[0]) * (window + WARM_UP) - WARM_UP
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

    def moved(factor: float) -> float:
        return sum(job.moved(factor, window) for job in jobs)

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
