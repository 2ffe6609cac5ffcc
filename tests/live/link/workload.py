"""The five applications of P3 Table 1, short enough for a link in a test, and what the simulator says of them.

Iterations are a fiftieth, seconds a quarter: 52.5 s alone, and iterations of 2.6 to 10.5 s. The five begin half a
second after each other. Otherwise equal ones would post at the same instant, where the simulator goes by their number
and a real controller by whose message is first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock import simulate
from penstock.model import Application, Compute, Platform, Repeat, Scenario, Write
from penstock.workloads.tucan import TABLE_1

BATCHES, SECONDS, APART = 0.02, 0.25, 0.5


@dataclass(frozen=True)
class Told:
    """What one application is told: times in seconds, the volume of one write in bytes."""

    name: str
    release: float
    iterations: int
    compute: float
    volume: int

    def alone(self, bandwidth: float) -> float:
        """Seconds it takes when nobody is in its way."""
        return self.iterations * (self.compute + self.volume / bandwidth)


def table_1(bandwidth: float, batches: float = BATCHES) -> list[Told]:
    """The workload on a link of so many bytes/s."""
    return [
        Told(
            f"a{place + 1}",
            place * APART,
            max(1, round(iterations * batches)),
            compute * SECONDS,
            round(io * SECONDS * bandwidth),
        )
        for place, (iterations, compute, io) in enumerate(TABLE_1)
    ]


def scenario(workload: list[Told], capacity: float, noise: float = 0.0, seed: int = 0) -> Scenario:
    """The same for the simulator."""
    applications = tuple(
        Application(
            name=each.name,
            release=each.release,
            bandwidth=capacity,
            phases=(
                Repeat(repeat=each.iterations, phases=(Compute(compute=each.compute), Write(write=float(each.volume)))),
            ),
        )
        for each in workload
    )
    return Scenario(version=1, platform=Platform(bandwidth=capacity), applications=applications, noise=noise, seed=seed)


def predicted_ends(
    workload: list[Told], sharing: str, capacity: float, noise: float = 0.0, seed: int = 0
) -> dict[str, float]:
    """When the simulator says that each application ends."""
    result = simulate(scenario(workload, capacity, noise, seed), sharing=sharing)
    return {each.name: end for each in result.applications if (end := each.completion) is not None}


def stretches(workload: list[Told], ends: Mapping[str, float], bandwidth: float) -> dict[str, float]:
    """How many times longer than alone on the whole link each application took."""
    return {each.name: (ends[each.name] - each.release) / each.alone(bandwidth) for each in workload}
