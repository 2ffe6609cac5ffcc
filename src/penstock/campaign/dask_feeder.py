"""Units to the workers of a Dask scheduler, in chunks, and what comes back.

Dask tries a chunk again when the worker that has it is lost, and gives up after a few times. It counts that against
all that a worker has, also against what only waited there. So the units of a chunk that was given up are tried once
more, each with no other work under way anywhere; one that is given up then is to blame.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias
from uuid import uuid4

from penstock.campaign.chunks import Chunk, Chunks
from penstock.campaign.executor import LostUnit, Perform
from penstock.campaign.perform import RunRow
from penstock.campaign.units import Unit
from penstock.campaign.worker import Call, identity
from penstock.errors import InvalidOption

CHUNK_SECONDS = 0.5  # of work in a chunk: a hundred times what Dask and the network take for it
MOST_IN_CHUNK = 256
CONNECT_SECONDS = 10
TICK = 1.0  # seconds between looks at the workers

Client: TypeAlias = Any  # Dask is not typed
Future: TypeAlias = Any
Outcome = tuple[list[list[RunRow]], float] | str | BaseException


def connect(scheduler: object) -> Any:
    """A client of a scheduler, given by its address or as what runs it."""
    from distributed import Client  # noqa: PLC0415

    make: Any = Client
    return make(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)


class Feeder:
    """Keeps the workers of a scheduler busy, and few chunks under way; `watch` is told the threads of each worker."""

    def __init__(
        self, client: Client, perform: Perform, units: Iterator[Unit], watch: Callable[[Mapping[str, int]], None]
    ) -> None:
        self._client, self._perform, self._watch = client, perform, watch
        self._chunks = Chunks(units, CHUNK_SECONDS, MOST_IN_CHUNK)
        self._again: deque[Chunk] = deque()
        self._under_way: dict[str, tuple[Future, Chunk]] = {}
        self._ended: SimpleQueue[tuple[str, Outcome]] = SimpleQueue()
        self._names = (f"penstock-{uuid4().hex}-{number}" for number in count())
        self._workers = 0
        self._looked = -TICK

    def outcomes(self) -> Iterator[tuple[Unit, list[RunRow] | LostUnit]]:
        """What comes of every unit, as it comes."""
        try:
            while True:
                self._look()
                self._feed()
                if not self._under_way:
                    return
                with contextlib.suppress(Empty):
                    yield from self._take(*self._ended.get(timeout=TICK))
        finally:
            with contextlib.suppress(OSError):  # a scheduler that has gone has nothing to cancel
                self._client.cancel([future for future, _ in self._under_way.values()])

    def _look(self) -> None:
        if time.monotonic() - self._looked >= TICK:
            try:
                threads = self._client.nthreads()
            except OSError as error:
                raise _gone() from error
            self._workers = len(threads)
            self._watch(threads)
            self._looked = time.monotonic()

    def _feed(self) -> None:
        # Also where there are no workers yet: a scheduler may ask for some when it has work.
        while len(self._under_way) < self._chunks.ahead * max(1, self._workers) and (chunk := self._next_chunk()):
            key = next(self._names)
            message = pickle.dumps(Call(self._perform, chunk.units, identity()))
            future = self._client.submit(pickle.loads, message, key=key)
            self._under_way[key] = future, chunk
            future.add_done_callback(self._note_end)

    def _next_chunk(self) -> Chunk | None:
        if self._again:
            return None if self._under_way else self._again.popleft()
        if any(chunk.alone for _, chunk in self._under_way.values()):
            return None
        return self._chunks.draw()

    def _note_end(self, future: Future) -> None:
        """Fetch a result; called in a thread of Dask's, so that we can watch the workers meanwhile."""
        try:
            self._ended.put((future.key, pickle.loads(future.result())))
        except BaseException as error:
            self._ended.put((future.key, error))

    def _take(self, key: str, outcome: Outcome) -> Iterator[tuple[Unit, list[RunRow] | LostUnit]]:
        _, chunk = self._under_way.pop(key)
        if isinstance(outcome, str):
            raise InvalidOption(outcome)
        if isinstance(outcome, BaseException):
            yield from self._lost(chunk, outcome)
            return
        rows, seconds = outcome
        self._chunks.learn(chunk, seconds)
        yield from zip(chunk.units, rows, strict=True)

    def _lost(self, chunk: Chunk, error: BaseException) -> Iterator[tuple[Unit, LostUnit]]:
        from distributed import KilledWorker  # noqa: PLC0415

        if not isinstance(error, KilledWorker):
            raise _explained(error) from error
        if not chunk.alone:
            self._again.extend(chunk.apart())
            return
        times = error.allowed_failures + 1
        for unit in chunk.units:
            yield unit, LostUnit(f"{times} workers in a row ended while they had it; is there enough memory?")


def _explained(error: BaseException) -> BaseException:
    """What went wrong besides the loss of a worker, in a sentence if it is the user's to mend."""
    if isinstance(error, ModuleNotFoundError):
        return InvalidOption(
            f"a worker has no module {error.name!r}; install the same penstock where workers run, with the same extras"
        )
    return _gone() if isinstance(error, CancelledError) else error


def _gone() -> InvalidOption:
    return InvalidOption(
        "the Dask scheduler has gone; what was found before is kept, and the same command continues from there"
    )
