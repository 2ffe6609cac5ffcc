"""The orders at the scale of P2's evaluation, and packs at the scale of P3's."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor

from benchmarks.rows import Row
from penstock import compare, generate

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


def _events(seed: int) -> int:
    return sum(result.events for result in compare(generate("chains", seed=seed), ORDERS))
