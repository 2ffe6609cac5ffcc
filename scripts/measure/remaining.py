"""What could P2 mean by "the most remaining work"? `python scripts/measure/remaining.py [INSTANCES]` tries it out.

A list of its own, in twenty lines: jobs compute, then wait for the storage, one operation at a time; when it is free
the pending job with the most remaining work is served. Prints for each reading of "work" the makespan over that of
best effort on the instances of P2 figure 3 with an I/O weight of at least 4; the first reading is that of
`list-most-remaining`, and is checked against it.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from penstock import Scenario, generate, simulate
from penstock.metrics.weight import io_weight

LARGE = 4.0  # I/O weight
CHECKED = 20  # instances


class Job(NamedTuple):
    """(compute, write) so many times, in seconds."""

    compute: float
    write: float
    times: int


READINGS: dict[str, Callable[[Job, int], float]] = {  # of what a job with so many operations to do has left
    "time, the pending operation included": lambda job, left: left * (job.compute + job.write) - job.compute,
    "time, without the pending operation": lambda job, left: (left - 1) * (job.compute + job.write),
    "I/O": lambda job, left: left * job.write,
    "I/O, without the pending operation": lambda job, left: (left - 1) * job.write,
    "compute": lambda job, left: (left - 1) * job.compute,
    "iterations": lambda job, left: left,
}


def makespan(jobs: list[Job], work: Callable[[Job, int], float]) -> float:
    """When the last operation ends if the pending job with the most work goes first; ties by order."""
    coming = [(job.compute, place) for place, job in enumerate(jobs)]
    heapq.heapify(coming)
    left = [job.times for job in jobs]
    pending: list[int] = []
    now = 0.0
    while coming or pending:
        while coming and (coming[0][0] <= now or not pending):
            ready, place = heapq.heappop(coming)
            now = max(now, ready)
            pending.append(place)
        chosen = max(pending, key=lambda place: (work(jobs[place], left[place]), -place))
        pending.remove(chosen)
        now += jobs[chosen].write
        left[chosen] -= 1
        if left[chosen]:
            heapq.heappush(coming, (now + jobs[chosen].compute, chosen))
    return now


def jobs_of(scenario: Scenario) -> list[Job]:
    """The chains of an instance; its bandwidth is 1."""
    loops: list[Any] = [application.phases[0] for application in scenario.applications]
    return [Job(loop.phases[0].compute, loop.phases[1].write, loop.repeat) for loop in loops]


def main() -> None:
    """All readings over best effort."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    scenarios = [generate("chains", seed) for seed in range(1, count + 1)]
    large = [each for each in scenarios if io_weight(each) >= LARGE]
    first = next(iter(READINGS.values()))
    for each in large[:CHECKED]:
        np.testing.assert_allclose(
            makespan(jobs_of(each), first), simulate(each, sharing="list-most-remaining").makespan
        )
    best = np.array([simulate(each, sharing="best-effort").makespan for each in large])
    for name, work in READINGS.items():
        ratio = np.array([makespan(jobs_of(each), work) for each in large]) / best
        error = 1.96 * ratio.std(ddof=1) / np.sqrt(ratio.size)
        print(f"{name}: {ratio.mean():.3f} ± {error:.3f} ({ratio.size} instances)", flush=True)


if __name__ == "__main__":
    main()
