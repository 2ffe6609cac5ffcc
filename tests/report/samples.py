"""Runs made by hand: a toy of two applications, and one of 60 applications with 5,000 segments per policy."""

from __future__ import annotations

import numpy as np

from penstock.engine.timeline import Timeline
from penstock.metrics.result import ApplicationResult, Result

POLICIES = (
    "fair-share",
    "fcfs",
    "greedy-yield",
    "greedy-com",
    "lookahead-greedy-yield",
    "periodic-greedy-yield",
    "set-10",
    "best-next-event",
)


def run(sharing="fcfs", yields=(0.8, 0.9), names=("a", "b"), *, finished=False, windowed=True, rate=1.0, **changes):
    """A consistent run: what is not given follows from the yields."""
    end = changes.get("end", 100.0)
    applications = tuple(
        ApplicationResult(
            name, y, 95.0 + i if finished else None, 1 / y if finished else None, end * y * 0.7, end * y * 0.3 * rate
        )
        for i, (name, y) in enumerate(zip(names, yields, strict=True))
    )
    bound = 0.95
    given = {
        "sharing": sharing,
        "end": 100.0,
        "events": 1234,
        "seconds": 0.00123,
        "min_yield": min(yields),
        "utilization": 0.7 * float(np.mean(yields)),
        "efficiency": float(np.mean(yields)),
        "makespan": 95.0 + len(names) if finished else None,
        "max_stretch": 1 / min(yields) if finished else None,
        "mean_stretch": float(np.mean([1 / y for y in yields])) if finished else None,
        "pressure": 1.1 if windowed else None,
        "io_weight": 0.6,
        "bound_min_yield": 0.97 if windowed else None,
        "bound_interval": bound,
        "distance_to_bound": 1 - min(yields) / bound if bound else None,
        "node_hours_lost": end * sum(1 - y for y in yields) / 3600,
        "node_hours_used": end * len(yields) / 3600,
        "lost_share": 1 - float(np.mean(yields)),
        "worst": names[int(np.argmin(yields))],
        "mean_yield": float(np.mean(yields)),
        "p95_stretch": float(np.percentile([1 / y for y in yields], 95)) if finished else None,
        "unfinished": 0 if finished else len(names),
        "applications": applications,
        "timeline": None,
    }
    return Result(**(given | changes))


def toy_timeline(names=("a", "b")):
    """B = 1: a computes, transfers and computes again; b waits for it, then transfers till the end."""
    return Timeline(
        names=tuple(names),
        capacity=1.0,
        begin=0.0,
        end=100.0,
        started=np.array([0.0, 10.0]),
        stopped=np.array([100.0, 90.0]),
        application=np.array([0, 1, 0, 1]),
        operation=np.zeros(4, np.int64),
        start=np.array([20.0, 30.0, 50.0, 50.0]),
        stop=np.array([50.0, 50.0, 70.0, 90.0]),
        rate=np.array([1.0, 0.0, 0.5, 0.5]),
        cut=4,
    )


def toy(sharing="fcfs", names=("a", "b"), **changes):
    return run(sharing, names=names, timeline=toy_timeline(names), **changes)


def big_timeline(seed=0, applications=60, segments=5000, capacity=160e9, span=2e6):
    """Every application alternates compute, waiting and transfer; rates share the capacity evenly."""
    rng = np.random.default_rng(seed)
    each = segments // applications
    rows, starts, stops, rates = [], [], [], []
    for i in range(applications):
        cuts = np.sort(rng.uniform(0, span, 2 * each))
        turn = rng.uniform(0.2, 1.0)
        for k in range(each):
            rows.append(i)
            starts.append(cuts[2 * k])
            stops.append(cuts[2 * k] + (cuts[2 * k + 1] - cuts[2 * k]) * turn)
            rates.append(0.0 if rng.random() < 0.3 else capacity / applications * rng.uniform(0.3, 2.0))
    order = np.argsort(stops)
    return Timeline(
        names=tuple(f"climate-{i:02d}" if i % 3 else f"a-long-application-name-{i:02d}" for i in range(applications)),
        capacity=capacity,
        begin=0.0,
        end=span,
        started=rng.uniform(0, span / 50, applications) * (np.arange(applications) % 4 == 0),
        stopped=np.full(applications, span),
        application=np.array(rows)[order],
        operation=(np.arange(len(rows)) % each)[order],
        start=np.array(starts)[order],
        stop=np.array(stops)[order],
        rate=np.array(rates)[order],
        cut=len(rows),
    )


def big(sharing="fair-share", seed=0, *, timeline=True, **size):
    """A run of the size of P1's experiments."""
    drawn = big_timeline(seed, **size)
    rng = np.random.default_rng(seed)
    yields = np.clip(rng.normal(0.82 + 0.01 * (seed % 5), 0.06, len(drawn.names)), 0.4, 1.0)
    return run(
        sharing,
        yields=tuple(yields.tolist()),
        names=drawn.names,
        end=drawn.end,
        rate=drawn.capacity / len(drawn.names),
        events=91_234,
        seconds=0.213,
        timeline=drawn if timeline else None,
    )


def eight_big(**options):
    return [big(name, seed, **options) for seed, name in enumerate(POLICIES)]
