from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest

from client.controller import PATIENCE, Controller
from penstock.client import bucket as bucket_module
from penstock.client.aio import AsyncPhase, io_phase
from penstock.client.bucket import Bucket, boottime
from penstock.client.first_contact import LAST_RESORT
from penstock.wire.messages import Complete, Post


def done(controller: Controller) -> float:
    word = controller.wait_for(Complete)
    assert isinstance(word, Complete)
    return word.done


async def in_line(phase: AsyncPhase, count: int) -> None:
    """Wait until so many tasks do."""
    operation = phase._phase.operation()
    assert operation is not None and isinstance(operation.bucket, Bucket)
    async with asyncio.timeout(PATIENCE):
        while len(operation.bucket._waiters) < count:
            await asyncio.sleep(0.005)


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
    controller.rate, controller.beat = 0.0, 0.1

    async def job() -> tuple[list[int], float, float]:
        order: list[int] = []
        async with io_phase("300kB") as phase:

            async def pay(i: int) -> None:
                await phase.acquire(100_000)
                order.append(i)

            paying = asyncio.gather(*(pay(i) for i in range(3)))
            await in_line(phase, 3)
            assert order == []
            start, controller.rate = boottime(), 1e6
            await paying
            return order, boottime() - start, phase.waited

    order, seconds, waited = asyncio.run(job())
    assert order == [0, 1, 2]
    assert seconds >= 0.99 * 0.3
    assert waited >= 0.99 * (0.1 + 0.2 + 0.3)


def test_a_cancelled_task_leaves_the_line(controller: Controller) -> None:
    controller.rate = 0.0
    controller.beat = 0.1

    async def job() -> None:
        async with io_phase(100) as phase:
            blocked = asyncio.create_task(phase.acquire(100))
            await in_line(phase, 1)
            blocked.cancel()
            controller.rate = 1e9
            await asyncio.wait_for(phase.acquire(50), PATIENCE)

    asyncio.run(job())
    assert done(controller) == 50


def test_a_raise_is_heard(controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_module, "LOOK_AGAIN", 2 * PATIENCE)  # nothing else wakes who waits
    controller.rate, controller.beat = 0.0, 0.1

    async def job() -> None:
        async with io_phase(100) as phase:
            paying = asyncio.create_task(phase.acquire(100))
            await in_line(phase, 1)
            controller.rate = 1e9
            await asyncio.wait_for(paying, PATIENCE)

    asyncio.run(job())


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
            await phase.acquire(1e3)
            return phase.rate

    assert asyncio.run(job()) == LAST_RESORT


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
