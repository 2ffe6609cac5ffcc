"""The orders at the scale of P2's evaluation, and packs at the scale of P3's."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from benchmarks.rows import Row
from benchmarks.timing import race
from penstock import Scenario, compare, generate
from penstock.policies.mapping.longest_first import longest_first
from penstock.policies.mapping.packs import packed
from penstock.studies.packs import pack

ORDERS = (
    "best-effort",
    "list-fifo",
    "list-johnson",
    "list-most-remaining",
    "periodic-fifo",
    "periodic-johnson",
    "periodic-most-remaining",
    "hierarchical-round-robin",
)
INSTANCES = {"full": 1_000, "quick": 20}
MINUTES = 3.0
CORES = 2


def order_rows(quick: bool) -> list[Row]:
    """P2's general case: instances by the thousand, each under eight orders, metrics and bounds included."""
    instances = INSTANCES["quick" if quick else "full"]
    compare(generate("chains", seed=0), ORDERS)  # compile or load once; the workers inherit it
    started = time.perf_counter()
    with ProcessPoolExecutor(CORES) as pool:
        events = sum(pool.map(_events, range(instances), chunksize=10))
    seconds = time.perf_counter() - started
    what = f"P2's general case, {instances:,} instances × {len(ORDERS)} orders"
    promise = 60.0 * MINUTES * instances / INSTANCES["full"]
    note = f"{events / seconds:,.0f} events/s on {min(CORES, os.cpu_count() or 1)} cores"
    return [Row(what, seconds, " s", promise, note=note)]


def pack_rows(quick: bool) -> list[Row]:
    """P3's largest workload on five I/O nodes, and a thousand jobs to pack."""
    iterations = 100 if quick else 1_000
    largest = generate("packs", seed=1, jobs=100, n_min=iterations, n_max=iterations, io_nodes=5)
    runs = {"in packs": False, "backfilled": True}
    best = race({name: partial(_engine_seconds, largest, backfill) for name, backfill in runs.items()}, 3)
    rows = [
        Row(f"100 jobs × {iterations:,} iterations on 5 I/O nodes, {name}", seconds, " s", 0.5 * iterations / 1_000)
        for name, seconds in best.items()
    ]
    return [*rows, Row("1,000 jobs made into packs and dealt to 5 I/O nodes", _packing_seconds(), " s", 0.2)]


def _engine_seconds(scenario: Scenario, backfill: bool) -> float:
    return pack(scenario, backfill=backfill).seconds


def _packing_seconds() -> float:
    draw = np.random.default_rng(1)
    seconds, processors = draw.uniform(1e3, 1e5, 1_000), 2 ** draw.integers(0, 11, 1_000)
    io = seconds * draw.uniform(0.01, 0.5, 1_000)

    def once() -> float:
        started = time.thread_time()
        packs = packed(seconds, io, processors, 2048, 1.0)
        longest = np.zeros(packs.max() + 1)
        np.maximum.at(longest, packs, seconds)
        longest_first(longest, 5)
        return time.thread_time() - started

    return race({"packs": once}, 3)["packs"]


def _events(seed: int) -> int:
    return sum(result.events for result in compare(generate("chains", seed=seed), ORDERS))
