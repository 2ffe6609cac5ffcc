"""The load test itself: let all clients in, let some of them work, take the controller away and give it back.

1. All clients connect and register.
2. Some are active: each has an operation open, and one after the other ends it and posts the next. What is measured is
   the time from Post to the first rate above 0, and what the controller takes for it.
3. An echo server gets as many words a second from as many clients: the ratio of processor time per word says what
   all of the controller costs above the mere sending of bytes.
4. All clients post, so that each holds a lease; the controller is killed and started again, until a client that came
   back has ended its operation and was granted the next one. Then all come back.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf
from pathlib import Path

from penstock.live.admin import Line, Place
from penstock.live.loadtest.client import Client
from penstock.live.loadtest.clients import Crowd
from penstock.live.loadtest.echo import echo_cost
from penstock.live.loadtest.errors import LoadTestFailed
from penstock.live.loadtest.loops import run
from penstock.live.loadtest.processes import Child, controller, cpu_seconds, memory, way_in
from penstock.live.loadtest.transports import TRANSPORTS, Transport

MOST_EACH = 20.0  # words a second of one client, well below what a controller hears from one
ECHO_SECONDS = 5.0  # at most
OWN_FILES = 100  # of each process, that are no connections
SMALL = 1e4  # bytes/s that those who only hold a lease can use, so that the others keep their rates
AGAIN = 0.01  # seconds between two tries to reach a controller that is starting


@dataclass(frozen=True)
class Load:
    """So many clients, so many of them active, together `rate` posts and completions a second for so long.

    `transport` is what they connect by: `unix`, `tcp` (with TLS) or `tcp-plain`, as in addresses.
    """

    clients: int
    active: int
    seconds: float
    rate: float = 1000.0
    transport: str = "unix"


@dataclass(frozen=True)
class Figures:
    """What was measured. Without a controller of our own, nothing is restarted."""

    clients: int
    register_seconds: float
    events_per_second: float
    p50_ms: float
    p99_ms: float
    server_cpu: float  # of one core
    rss_mb: float
    restart_seconds: float | None
    echo_ratio: float
    transport: str


@dataclass(frozen=True)
class _Work:
    """How the steady stream went."""

    events_per_second: float
    p50: float
    p99: float
    cpu: float
    frames: int
    seconds: float
    memory: float


def load_test(load: Load, place: Place | None = None, say: Callable[[str], None] = lambda text: None) -> Figures:
    """Measure a controller of our own, or the one at `place`, whose jobs then share with the clients of the test."""
    _check(load, place)
    allow_files(load)
    with tempfile.TemporaryDirectory(prefix="penstock-") as name:
        folder = Path(name)
        if place is not None:
            with Line(place) as line:
                pid = int(line.ask("server")["pid"])
            return run(_measure(load, folder, Transport("unix", place.path), pid, None, say))
        say("starting a controller")
        way = way_in(folder, load.transport)
        with controller(folder, load.clients, way) as child:
            child.ready()
            return run(_measure(load, folder, way, child.pid, child, say))


def _check(load: Load, place: Place | None) -> None:
    if not 1 <= load.active <= load.clients:
        raise LoadTestFailed(
            f"{load.active:,} of {load.clients:,} clients cannot be active; at least one is, and at most all are"
        )
    if not (0.0 < load.seconds < inf and 0.0 < load.rate < inf):
        raise LoadTestFailed(f"{load.rate:g} events/s for {load.seconds:g} s are no load; both are above 0")
    if load.rate > MOST_EACH * load.active:
        raise LoadTestFailed(
            f"{load.rate:g} events/s are too many for {load.active:,} active clients, each of which is heard "
            f"{MOST_EACH:g} times a second; have more active, or a lower rate"
        )
    if load.transport not in TRANSPORTS:
        raise LoadTestFailed(f"the transport is {load.transport!r}; accepted: {', '.join(TRANSPORTS)}")
    if place is not None and (not place.path or load.transport != "unix"):
        raise LoadTestFailed(
            "the load test speaks to a running controller by its UNIX socket; run it on the controller's host, "
            "or have it start a controller of its own"
        )


def allow_files(load: Load) -> None:
    """As many open files as the test needs, if the system allows them; the controller has to have them, too."""
    need = load.clients + load.active + OWN_FILES
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and need > most:
        raise LoadTestFailed(
            f"{load.clients:,} clients need {need:,} open files, and a process may have {most:,} here "
            "(`ulimit -Hn`); have fewer clients, or raise that limit"
        )
    if now != resource.RLIM_INFINITY and need > now:
        resource.setrlimit(resource.RLIMIT_NOFILE, (need, most))


async def _measure(
    load: Load, folder: Path, way: Transport, pid: int, child: Child | None, say: Callable[[str], None]
) -> Figures:
    crowd = Crowd(way, load.clients, f"loadtest-{os.getpid()}")
    gc.disable()  # pauses of this process would count as the controller's
    try:
        say(f"registering {load.clients:,} clients")
        began = time.perf_counter()
        await crowd.bring_in(crowd.clients)
        registered = time.perf_counter() - began
        say(f"{load.rate:g} events/s of {load.active:,} active clients for {load.seconds:g} s")
        work = await _work(crowd, load, pid)
        say("the same traffic with an echo server")
        echo = await echo_cost(way, folder, load.active, work.frames / work.seconds, min(load.seconds, ECHO_SECONDS))
        restart = await _restart(crowd, load, child, say) if child is not None else None
    finally:
        gc.enable()
        crowd.close()
    return Figures(
        clients=load.clients,
        register_seconds=registered,
        events_per_second=work.events_per_second,
        p50_ms=1e3 * work.p50,
        p99_ms=1e3 * work.p99,
        server_cpu=work.cpu / work.seconds,
        rss_mb=work.memory,
        restart_seconds=restart,
        echo_ratio=work.cpu / work.frames / echo,
        transport=load.transport,
    )


async def _work(crowd: Crowd, load: Load, pid: int) -> _Work:
    active = crowd.clients[: load.active]
    await crowd.post_all(active)
    await asyncio.sleep(crowd.every)  # all have renewed once, so the rates have settled
    crowd.waits.clear()
    frames, cpu, began = crowd.frames, cpu_seconds(pid), time.perf_counter()
    events = await crowd.stream(active, load.rate, load.seconds)
    seconds, cpu = time.perf_counter() - began, cpu_seconds(pid) - cpu
    waits = sorted(crowd.waits)
    return _Work(
        events / seconds, part(waits, 0.5), part(waits, 0.99), cpu, crowd.frames - frames, seconds, memory(pid)
    )


def part(ordered: Sequence[float], share: float) -> float:
    """The value that this share of all does not exceed."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


async def _restart(crowd: Crowd, load: Load, child: Child, say: Callable[[str], None]) -> float:
    """Seconds from the death of a controller with all its leases until it grants rates again."""
    say(f"restarting it with {load.clients:,} leases")
    await crowd.post_all(crowd.clients[load.active :], SMALL)
    crowd.down = True
    first, *others = crowd.clients
    began = time.perf_counter()
    child.kill()
    child.start()
    await _reached(first, child)
    await crowd.back(first)
    first.complete()
    await crowd.post_all([first])
    seconds = time.perf_counter() - began
    crowd.down = False
    await crowd.bring_in(others)
    return seconds


async def _reached(client: Client, child: Child) -> None:
    """Dial until there is somebody."""
    while True:
        try:
            client.dial()
            return
        except (FileNotFoundError, ConnectionRefusedError):
            if child.ended:
                child.ready()  # says why
        await asyncio.sleep(AGAIN)
