"""The workload of P3 §6.2.2: jobs for I/O nodes, at a chosen average I/O occupation α of P compute nodes.

    α = P·Σ(volumes/bandwidth) / Σ(Q_i·T_i), T_i the time of job i alone and Q_i its nodes
    jobs ~ U{25..100}, of which a share β ~ U[0, 1] has low I/O load, the others high
    n_i ~ U{250..1000} iterations of w_i ~ U[10, 100] seconds of compute, then the volume v_i = w_i·load_i
    load_i ~ N(0.1, 0.1) for low, N(0.9, 0.1) for high, 0.1 being the standard deviation, redrawn until in (0, 1]
    Q_i = 2^j, j ~ Binomial(log₂ P, Q̄^(1/log₂ P) - 1), which has the mean Q̄ = P·μ/(α·(1 + μ)), μ = 0.1·β + 0.9·(1 - β)

The share is met as well as whole jobs allow: round(β·jobs) of them, at random places, have low load. A P that is no
power of two counts as the next lower one in log₂ P.

α is an aim. P3 obtains Q̄ with averages in place of sums, and with loads that were not cut off at 0 and 1: a workload of
high load has 0.98 of α in the limit of many jobs, one of low load 1.26 of it. The processors are drawn last, so that
workloads of one seed at several α differ in nothing else.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.model import IoNodes, Platform, Scenario
from penstock.workloads.chains import Iterations, chain, ordered
from penstock.workloads.registry import Accepted, generator

LOW_LOAD, HIGH_LOAD, DEVIATION = 0.1, 0.9, 0.1
FEWEST_JOBS, MOST_JOBS = 25, 100
SHORTEST, LONGEST = 10.0, 100.0  # compute seconds of an iteration


@generator("packs", source="P3 §6.2.2")
def packs(
    seed: int = 0,
    *,
    alpha: Annotated[float, Accepted("a number > 0", lambda value: value > 0)] = 1.0,
    beta: Annotated[float | None, Accepted("a number from 0 to 1, or none", lambda value: 0 <= value <= 1)] = None,
    jobs: Annotated[
        int | None, Accepted("a whole number from 1 to 100,000, or none", lambda value: 1 <= value <= 100_000)
    ] = None,
    io_nodes: Annotated[int, Accepted("a whole number from 1 to 10,000", lambda value: 1 <= value <= 10_000)] = 1,
    nodes: Annotated[int, Accepted("a whole number from 8 to 1,048,576", lambda value: 8 <= value <= 1_048_576)] = 2048,
    n_min: Iterations = 250,
    n_max: Iterations = 1000,
) -> Scenario:
    """Jobs of low (a share beta) and high I/O load for I/O nodes of `nodes` each; average I/O occupation near alpha."""
    _check(alpha, beta, nodes)
    draw = np.random.default_rng(seed)
    share = draw.uniform() if beta is None else beta
    count = int(draw.integers(FEWEST_JOBS, MOST_JOBS, endpoint=True)) if jobs is None else jobs
    iterations = draw.integers(*ordered("packs", n_min=n_min, n_max=n_max), count, endpoint=True)
    compute = draw.uniform(SHORTEST, LONGEST, count)
    low = draw.permutation(count) < round(share * count)
    volume = compute * _loads(draw, np.where(low, LOW_LOAD, HIGH_LOAD))
    width = 2 ** draw.binomial(doublings(nodes), doubling_chance(mean_nodes(alpha, share, nodes), nodes), count)
    names = [f"{'low' if low[i] else 'high'}-{i + 1}" for i in range(count)]
    return Scenario(
        version=1,
        # Without a mapping to I/O nodes, as in `penstock simulate`, all jobs share one of them.
        platform=Platform(bandwidth=1.0, io_nodes=IoNodes(count=io_nodes, bandwidth=1.0, nodes=nodes)),
        applications=tuple(map(chain, names, iterations, compute, volume, width)),
    )


def mean_nodes(alpha: float, beta: float, nodes: int) -> float:
    """P3's Q̄: how many nodes a job needs on average for the occupation to be near `alpha`."""
    return nodes * _io_share(beta) / alpha


def doublings(nodes: int) -> int:
    """How often 1 node can be doubled within `nodes`."""
    return nodes.bit_length() - 1


def doubling_chance(mean: float, nodes: int) -> float:
    """Chance of each doubling, such that 2^j has the mean E[2^j] = (1 + chance)^doublings."""
    return math.pow(mean, 1 / doublings(nodes)) - 1


def _io_share(beta: float) -> float:
    """How much of its time alone a job of average load spends in I/O."""
    load = beta * LOW_LOAD + (1 - beta) * HIGH_LOAD
    return load / (1 + load)


def _check(alpha: float, beta: float | None, nodes: int) -> None:
    """Refuse an alpha for which jobs would need less than 1 node on average, or more than the widest, at any share."""
    widest = 2 ** doublings(nodes)
    least = nodes * _io_share(0.0 if beta is None else beta) / widest
    most = nodes * _io_share(1.0 if beta is None else beta)
    if not least <= alpha <= most:
        raise InvalidOption(
            f"packs: alpha is {alpha:g}; accepted is a number from {math.ceil(1000 * least) / 1000:.3f} to"
            f" {math.floor(1000 * most) / 1000:.3f} with beta {'drawn' if beta is None else f'{beta:g}'}, so that jobs"
            f" need 1 to {widest:,} nodes on average."
        )


def _loads(draw: np.random.Generator, mean: Floats) -> Floats:
    load = draw.normal(mean, DEVIATION)
    while (refused := (load <= 0) | (load > 1)).any():
        load[refused] = draw.normal(mean[refused], DEVIATION)
    return load
