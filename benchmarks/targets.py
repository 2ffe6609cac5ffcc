"""Targets given out and used: a thousand applications on as many targets, arrivals, and P4's evaluation."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.rows import Row
from benchmarks.timing import race
from penstock import Scenario, generate
from penstock.engine.link.loop import BUDGET_SPENT
from penstock.engine.link.state import chains_of
from penstock.engine.targets.loop import run_targets
from penstock.engine.targets.stripes import Bounds, initial_stripe_state, stripes_of, stripes_view
from penstock.kernels.arrays import Ints
from penstock.policies import allocation, placement
from penstock.policies.allocation import Allocated, Allocation
from penstock.policies.placement import Placement
from penstock.policies.sharing import find
from penstock.policies.sharing.asking import first_class
from penstock.studies.targets import allocate, compare_allotments
from penstock.studies.targets.arrangement import Arrangement
from penstock.studies.targets.execution import fare
from penstock.studies.targets.site import Site

SEED, LOAD, NODES = 1, 0.6, 48  # nodes per application, on average
SIZES = {"full": 1_000, "quick": 100}
SETS = {"full": 100, "quick": 4}
MINUTES = 2.0
JOBS = {"full": 10_000, "quick": 400}
PRESENT, TARGETS = 200, 100  # jobs that run at a time, on average, if nobody has to wait
SECONDS = 2.0
CORES = 2
# Exponents of the bandwidth over the count. Above 1, more targets mean less stress.
GROWTH = (0.2, 1.1)
# With any count for all, the engine runs after these only: everybody on every target, and what is given out by default.
AFTER = ("best-bandwidth", "tcpu")


class Speed(NamedTuple):
    """Seconds that the engine takes for a million of what may count as one."""

    events: float  # something happens on a target, which then decides
    instants: float  # something happens, on however many targets


def target_rows(quick: bool) -> list[Row]:
    """As many targets as applications: profiles of up to 8 targets, as P4's, and profiles of every count there is."""
    size = SIZES["quick" if quick else "full"]
    usual = crowd(size)
    return [
        *_rows(f"{size:,} on {size:,} targets", Site(usual), 1 if quick else 5, promising=True),
        *_rows(f"counts 1 to {size:,} for all", Site(any_count(usual)), 1, promising=False),
    ]


def arrival_rows(quick: bool) -> list[Row]:
    """Jobs that come and go: given out and run to the end of all, from the loaded scenario to the result."""
    jobs = JOBS["quick" if quick else "full"]
    scenario = arrivals(jobs)
    rows = []
    for name, promise in (("tcpu", SECONDS), ("mckp", None)):
        seconds, found = _timed(1 if quick else 3, partial(allocate, scenario, name))
        note = f"{found.events:,} events, mean I/O slowdown {found.mean_io_slowdown:.2f}"
        rows.append(
            Row(f"{jobs:,} jobs that come and go on {TARGETS} targets: {name}", seconds, " s", promise, note=note)
        )
    return rows


def arrivals(jobs: int) -> Scenario:
    """P4's applications in many sets, released one after the other so that about one set is there at a time."""
    sets = [
        generate("targets", seed, applications=PRESENT, targets=TARGETS, load=LOAD) for seed in range(jobs // PRESENT)
    ]
    demand = Site(sets[0]).demand
    length = float((demand.compute + demand.transfer[demand.fastest]).mean())
    release = np.sort(np.random.default_rng(SEED).uniform(0.0, length * len(sets), jobs)).tolist()
    applications = [each for one in sets for each in one.applications]
    named = [
        each.model_copy(update={"name": f"{place} {each.name}", "release": release[place]})
        for place, each in enumerate(applications)
    ]
    return sets[0].model_copy(update={"applications": tuple(named)})


def evaluation_rows(quick: bool) -> list[Row]:
    """P4's evaluation: a hundred sets of applications, every allocation with every placement."""
    sets = SETS["quick" if quick else "full"]
    pairs = len(compare_allotments(generate("targets", 0)))  # compile or load once; the workers inherit it
    started = time.perf_counter()
    with ProcessPoolExecutor(CORES) as pool:
        events = sum(pool.map(_events, range(sets), chunksize=2))
    seconds = time.perf_counter() - started
    promise = 60.0 * MINUTES * sets / SETS["full"]
    note = f"{events:,} events on {min(CORES, os.cpu_count() or 1)} cores"
    return [Row(f"P4's evaluation, {sets} sets × {pairs} pairs", seconds, " s", promise, note=note)]


def crowd(size: int) -> Scenario:
    """P4's workload with as many targets as applications."""
    return generate("targets", SEED, applications=size, targets=size, nodes=NODES * size, load=LOAD)


def any_count(scenario: Scenario) -> Scenario:
    """The same applications, which may now use any number of targets."""
    count = np.arange(1, len(scenario.applications) + 1)
    draw = np.random.default_rng(SEED)
    applications = []
    for each in scenario.applications:
        assert each.profile is not None
        bandwidth = each.profile[1] * count ** draw.uniform(*GROWTH)
        profile = dict(zip(count.tolist(), bandwidth.tolist(), strict=True))
        applications.append(each.model_copy(update={"profile": profile}))
    return scenario.model_copy(update={"applications": tuple(applications)})


def _rows(title: str, site: Site, rounds: int, promising: bool) -> list[Row]:
    """Every policy, and the engine, each where it is slowest."""
    options: dict[str, Ints] = {}
    rows = []
    for policy in allocation.policies():
        seconds, allocated = _timed(rounds, partial(_allocated, site, policy))
        options[policy.name] = allocated.option
        rows.append(_row(f"{title}: allocation {policy.name}", seconds, 0.5 if promising else None))
    for where in placement.policies():
        slowest = max(_timed(rounds, partial(_placed, site, where, option))[0] for option in options.values())
        rows.append(_row(f"{title}: placement {where.name}", slowest, 0.2 if promising else None))
    after = options if promising else AFTER
    speeds = {name: _speed(site, options[name], rounds) for name in after}
    for kind in Speed._fields:
        name = max(speeds, key=lambda name: getattr(speeds[name], kind))
        million = getattr(speeds[name], kind)
        note = f"{1e6 / million:,.0f} a second, at its slowest after {name}"
        rows.append(Row(f"{title}: a million {kind}", million, " s", 1.0 if promising else None, note=note))
    return rows


def _row(what: str, seconds: float, promise: float | None) -> Row:
    return Row(what, seconds, " s", promise, note=f"{1e3 * seconds:.1f} ms")


def _speed(site: Site, option: Ints, rounds: int) -> Speed:
    """The engine where targets are dealt at random, as most systems do: some are crowded, some are not used."""
    arrangement = Arrangement(option, _placed(site, placement.find("random"), option))
    policy = find("fair-share")
    runs = [fare(site, arrangement, policy).run for _ in range(rounds)]
    seconds = min(run.seconds for run in runs)
    return Speed(1e6 * seconds / runs[0].events, 1e6 * seconds / _instants(site, arrangement))


def _instants(site: Site, arrangement: Arrangement) -> int:
    """At how many instants something happens in a run, on however many targets."""
    demand, program, policy = site.demand, site.program, find("fair-share")
    count = demand.count[arrangement.option]
    peak = demand.bandwidth[arrangement.option] / count
    stripes = stripes_of(count, arrangement.places, peak, demand.limit, policy)
    chains = chains_of(program, program.origin, watching=False, losses=policy.losses)
    bounds = Bounds(np.full(count.size, np.inf), np.inf, first=1)
    state = initial_stripe_state(program, stripes, bounds.deadline, program.origin)
    view, rates = stripes_view(stripes, policy, np.zeros(0)), np.zeros(int(np.diff(stripes.row).max()))
    decide, instants = first_class(policy), 1
    while run_targets(chains, stripes, bounds, state, view, decide, rates, 0.0, 1, False, False) == BUDGET_SPENT:
        instants += 1
    return instants


def _allocated(site: Site, policy: Allocation) -> Allocated:
    return policy.decide(replace(site.demand), _draw())  # a copy remembers nothing that others have worked out


def _placed(site: Site, policy: Placement, option: Ints) -> Ints:
    return policy.decide(site.demand, option, _draw())


def _draw() -> np.random.Generator:
    return np.random.default_rng(SEED)


def _timed(rounds: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """The fewest seconds of several runs, and what the last of them returned."""
    found: list[Any] = []

    def once() -> float:
        started = time.thread_time()
        found[:] = [run()]
        return time.thread_time() - started

    return race({"": once}, rounds)[""], found[0]


def _events(seed: int) -> int:
    return sum(allotment.events for allotment in compare_allotments(generate("targets", seed)))
