"""Many clients in a load test of the controller: they come in a few at a time, beat, and post at a steady pace."""

from __future__ import annotations

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from penstock.live.loadtest.client import Client
from penstock.live.loadtest.errors import LoadTestFailed
from penstock.live.loadtest.transports import KID, Transport
from penstock.wire import messages as wire
from penstock.wire.tokens import Claims, Token, make_token

AT_ONCE = 200  # clients that are on their way in: fewer than a controller lets wait
PATIENCE = 120.0  # seconds for anything that takes a few
VALID = 86_400.0  # seconds for which that holds
_LOOK = 0.005  # seconds between looks at who is to beat


class Crowd:
    """All clients of a load test: each is a job by itself, or all are members of one, on as many nodes."""

    def __init__(self, way: Transport, count: int, name: str, one_job: bool = False) -> None:
        self.way = way
        self.loop = asyncio.get_running_loop()
        jobs = [name] * count if one_job else [f"{name}-{number}" for number in range(count)]
        tokens = {job: _token(way.key, job, count if one_job else 1) if way.key else None for job in set(jobs)}
        numbers = range(1, count + 1) if one_job else [1] * count
        self.clients = [Client(self, job, tokens[job], number) for job, number in zip(jobs, numbers, strict=True)]
        self.lease, self.every = 8.0, 2.0  # as the controller says when it lets one in
        self.frames = 0  # sent
        self.waits: list[float] = []  # from Post to the first rate above 0
        self.down = False  # whether lost connections are expected
        self._outside: deque[Client] = deque()
        self._busy: deque[tuple[float, Client]] = deque()  # who is to beat when
        self._idle: deque[tuple[float, Client]] = deque()
        self._coming = 0
        self._news: asyncio.Future[None] = self.loop.create_future()
        self._failure: LoadTestFailed | None = None
        self._beating = self.loop.create_task(self._beat())

    def close(self) -> None:
        """Everybody goes home."""
        self._beating.cancel()
        for client in self.clients:
            client.leave()
            client.hang_up()

    # What clients tell.

    def came_in(self, client: Client) -> None:
        """A client is registered, or back with its operation."""
        self._coming -= 1
        self.spoke(client)
        self._next_in()

    def spoke(self, client: Client) -> None:
        """A client said something that counts as a beat; the next one is due later."""
        line, pause = (self._busy, self.every) if client.busy else (self._idle, wire.PING)
        client.due = self.loop.time() + pause
        line.append((client.due, client))

    def answered(self, seconds: float) -> None:
        """A client was granted a rate so long after it posted."""
        self.waits.append(seconds)
        self._tell()

    def lost(self, client: Client) -> None:
        """A connection has ended."""
        if not self.down:
            self.fail("the controller hung up on a client")

    def fail(self, text: str) -> None:
        """The test cannot go on."""
        if self._failure is None:
            self._failure = LoadTestFailed(text)
        self._tell()

    def _tell(self) -> None:
        if not self._news.done():
            self._news.set_result(None)

    # What the test has them do.

    async def bring_in(self, clients: Sequence[Client]) -> None:
        """Connect these clients, and wait until all are known to the controller."""
        self._outside.extend(clients)
        for _ in range(min(AT_ONCE, len(clients))):
            self._next_in()
        await self._until(lambda: not self._coming and not self._outside, "let all clients in")

    async def back(self, client: Client) -> None:
        """Wait until a client that has dialled by itself is known to the controller."""
        self._coming += 1
        await self._until(lambda: not self._coming, "let a client in again")

    async def post_all(self, clients: Sequence[Client], cap: float | None = None) -> None:
        """Have clients post, a few at a time, and wait until each has a rate above 0."""
        for start in range(0, len(clients), AT_ONCE):
            some = clients[start : start + AT_ONCE]
            for client in some:
                client.post(cap)
            await self._until(partial(_answered, some), "answered all clients")

    async def stream(self, clients: Sequence[Client], rate: float, seconds: float) -> int:
        """Let one client after the other end its operation and post the next, `rate` words a second; how many."""
        began, sent = time.perf_counter(), 0
        while (passed := time.perf_counter() - began) < seconds:
            while sent < passed * rate:
                client = clients[sent // 2 % len(clients)]
                if sent % 2:
                    client.post()
                else:
                    client.complete()
                sent += 1
            self.check()
            await asyncio.sleep(max(0.0, began + (sent + 1) / rate - time.perf_counter()))
        if sent % 2:
            clients[sent // 2 % len(clients)].post()
        await self._until(partial(_answered, clients), "answered all clients")
        return sent

    def check(self) -> None:
        """Raise what went wrong meanwhile."""
        if self._failure is not None:
            raise self._failure

    async def _until(self, true: Callable[[], bool], what: str) -> None:
        deadline = self.loop.time() + PATIENCE
        while not true():
            self.check()
            if self.loop.time() > deadline:
                raise LoadTestFailed(f"the controller has not {what} within {PATIENCE:g} s")
            self._news = self.loop.create_future()
            await asyncio.wait((self._news,), timeout=1.0)
        self.check()

    def _next_in(self) -> None:
        if not self._outside:
            self._tell()
            return
        self._coming += 1
        try:
            self._outside.popleft().dial()
        except OSError as error:
            self.fail(f"a client cannot connect to {self.way.place} ({(error.strerror or str(error)).lower()})")

    async def _beat(self) -> None:
        """Beats of all clients when they are due, which in each line they are in the order in which they spoke."""
        while True:
            now = self.loop.time()
            for line in (self._busy, self._idle):
                while line and line[0][0] <= now:
                    due, client = line.popleft()
                    if client.due == due:
                        client.beat()
            await asyncio.sleep(_LOOK)


def _token(key: bytes, job: str, nodes: int) -> Token:
    return make_token(key, Claims(job, os.getuid(), nodes, time.time() + VALID, KID))


def _answered(clients: Sequence[Client]) -> bool:
    return all(client.posted is None for client in clients)
