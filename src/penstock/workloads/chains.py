"""The workloads of P2 Table 1: bi-colored chains, jobs that compute and write again and again.

    m ~ U{2..15} jobs, all released at 0
    a_i ~ U[1, 20] seconds of compute
    b_i = a_i·load_i seconds of I/O, load_i ~ U[0.1, 1]
    n_i iterations: U{5..150} (`chains`), U{100..200} (`uniform`)

In `uniform` all jobs have the same a and b, as when networks of many shapes are trained on one data set (P2 §5.3).
The bandwidth is 1, so an I/O of b seconds moves the volume b. The noise is left to the run: the scenario carries it
with the seed, so that every policy meets the same noise and plans with the durations without it.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats, Ints
from penstock.model import Application, Compute, Platform, Repeat, Scenario, Write
from penstock.workloads.registry import Accepted, generator

Jobs = Annotated[int | None, Accepted("a whole number from 1 to 10,000, or none", lambda value: 1 <= value <= 10_000)]
Size = Annotated[float, Accepted("a number from 1e-6 to 1e12", lambda value: 1e-6 <= value <= 1e12)]
Iterations = Annotated[int, Accepted("a whole number from 1 to 1,000,000", lambda value: 1 <= value <= 1_000_000)]
Noise = Annotated[float, Accepted("a number from 0 to 1", lambda value: 0 <= value <= 1)]

FEWEST_JOBS, MOST_JOBS = 2, 15

Number = TypeVar("Number", int, float)


@generator("chains", source="P2 §5.2")
def chains(
    seed: int = 0,
    *,
    m: Jobs = None,
    a_min: Size = 1.0,
    a_max: Size = 20.0,
    load_min: Size = 0.1,
    load_max: Size = 1.0,
    n_min: Iterations = 5,
    n_max: Iterations = 150,
    noise: Noise = 0.0,
) -> Scenario:
    """Periodic jobs (2 to 15 unless m is set), each with its own compute a, I/O b = a·load and n iterations."""
    draw = np.random.default_rng(seed)
    jobs = _jobs(draw, m)
    a = draw.uniform(*ordered("chains", a_min=a_min, a_max=a_max), jobs)
    b = a * draw.uniform(*ordered("chains", load_min=load_min, load_max=load_max), jobs)
    n = draw.integers(*ordered("chains", n_min=n_min, n_max=n_max), jobs, endpoint=True)
    return _scenario(seed, noise, a, b, n)


@generator("uniform", source="P2 §5.2")
def uniform(
    seed: int = 0,
    *,
    m: Jobs = None,
    a_min: Size = 1.0,
    a_max: Size = 20.0,
    load_min: Size = 0.1,
    load_max: Size = 1.0,
    n_min: Iterations = 100,
    n_max: Iterations = 200,
    noise: Noise = 0.0,
) -> Scenario:
    """Periodic jobs (2 to 15 unless m is set) with one compute a and one I/O b = a·load for all; only n differs."""
    draw = np.random.default_rng(seed)
    jobs = _jobs(draw, m)
    a = draw.uniform(*ordered("uniform", a_min=a_min, a_max=a_max))
    b = a * draw.uniform(*ordered("uniform", load_min=load_min, load_max=load_max))
    n = draw.integers(*ordered("uniform", n_min=n_min, n_max=n_max), jobs, endpoint=True)
    return _scenario(seed, noise, np.full(jobs, a), np.full(jobs, b), n)


def chain(name: str, iterations: int, compute: float, io: float, nodes: int = 1) -> Application:
    """Give a periodic job: `iterations` times compute, then write."""
    loop = Repeat(repeat=int(iterations), phases=(Compute(compute=compute), Write(write=io)))
    return Application(name=name, nodes=int(nodes), phases=(loop,))


def ordered(kind: str, **limits: Number) -> tuple[Number, Number]:
    """Give the two limits of a range, named as the settings that hold them, if the first is not above the second."""
    (lowest, low), (highest, high) = limits.items()
    if low > high:
        raise InvalidOption(f"{kind}: {lowest} is {low:g} and {highest} is {high:g}; accepted is {lowest} ≤ {highest}.")
    return low, high


def _jobs(draw: np.random.Generator, m: int | None) -> int:
    return int(draw.integers(FEWEST_JOBS, MOST_JOBS, endpoint=True)) if m is None else m


def _scenario(seed: int, noise: float, a: Floats, b: Floats, n: Ints) -> Scenario:
    return Scenario(
        version=1,
        platform=Platform(bandwidth=1.0),
        seed=seed,
        noise=noise,
        applications=tuple(chain(f"j{i + 1}", n[i], a[i], b[i]) for i in range(len(n))),
    )
