"""A workload for a whole machine (ours): jobs that write checkpoints, N targets behind a burst buffer, and a plan.

    sizes       as for `targets`: 10 % of the jobs use 75 % of the nodes, 30 % use 20 %, 60 % use 5 %
    compute     between two checkpoints: log-uniform from 10 to 60 minutes; the first ends at a random time
    cap         the nodes of a job drive `drive` times their share of what all targets move
    volume      of a checkpoint: so that a job that never waits moves its nodes' share, times U[0.5, 1.5], of load·C,
                where C is what all targets move
    profile     b(n) = n^e times the capacity of a target, e ~ U[0.85, 1], at most the cap
    buffer      `buffer` times all checkpoints together, in parts by the size of a checkpoint; 0: none
    plan        `stripes` targets for each, dealt out in turn from a random one on

Whatever the buffer, the stripes and the load are, the same seed draws the same jobs.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from penstock.model import (
    Application,
    Buffering,
    BurstBuffer,
    Compute,
    Plan,
    Platform,
    Repeat,
    Scenario,
    Target,
    Window,
    Write,
)
from penstock.workloads.registry import Accepted, generator
from penstock.workloads.targets import node_counts

CAPACITY = 2e9  # of a target, bytes/s
SHORTEST, LONGEST = 600.0, 3600.0  # seconds between checkpoints


class _Job(NamedTuple):
    """What is drawn of a job."""

    nodes: int
    compute: float
    first: float  # seconds until its first checkpoint
    weight: float  # its part of the load
    exponent: float  # of its profile


@generator("machine", source="ours; jobs as in P4 §4.1 and P5 §7.1")
def machine(
    seed: int = 0,
    *,
    jobs: Annotated[int, Accepted("a whole number from 1 to 10,000", lambda value: 1 <= value <= 1e4)] = 24,
    targets: Annotated[int, Accepted("a whole number from 1 to 10,000", lambda value: 1 <= value <= 1e4)] = 40,
    load: Annotated[float, Accepted("a number from 0.01 to 10", lambda value: 0.01 <= value <= 10)] = 0.6,
    buffer: Annotated[float, Accepted("a number from 0 to 1000", lambda value: 0 <= value <= 1000)] = 1.0,
    stripes: Annotated[int, Accepted("a whole number from 1 to 10,000", lambda value: 1 <= value <= 1e4)] = 4,
    nodes: Annotated[int, Accepted("a whole number from 1 to 1e9", lambda value: 1 <= value <= 1e9)] = 2400,
    drive: Annotated[float, Accepted("a number from 1 to 1000", lambda value: 1 <= value <= 1000)] = 4.0,
    hours: Annotated[float, Accepted("a number from 0.1 to 1000", lambda value: 0.1 <= value <= 1000)] = 12.0,
) -> Scenario:
    """Jobs that write checkpoints through a burst buffer onto striped targets, all under one plan."""
    draw = np.random.default_rng(seed)
    whole = targets * CAPACITY
    drawn = [_drawn(draw, size) for size in node_counts(jobs, nodes)]
    names = [f"j-{i + 1:0{max(2, len(str(jobs)))}}" for i in range(jobs)]
    caps = [drive * whole * job.nodes / nodes for job in drawn]
    weights = sum(job.weight for job in drawn)
    volumes = [_volume(job, load * whole * job.weight / weights, cap) for job, cap in zip(drawn, caps, strict=True)]
    count, first = min(stripes, targets), int(draw.integers(targets))
    made = [
        _application(name, job, volume, cap, count)
        for name, job, volume, cap in zip(names, drawn, volumes, caps, strict=True)
    ]
    total = sum(volumes)
    shares = {name: volume / total for name, volume in zip(names, volumes, strict=True)}
    places: dict[str, tuple[int | str, ...]] = {
        name: tuple((first + i * count + k) % targets for k in range(count)) for i, name in enumerate(names)
    }
    return Scenario(
        version=1,
        platform=Platform(
            nodes=nodes,
            targets=tuple(Target(name=f"OST{k:04x}", capacity=CAPACITY) for k in range(targets)),
            burst_buffer=BurstBuffer(capacity=buffer * total) if buffer else None,
        ),
        window=Window(end=3600.0 * hours),
        applications=tuple(made),
        plan=Plan(placement=places, buffering=Buffering(shares=shares) if buffer else None),
    )


def _drawn(draw: np.random.Generator, nodes: int) -> _Job:
    compute = math.exp(draw.uniform(math.log(SHORTEST), math.log(LONGEST)))
    return _Job(nodes, compute, compute * draw.uniform(), nodes * draw.uniform(0.5, 1.5), draw.uniform(0.85, 1.0))


def _volume(job: _Job, demand: float, cap: float) -> float:
    """Bytes of a checkpoint: demand·(compute + V/cap) = V; who would have to write all the time writes half of it."""
    share = min(demand / cap, 0.5)
    return share * cap * job.compute / (1.0 - share)


def _application(name: str, job: _Job, volume: float, cap: float, count: int) -> Application:
    loop = Repeat(repeat="forever", phases=(Write(write=volume), Compute(compute=job.compute)))
    profile = {count: min(cap, CAPACITY * count**job.exponent)}
    phases = (Compute(compute=job.first), loop)
    return Application(name=name, nodes=job.nodes, bandwidth=cap, profile=profile, phases=phases)
