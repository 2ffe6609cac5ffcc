"""I/O phases for asyncio: the same, but nothing holds up the event loop.

async with io_phase("10GB") as phase:
    await phase.write(file, block)
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from penstock.client import phases


class AsyncPhase:
    """One I/O phase; tasks may share it."""

    def __init__(self, volume: object, direction: str, targets: Iterable[str]) -> None:
        self._phase = phases.Phase(volume, direction, targets)

    async def __aenter__(self) -> AsyncPhase:
        # The first phase of a process makes the link, which may have to look up a name.
        entering = asyncio.ensure_future(asyncio.to_thread(self._phase.enter))
        try:
            asked = await asyncio.shield(entering)
            if asked is not None and not asked.answered.is_set():
                await asyncio.to_thread(asked.wait)
        except BaseException:  # cancelled: nobody will call __aexit__, and the thread may be entering still
            entering.add_done_callback(lambda _: self._phase.exit())
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._phase.exit()

    @property
    def rate(self) -> float | None:
        """In force now, bytes/s; None: unpaced."""
        return self._phase.rate

    @property
    def waited(self) -> float:
        """Seconds, over all tasks."""
        return self._phase.waited

    @property
    def done(self) -> float:
        """Bytes let pass."""
        return self._phase.done

    async def acquire(self, amount: float) -> float:
        """Pay for so many bytes before they are moved; the seconds this took."""
        waited = await self._pay(amount)
        self._phase.settle()
        return waited

    async def _pay(self, amount: float) -> float:
        operation = self._phase.operation()
        if operation is None or not amount > 0:
            return 0.0
        loop, woken = asyncio.get_running_loop(), asyncio.Event()
        waiter = operation.bucket.enter(amount, lambda: _wake(loop, woken))
        try:
            while pause := operation.bucket.serve(waiter):
                woken.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken.wait(), pause)
        finally:
            waited = operation.bucket.leave(waiter)
        self._phase.waited += waited
        self._phase.done += amount
        return waited

    async def write(self, file: Any, data: Any) -> int:
        """Write all of `data`, to a stream, a file with coroutines, or a plain file in a thread."""
        self._phase.touches(file)
        content = data if isinstance(data, str) else phases.flat(data)
        for at in range(0, len(content), step := self._phase.slice):
            piece = content[at : at + step]
            await self.acquire(phases.size_of(piece))
            await _call(file, "write", piece)
            if hasattr(file, "drain"):
                await file.drain()
        return len(content)

    async def read(self, file: Any, amount: int = -1) -> Any:
        """Read so much, or all there is."""
        self._phase.touches(file)
        pieces: list[Any] = []
        while amount != 0:
            size = self._phase.slice if amount < 0 else min(self._phase.slice, amount)
            await self._pay(size)
            piece = await _call(file, "read", size)
            self._phase.refund(size - len(piece))
            self._phase.settle()
            if not piece:
                pieces = pieces or [piece]
                break
            pieces.append(piece)
            amount = amount if amount < 0 else amount - len(piece)
        return phases.together(pieces)


def io_phase(volume: object = None, direction: str = "write", targets: Iterable[str] = ()) -> AsyncPhase:
    """As `penstock.client.io_phase`, for `async with`."""
    return AsyncPhase(volume, direction, targets)


async def _call(file: Any, name: str, argument: Any) -> Any:
    method = getattr(file, name)
    if inspect.iscoroutinefunction(method):
        return await method(argument)
    if hasattr(file, "drain"):  # a StreamWriter takes it at once
        return method(argument)
    return await asyncio.to_thread(method, argument)


def _wake(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop has ended, and so has whoever waited
        loop.call_soon_threadsafe(event.set)
