"""The live controller: how well a writer keeps its rate, what pacing costs it, and what the controller stands."""

from __future__ import annotations

import os
import time

from benchmarks.rows import Row
from penstock.client.bucket import Bucket
from penstock.live.loadtest import Load, arrive, load_test

RATES = (10e6, 100e6, 1e9)  # bytes/s
ACCURACY = 1.0  # per cent
FREE_CALLS = 200_000
NODES, MOST_NODES = 2_000, 10_000  # connections over TLS
LOADS = {"full": Load(10_000, 1_000, 20.0), "quick": Load(300, 50, 2.0, 200.0)}


def live_rows(quick: bool) -> list[Row]:
    """The client's side, then the controller's."""
    load = LOADS["quick" if quick else "full"]
    accuracy = [_row(rate, 1.0, None) for rate in RATES] if quick else [_row(rate, 10.0, ACCURACY) for rate in RATES]
    return [*accuracy, _chunk(), *_load(load), *_arrivals(100 if quick else 1)]


def _row(rate: float, seconds: float, most: float | None) -> Row:
    """Off by at most so many per cent. In small nothing is promised: a neighbour on the processor makes it late."""
    moved = _written(rate, seconds)
    what = f"rate of a paced writer over {seconds:g} s, {rate / 1e6:,.0f} MB/s: off by"
    return Row(what, 100.0 * abs(moved / rate - 1.0), " %", most, note=f"{moved / 1e6:,.2f} MB/s")


def _written(rate: float, seconds: float) -> float:
    """Bytes/s that one thread writes to nowhere through a bucket of this rate."""
    bucket = Bucket(rate)
    data = memoryview(bytes(bucket.slice))
    with open(os.devnull, "wb", buffering=0) as sink:
        began = time.perf_counter()
        while (passed := time.perf_counter() - began) < seconds:
            bucket.acquire(len(data))
            sink.write(data)
    return bucket.admitted / max(passed, seconds)


def _chunk() -> Row:
    """What a chunk costs whose bytes are paid for already: processor time, for nobody sleeps here."""
    bucket = Bucket(1e18)
    acquire = bucket.acquire
    best = float("inf")
    for _ in range(5):
        before = time.process_time()
        for _ in range(FREE_CALLS):
            acquire(65_536)
        best = min(best, time.process_time() - before)
    if bucket.waited:
        raise RuntimeError("a bucket that is never empty made its writer wait")
    return Row("a paced chunk, when nobody has to wait", 1e6 * best / FREE_CALLS, " µs", 2.0)


def _load(load: Load) -> list[Row]:
    found = load_test(load)
    traffic = f"{load.active:,} active, {load.rate:,.0f} events/s"
    # With few clients on a busy machine, one late wake-up is the worst of a hundred.
    soon = 5.0 if load == LOADS["full"] else None
    reached = f"{found.events_per_second:,.0f} events/s reached"
    return [
        Row(f"register {load.clients:,} clients", found.register_seconds, " s", 5.0),
        Row(f"from post to rate, 99 of 100, {traffic}", found.p99_ms, " ms", soon, note=reached),
        Row(f"from post to rate, median, {traffic}", found.p50_ms, " ms"),
        Row(f"processor time of the controller, {traffic}", 100.0 * found.server_cpu, " %", note="of one core"),
        Row("processor time per word against an echo server", found.echo_ratio),
        Row(f"memory of the controller, {load.clients:,} clients", found.rss_mb, " MB"),
        Row(f"killed with {load.clients:,} leases until it grants again", found.restart_seconds, " s", 2.0),
    ]


def _arrivals(fewer: int) -> list[Row]:
    """Nodes that come over TLS. What TLS costs is all that another process in front of the controller could take."""
    some, many = NODES // fewer, MOST_NODES // fewer
    nodes, members = arrive(some, "tcp"), arrive(some, "tcp", one_job=True)
    most, plain = arrive(many, "tcp"), arrive(many, "tcp-plain")
    part = 100.0 * (1.0 - plain.cpu_ms / most.cpu_ms)
    alone = f"without TLS {plain.cpu_ms:.2g} ms, so {part:.0f} % is what an acceptor of its own could take at most"
    return [
        Row(f"register {some:,} nodes over TLS", nodes.seconds, " s", 5.0),
        Row(f"register {some:,} members of one job over TLS", members.seconds, " s", 10.0),
        Row(f"register {many:,} nodes over TLS", most.seconds, " s"),
        Row(f"processor time of the controller for each of {many:,} over TLS", most.cpu_ms, " ms", note=alone),
    ]
