from __future__ import annotations

import asyncio
import io
import threading
import time
from pathlib import Path

from client.controller import Controller
from penstock.client.aio import io_phase
from penstock.client.bucket import boottime
from penstock.live.wire import Complete, Post


def done(controller: Controller) -> float:
    word = controller.wait_for(Complete)
    assert isinstance(word, Complete)
    return word.done


def test_plain_files(controller: Controller, tmp_path: Path) -> None:
    async def job() -> None:
        async with io_phase("1MB") as phase:
            assert phase.rate == 1e9
            with (tmp_path / "f").open("w+b") as file:
                assert await phase.write(file, bytes(500_000)) == 500_000
                file.seek(0)
                assert await phase.read(file) == bytes(500_000)
                file.seek(0)
                assert await phase.read(file, 10) == bytes(10)

    asyncio.run(job())
    assert done(controller) == 1_000_010


def test_tasks_are_paced_in_turn_and_the_loop_runs_on(controller: Controller) -> None:
    controller.rate = 1e6

    async def job() -> tuple[list[int], int, float]:
        order: list[int] = []
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticker = asyncio.create_task(tick())
        async with io_phase("300kB") as phase:

            async def pay(i: int) -> None:
                await phase.acquire(100_000)
                order.append(i)

            await asyncio.gather(*(pay(i) for i in range(3)))
            waited = phase.waited
        ticker.cancel()
        return order, ticks, waited

    start = boottime()
    order, ticks, waited = asyncio.run(job())
    assert 0.28 < boottime() - start < 3.0
    assert order == [0, 1, 2]
    assert ticks >= 10
    assert waited > 0.5


def test_a_cancelled_task_leaves_the_line(controller: Controller) -> None:
    controller.rate = 0.0
    controller.beat = 0.1

    async def job() -> None:
        async with io_phase(100) as phase:
            blocked = asyncio.create_task(phase.acquire(100))
            await asyncio.sleep(0.05)
            blocked.cancel()
            controller.rate = 1e9
            await asyncio.wait_for(phase.acquire(50), 3.0)

    asyncio.run(job())
    assert done(controller) == 50


def test_a_raise_is_heard(controller: Controller) -> None:
    controller.rate, controller.beat = 0.0, 0.1
    threading.Timer(0.3, lambda: setattr(controller, "rate", 1e9)).start()

    async def job() -> float:
        async with io_phase(100) as phase:
            start = time.monotonic()
            await phase.acquire(100)
            return time.monotonic() - start

    assert 0.1 < asyncio.run(job()) < 0.9


def test_streams_and_files_with_coroutines(controller: Controller) -> None:
    class Async(io.BytesIO):
        async def write(self, data: bytes) -> int:  # type: ignore[override]
            await asyncio.sleep(0)
            return super().write(data)

    class Stream:
        sent, drained = b"", 0

        def write(self, data: bytes) -> None:
            self.sent += data

        async def drain(self) -> None:
            self.drained += 1

    async def job() -> tuple[bytes, bytes, int]:
        file, stream = Async(), Stream()
        async with io_phase(20) as phase:
            await phase.write(file, b"0123456789")
            await phase.write(stream, b"0123456789")
        return file.getvalue(), stream.sent, stream.drained

    assert asyncio.run(job()) == (b"0123456789", b"0123456789", 1)


def test_without_a_controller(socket_path: Path) -> None:
    async def job() -> float | None:
        async with io_phase(20) as phase:
            await phase.acquire(1e12)
            return phase.rate

    assert asyncio.run(job()) is None


def test_cancelled_while_it_waits_it_holds_nothing(controller: Controller) -> None:
    controller.rate = None

    async def job() -> None:
        entering = asyncio.create_task(io_phase("1GB").__aenter__())
        await asyncio.to_thread(controller.wait_for, Post)
        entering.cancel()
        await asyncio.wait([entering])
        assert entering.cancelled()

    asyncio.run(job())
    assert done(controller) == 0
