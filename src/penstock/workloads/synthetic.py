"""The synthetic workload of P1 §6.2.1: small, medium and big applications, desynchronised, at a chosen I/O pressure.

Application i repeats an iteration that takes ω_i alone, of which φ_i is I/O:

    ω_i ~ N(μ, μσ), μ = 1,000 (small), 10,000 (medium), 100,000 (big)
    n_i = ⌈horizon/ω_i⌉ iterations
    φ_i = u_i·pressure/Σu, u ~ U[0, 1]
    work (1 + γ)·(1 - φ_i)·ω_i, then I/O (1 + γ')·φ_i·ω_i, with γ, γ' ~ U[-noise, noise] for each iteration

after a first compute of U[0, ω_i]. The window ends when the first application would complete alone.

P1 redraws until ω is positive; here until it is at least μ/1,000, because one tiny ω gives one application more
iterations than memory holds. At σ = 0.5 this concerns one draw in 10,000.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidOption
from penstock.model import COMPUTE, WRITE, Application, Platform, Scenario, Trace, Window
from penstock.model.scenario import MOST_PHASES
from penstock.workloads.registry import Accepted, generator

Floats = NDArray[np.float64]
Positive = Annotated[float, Accepted("a number > 0", lambda value: value > 0)]
Count = Annotated[int, Accepted("a whole number ≥ 0", lambda value: value >= 0)]

MEAN_ITERATION = {"small": 1_000.0, "medium": 10_000.0, "big": 100_000.0}
SHORTEST_ITERATION = 1e-3  # of the mean


@generator("synthetic", source="P1 §6.2.1")
def synthetic(
    seed: int = 0,
    *,
    pressure: Positive = 1.0,
    small: Count = 20,
    sigma: Annotated[float, Accepted("a number from 0 to 100", lambda value: 0 <= value <= 100)] = 0.5,
    noise: Annotated[float, Accepted("a number from 0 to 1", lambda value: 0 <= value <= 1)] = 0.5,
    horizon: Annotated[float, Accepted("a number from 1 to 1e12", lambda value: 1 <= value <= 1e12)] = 2e6,
    applications: Annotated[int, Accepted("a whole number from 1 to 1,000,000", lambda value: 1 <= value <= 1e6)] = 60,
    medium: Annotated[int | None, Accepted("a whole number ≥ 0, or none", lambda value: value >= 0)] = None,
) -> Scenario:
    """Small, medium (a third unless set) and big applications that iterate until `horizon` at an aimed I/O pressure."""
    names, mean = _sizes(small, applications // 3 if medium is None else medium, applications)
    draw = np.random.default_rng(seed)
    iteration, first_compute, io_share = _drawn(draw, mean, sigma, pressure)
    count = _counts(horizon, iteration)
    phases = np.stack([(1 - io_share) * iteration, io_share * iteration], axis=1)
    traces = [_trace(draw, first_compute[i], phases[i], noise, count[i]) for i in range(applications)]
    end = min(float(trace.amount.sum()) for trace in traces)  # bandwidth 1: a volume is also its duration alone
    return Scenario(
        version=1,
        platform=Platform(bandwidth=1.0),
        window=Window(begin=0.0, end=end),
        applications=tuple(Application(name=name, phases=trace) for name, trace in zip(names, traces, strict=True)),
    )


class Shapes(NamedTuple):
    """What was drawn for each application, in the order of the scenario."""

    iteration: Floats  # ω
    first_compute: Floats
    io_share: Floats  # φ


def shapes(seed: int, pressure: float, small: int, sigma: float, applications: int, medium: int | None) -> Shapes:
    """What the applications of the scenario with these settings are, before noise.

    >>> float(shapes(1, 1.0, 20, 0.5, 60, None).io_share.sum().round(9))
    1.0
    """
    _, mean = _sizes(small, applications // 3 if medium is None else medium, applications)
    return _drawn(np.random.default_rng(seed), mean, sigma, pressure)


def _drawn(draw: np.random.Generator, mean: Floats, sigma: float, pressure: float) -> Shapes:
    iteration = _iterations(draw, mean, sigma)
    return Shapes(iteration, draw.uniform(0.0, iteration), _io_shares(draw, pressure, len(mean)))


def _sizes(small: int, medium: int, applications: int) -> tuple[list[str], Floats]:
    if small + medium > applications:
        raise InvalidOption(
            f"synthetic: small is {small} and medium is {medium}; together they may be at most the"
            f" {applications} applications."
        )
    counts = {"small": small, "medium": medium, "big": applications - small - medium}
    names = [f"{size}-{i + 1}" for size, count in counts.items() for i in range(count)]
    return names, np.repeat(list(MEAN_ITERATION.values()), list(counts.values()))


def _iterations(draw: np.random.Generator, mean: Floats, sigma: float) -> Floats:
    iteration = draw.normal(mean, mean * sigma)
    while (refused := iteration < SHORTEST_ITERATION * mean).any():
        iteration[refused] = draw.normal(mean[refused], mean[refused] * sigma)
    return iteration


def _io_shares(draw: np.random.Generator, pressure: float, applications: int) -> Floats:
    weight = draw.uniform(size=applications)
    share: Floats = weight * (pressure / weight.sum())
    if share.max() >= 1:
        raise InvalidOption(
            f"synthetic: pressure is {pressure:g}, which makes I/O {share.max():.3g} of an application's time;"
            f" accepted is a pressure that {applications} applications carry with less than 1 each."
        )
    return share


def _counts(horizon: float, iteration: Floats) -> list[int]:
    count = np.ceil(horizon / iteration)
    phases = 2 * count.sum() + len(count)
    if phases > MOST_PHASES:
        raise InvalidOption(
            f"synthetic: horizon is {horizon:g}, or {phases:,.0f} phases; accepted is at most {MOST_PHASES:,}."
        )
    return [int(each) for each in count]


def _trace(draw: np.random.Generator, first_compute: float, phases: Floats, noise: float, count: int) -> Trace:
    kind = np.full(2 * count + 1, COMPUTE, dtype=np.int8)
    kind[2::2] = WRITE
    amount = np.empty(2 * count + 1)
    amount[0] = first_compute
    amount[1:] = (phases * draw.uniform(1 - noise, 1 + noise, size=(count, 2))).ravel()
    kind.flags.writeable = amount.flags.writeable = False  # a Trace copies what others could change
    return Trace(kind=kind, amount=amount)
