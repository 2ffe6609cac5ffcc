"""A campaign on the cores of this machine: forked processes, which have the parent's kernels, each with its own pipe.

A pool of `concurrent.futures` breaks as a whole when one of its processes dies, and cannot tell which unit was to
blame. Here the parent knows what every worker has. If one dies, another takes its place and the units of its chunk are
tried again, one at a time; a unit that ends a worker when it is alone is given up.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from queue import Queue
from typing import Any

from penstock.campaign.chunks import Chunk, Chunks
from penstock.campaign.executor import Executor, Here, LostUnit, Perform
from penstock.campaign.perform import RunRow
from penstock.campaign.units import Unit
from penstock.errors import InvalidOption

CHUNK_SECONDS = 0.1  # of work in a message: far more than the message costs, little to wait for or to lose
MOST_IN_CHUNK = 64

_fork = multiprocessing.get_context("fork")


def make(argument: str, workers: int | None) -> Executor:
    """All cores that this process may use, or as many as asked for."""
    if argument:
        raise InvalidOption(
            f"--on local takes no argument, but has {argument!r}; give a number of cores with --workers"
        )
    count = len(os.sched_getaffinity(0)) if workers is None else workers
    return Here() if count == 1 else Local(count)


@dataclass
class Worker:
    """A process, the pipe to it, and the chunks it has, the one in work first."""

    process: ForkProcess
    pipe: Connection
    chunks: deque[Chunk] = field(default_factory=deque)

    def give(self, chunk: Chunk) -> None:
        """Send work; if the worker has died, that is found out when its answer is awaited."""
        self.chunks.append(chunk)
        with contextlib.suppress(OSError):
            self.pipe.send(chunk.units)

    def end(self) -> None:
        """End the process, whatever it does."""
        self.pipe.close()
        self.process.kill()
        self.process.join()


class Local:
    """Several processes on this machine."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.words = f"{count} processes"

    def map(self, perform: Perform, units: Iterator[Unit]) -> Iterator[tuple[Unit, list[RunRow] | LostUnit]]:
        """As in the protocol."""
        work = _Work(units)
        workers = [_hire(perform) for _ in range(self.count)]
        try:
            while busy := _fed(workers, work):
                ready = wait([worker.pipe for worker in busy])
                for worker in [worker for worker in busy if worker.pipe in ready]:
                    try:
                        rows, seconds = worker.pipe.recv()
                    except (EOFError, OSError):
                        workers.remove(worker)
                        yield from work.bury(worker)
                        workers.append(_hire(perform))
                        continue
                    chunk = worker.chunks.popleft()
                    work.chunks.learn(chunk, seconds)
                    yield from zip(chunk.units, rows, strict=True)
        finally:
            for worker in workers:
                worker.end()


class _Work:
    """What is left to do: what dead workers had, then new units."""

    def __init__(self, units: Iterator[Unit]) -> None:
        self.chunks = Chunks(units, CHUNK_SECONDS, MOST_IN_CHUNK)
        self._again: deque[Chunk] = deque()

    def next_chunk(self) -> Chunk | None:
        return self._again.popleft() if self._again else self.chunks.draw()

    def bury(self, worker: Worker) -> Iterator[tuple[Unit, LostUnit]]:
        """Take back what a dead worker had. What it was at is tried again; what it waited for is not to blame."""
        worker.end()
        suspect, *waiting = worker.chunks
        self._again.extend(waiting)
        if not suspect.alone:
            self._again.extend(suspect.apart())
            return
        code = worker.process.exitcode or 0
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        for unit in suspect.units:
            yield unit, LostUnit(f"the worker process ended {how}, twice; is there enough memory?")


def _fed(workers: list[Worker], work: _Work) -> list[Worker]:
    """Those who have work, after new work was given out; round by round, so that the last units are spread."""
    ahead = work.chunks.ahead
    for _ in range(ahead):
        for worker in workers:
            if len(worker.chunks) < ahead and (chunk := work.next_chunk()):
                worker.give(chunk)
    return [worker for worker in workers if worker.chunks]


def _hire(perform: Perform) -> Worker:
    ours, theirs = _fork.Pipe()
    process = _fork.Process(target=_serve, args=(theirs, ours, perform), daemon=True)
    process.start()
    theirs.close()
    return Worker(process, ours)


def _serve(pipe: Connection, parents_end: Connection, perform: Callable[[Unit], Any]) -> None:
    """What a worker does until it is ended. Interrupts are the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parents_end.close()
    work: Queue[tuple[Unit, ...]] = Queue()
    threading.Thread(target=_listen, args=(pipe, work), daemon=True).start()
    while True:
        units = work.get()
        begun = time.perf_counter()
        rows = [perform(unit) for unit in units]
        pipe.send((rows, time.perf_counter() - begun))


def _listen(pipe: Connection, work: Queue[tuple[Unit, ...]]) -> None:
    """Take in what the parent sends, however much: the two must never wait for each other to read.

    A parent that is killed cannot end its workers, which would wait for work for ever; but its end of the pipe closes.
    """
    with contextlib.suppress(EOFError, OSError):
        while True:
            work.put(pipe.recv())
    os._exit(1)
