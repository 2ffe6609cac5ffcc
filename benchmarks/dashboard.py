"""What the dashboard and its viewers cost the controller: the same traffic alone, polled, and watched by twenty.

Slices of all three kinds take turns on one controller with the same clients, so whatever else the machine does meets
them alike. Alone, the dashboard's process is stopped by a signal; polled, it looks and nobody watches; watched, twenty
viewers read. So what the controller itself pays for a look, and what the dashboard takes of the same two cores by
serving viewers, can be told apart.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import median

from benchmarks.rows import Row
from penstock.live.loadtest.clients import Crowd
from penstock.live.loadtest.load_test import Load, allow_files, part
from penstock.live.loadtest.loops import run
from penstock.live.loadtest.processes import Child, controller, cpu_seconds, way_in
from penstock.live.loadtest.transports import Transport, free_port

VIEWERS = 20
MOST = 1.1  # times the p99 without viewers
SLICE = 3.0  # seconds
PAUSE = 1.0  # seconds before each: what was under way has ended
LOADS = {"full": (Load(10_000, 1_000, 60.0), 10), "quick": (Load(300, 50, 4.0, 200.0), 1)}
KINDS = ("alone", "polled", "watched")


@dataclass
class Slices:
    """Waits from post to rate, and processor seconds of the controller and of the dashboard, of one kind."""

    waits: list[list[float]] = field(default_factory=list)  # of each slice
    cpu: float = 0.0
    dashboard: float = 0.0

    @property
    def p99(self) -> float:
        """Of all slices together."""
        return part(sorted(chain.from_iterable(self.waits)), 0.99)

    def against(self, other: Slices) -> float:
        """The ratio of the 99th percentiles in each round, and of these the median: what else runs comes in bursts."""
        pairs = zip(self.waits, other.waits, strict=True)
        return median(part(sorted(own), 0.99) / part(sorted(their), 0.99) for own, their in pairs)


@dataclass(frozen=True)
class Processes:
    """Those beside the clients, by their numbers."""

    controller: int
    dashboard: int
    viewers: int

    def switch(self, kind: str) -> None:
        """Let the dashboard look or not, and its viewers watch or not."""
        os.kill(self.dashboard, signal.SIGSTOP if kind == "alone" else signal.SIGCONT)
        os.kill(self.viewers, signal.SIGUSR1 if kind == "watched" else signal.SIGUSR2)


def dashboard_rows(quick: bool) -> list[Row]:
    """The 99th percentile from post to rate, watched and polled against alone, and the processor time beside it."""
    load, rounds = LOADS["quick" if quick else "full"]
    allow_files(load)
    with tempfile.TemporaryDirectory(prefix="penstock-") as name:
        folder = Path(name)
        way = way_in(folder, "unix")
        with controller(folder, load.clients, way) as child:
            child.ready()
            port = free_port()
            with _dashboard(folder, way, port) as shown:
                shown.ready()
                with Child("benchmarks.dashboard", str(port)) as viewers:
                    viewers.ready()
                    found = run(_measure(load, rounds, way, Processes(child.pid, shown.pid, viewers.pid)))
                    if viewers.ended:
                        raise RuntimeError("a viewer was dropped")
    what = f"{load.clients:,} clients, {load.active:,} active, {load.rate:,.0f} events/s"
    return [row for kind in KINDS[1:] for row in _rows(what, kind, found[kind], found["alone"], rounds, quick)]


def _rows(what: str, kind: str, some: Slices, alone: Slices, rounds: int, quick: bool) -> list[Row]:
    who = f"{VIEWERS} viewers" if kind == "watched" else "the dashboard, no viewers,"
    seconds = rounds * SLICE
    note = f"median of {rounds} rounds; all together {1e3 * some.p99:.2f} ms against {1e3 * alone.p99:.2f}"
    more, own = 100.0 * (some.cpu - alone.cpu) / seconds, 100.0 * some.dashboard / seconds
    return [
        Row(
            f"from post to rate, 99 of 100, {what}: {who} against none",
            some.against(alone),
            most=MOST if kind == "watched" and not quick else None,
            note=note,
        ),
        # A ratio: the difference of two slices may come out below nothing.
        Row(
            f"processor time of the controller, {what}: {who} against none",
            some.cpu / alone.cpu,
            note=f"{more:+.1f} % of a core, and {own:.1f} % for the dashboard",
        ),
    ]


def _dashboard(folder: Path, way: Transport, port: int) -> Child:
    told = ("--address", way.place, "--journal", str(folder / "journal"), "--listen", f"127.0.0.1:{port}")
    return Child("penstock", "dashboard", *told, "--json")


async def _measure(load: Load, rounds: int, way: Transport, processes: Processes) -> dict[str, Slices]:
    crowd = Crowd(way, load.clients, f"loadtest-{os.getpid()}")
    found = {kind: Slices() for kind in KINDS}
    gc.disable()  # pauses of this process would count as the controller's
    try:
        await crowd.bring_in(crowd.clients)
        await crowd.post_all(crowd.clients[: load.active])
        await asyncio.sleep(crowd.every)
        for number in range(rounds):
            first = number % len(KINDS)
            for kind in (*KINDS[first:], *KINDS[:first]):
                processes.switch(kind)
                await asyncio.sleep(PAUSE)
                await _slice(crowd, load, processes, found[kind])
    finally:
        gc.enable()
        os.kill(processes.dashboard, signal.SIGCONT)
        crowd.close()
    return found


async def _slice(crowd: Crowd, load: Load, processes: Processes, into: Slices) -> None:
    crowd.waits.clear()
    pids = processes.controller, processes.dashboard
    before, began = [cpu_seconds(pid) for pid in pids], time.perf_counter()
    await crowd.stream(crowd.clients[: load.active], load.rate, SLICE)
    seconds = time.perf_counter() - began
    used = [(cpu_seconds(pid) - early) * SLICE / seconds for pid, early in zip(pids, before, strict=True)]
    into.cpu += used[0]
    into.dashboard += used[1]
    into.waits.append(list(crowd.waits))


async def watch(port: int) -> None:
    """Twenty viewers, in a process of their own and at low priority: at a site they are elsewhere.

    They come with one signal and leave with another. It ends if one is dropped meanwhile.
    """
    os.nice(19)
    loop, come, leave = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
    for number, event in ((signal.SIGUSR1, come), (signal.SIGUSR2, leave)):
        loop.add_signal_handler(number, event.set)
    print("watching", flush=True)
    while True:
        await come.wait()
        come.clear()
        leave.clear()
        readers = [await _opened(port) for _ in range(VIEWERS)]
        tasks = [asyncio.create_task(_read(*each)) for each in readers]
        left = asyncio.create_task(leave.wait())
        done, _ = await asyncio.wait([*tasks, left], return_when=asyncio.FIRST_COMPLETED)
        if left not in done:
            return
        for task in tasks:
            task.cancel()
        for _, writer in readers:
            writer.close()


async def _opened(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return reader, writer


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(1 << 16):
        pass
    writer.close()


if __name__ == "__main__":
    asyncio.run(watch(int(sys.argv[1])))
