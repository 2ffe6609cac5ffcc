"""The synthetic workload of P1 §6.2.1: small, medium and big applications, desynchronised, at a chosen I/O pressure.

Application i repeats an iteration that takes ω_i alone, of which φ_i is I/O:

    ω_i ~ N(μ, μσ), μ = 1,000 (small), 10,000 (medium), 100,000 (big)
    n_i = ⌈horizon/ω_i⌉ iterations
    φ_i = u_i·pressure/Σu, u ~ U[0, 1]
    work (1 + γ)·(1 - φ_i)·ω_i, then I/O (1 + γ')·φ_i·ω_i, with γ, γ' ~ U[-noise, noise] for each iteration

after a first compute of U[0, ω_i]. The window ends when the first application would complete alone.

Three settings are ours, to see how robust policies are; they draw apart, so that all else of a seed stays the same:

    cap     b_i ~ U[cap, 1]·B, and I/O takes φ_i/b_i of an iteration: pressure and iterations stay what they are
    late    τ_i ~ U[0, late]·horizon after the begin
    age     τ_i ~ U[0, age]·horizon before the begin, and nobody was held up until then

P1 redraws until ω is positive; here until it is at least μ/1,000, because one tiny ω gives one application more
iterations than memory holds. At σ = 0.5 this concerns one draw in 10,000.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.model import COMPUTE, WRITE, Application, Platform, Scenario, Trace, Window
from penstock.model.scenario import MOST_PHASES
from penstock.workloads.registry import Accepted, generator

Positive = Annotated[float, Accepted("a number > 0", lambda value: value > 0)]
Count = Annotated[int, Accepted("a whole number ≥ 0", lambda value: value >= 0)]

Share = Annotated[float, Accepted("a number from 0 to 1", lambda value: 0 <= value <= 1)]

MEAN_ITERATION = {"small": 1_000.0, "medium": 10_000.0, "big": 100_000.0}
SHORTEST_ITERATION = 1e-3  # of the mean


@generator("synthetic", source="P1 §6.2.1")
def synthetic(
    seed: int = 0,
    *,
    pressure: Positive = 1.0,
    small: Count = 20,
    sigma: Annotated[float, Accepted("a number from 0 to 100", lambda value: 0 <= value <= 100)] = 0.5,
    noise: Share = 0.5,
    horizon: Annotated[float, Accepted("a number from 1 to 1e12", lambda value: 1 <= value <= 1e12)] = 2e6,
    applications: Annotated[int, Accepted("a whole number from 1 to 1,000,000", lambda value: 1 <= value <= 1e6)] = 60,
    medium: Annotated[int | None, Accepted("a whole number ≥ 0, or none", lambda value: value >= 0)] = None,
    cap: Annotated[float, Accepted("a number above 0, up to 1", lambda value: 0 < value <= 1)] = 1.0,
    late: Share = 0.0,
    age: Annotated[float, Accepted("a number from 0 to 1000", lambda value: 0 <= value <= 1000)] = 0.0,
) -> Scenario:
    """Small, medium (a third unless set) and big applications that iterate until `horizon` at an aimed I/O pressure."""
    names, mean = _sizes(small, applications // 3 if medium is None else medium, applications)
    draw = np.random.default_rng(seed)
    iteration, first_compute, io_share = _drawn(draw, mean, sigma, pressure)
    count = _counts(horizon, iteration)
    caps, offset = _variants(seed, applications, cap, late * horizon, age * horizon)
    io_time = _io_times(io_share, caps, cap)
    phases = np.stack([(1 - io_time) * iteration, io_share * iteration], axis=1)
    traces = [_trace(draw, first_compute[i], phases[i], noise, count[i]) for i in range(applications)]
    begin = age * horizon
    length = np.array([_alone(trace, limit) for trace, limit in zip(traces, caps.tolist(), strict=True)])
    end = begin + float((np.maximum(offset, 0.0) + length).min())
    if begin + offset.max() >= end:
        raise InvalidOption(
            f"synthetic: late is {late:g}, which releases somebody after the first has completed; accepted is less."
        )
    return Scenario(
        version=1,
        platform=Platform(bandwidth=1.0),
        window=Window(begin=begin, end=end),
        applications=tuple(
            Application(
                name=name,
                bandwidth=caps[i] if cap < 1.0 else None,
                release=max(0.0, begin + offset[i]),
                progress=max(0.0, -offset[i]) if age else None,
                phases=traces[i],
            )
            for i, name in enumerate(names)
        ),
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


def _variants(seed: int, applications: int, cap: float, late: float, age: float) -> tuple[Floats, Floats]:
    """The cap of each application, and its release from the begin of the window on."""
    if late and age:
        raise InvalidOption("synthetic: late and age are both given; accepted is one of the two.")
    caps, when = np.random.default_rng([seed, 1]).uniform(size=(2, applications))
    return cap + (1.0 - cap) * caps, (late - age) * when


def _io_times(io_share: Floats, caps: Floats, cap: float) -> Floats:
    """Which part of an iteration is I/O when an application has the storage to itself."""
    times: Floats = io_share / caps
    if times.max() >= 1:
        raise InvalidOption(
            f"synthetic: cap is {cap:g}, which makes I/O {times.max():.3g} of an application's time; accepted is a cap"
            " that leaves everybody less than 1."
        )
    return times


def _alone(trace: Trace, limit: float) -> float:
    """Seconds that all phases take alone."""
    seconds = trace.amount if limit == 1.0 else np.where(trace.kind == COMPUTE, trace.amount, trace.amount / limit)
    return float(seconds.sum())


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
