"""Many jobs that come and go: how fast the loop is when few of them are there at a time, and what memory that takes."""

from __future__ import annotations

import tracemalloc

import numpy as np

from benchmarks.rows import Row
from penstock.engine.link.execution import execute
from penstock.engine.program import Program
from penstock.policies.sharing import find
from penstock.policies.sharing.policy import Outlook

JOBS, OPERATIONS = 100_000, 10
RUNNING = 60  # jobs that are there at a time, about
SEED = 1


def program_of(jobs: int, walltimes: bool = False) -> Program:
    """Jobs that arrive by chance, compute and write `OPERATIONS` times, and leave; the storage is busy 0.8 of the time.

    Each would take 1,000 s alone, a tenth of it writing; eight can write at full speed together.
    """
    draw = np.random.default_rng(SEED)
    release = np.cumsum(draw.exponential(1000.0 / RUNNING, jobs))
    count = jobs * OPERATIONS
    return Program(
        names=tuple(map(str, range(jobs))),
        capacity=8.0,
        efficiency=np.empty(0),
        begin=0.0,
        end=np.inf,
        nodes=np.ones(jobs),
        release=release,
        progress=np.zeros(jobs),
        start=release,
        walltime=np.full(jobs, 5e3 if walltimes else np.inf),
        first=np.arange(0, count + 1, OPERATIONS),
        work=draw.uniform(60.0, 120.0, count),
        volume=draw.uniform(5.0, 16.0, count),
        limit=np.ones(count),
        tail=np.zeros(jobs),
        endless=np.zeros(jobs, dtype=bool),
    )


def coming_and_going_rows(quick: bool) -> list[Row]:
    """Millions of events per second under fair-share, with and without walltimes, and bytes for a finished job."""
    jobs = JOBS // 10 if quick else JOBS
    rows = []
    for walltimes in (False, True):
        program = program_of(jobs, walltimes)
        runs = [execute(program, find("fair-share"), Outlook(0.0, np.inf, program.volume.size)) for _ in range(3)]
        speed = max(run.events / run.seconds for run in runs) / 1e6
        what = f"{jobs:,} jobs that come and go, {runs[0].events:,} events{', with walltimes' if walltimes else ''}"
        rows.append(Row(what, speed, " M/s", least=5.0))
    return [
        *rows,
        Row(f"{jobs:,} jobs: memory of the run for each", _bytes_per_job(program_of(jobs)), " B", most=500.0),
    ]


def _bytes_per_job(program: Program) -> float:
    """The most that a run adds to what its program takes, shared among its jobs."""
    outlook = Outlook(0.0, np.inf, program.volume.size)
    tracemalloc.start()
    execute(program, find("fair-share"), outlook)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / len(program.names)
