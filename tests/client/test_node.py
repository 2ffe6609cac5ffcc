"""Ranks of a node, as real processes: one announcement and one bucket for all, whoever of them dies."""

from __future__ import annotations

import copy
import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

import pytest

from client.controller import Controller, until
from penstock.client import io_phase, link, process
from penstock.client.bucket import boottime
from penstock.client.shared_bucket import SharedBucket
from penstock.wire.messages import Beat, Complete, Extend, Goodbye, Post, Register

PATIENCE = 60.0
EACH, CHUNK = 2_000_000, 50_000
GONE = -1.0


class Crew:
    """Ranks that talk through shared memory, with the few words of a communicator that are needed."""

    def __init__(self, context: Any, count: int) -> None:
        self.rank, self.count = 0, count
        self.meeting = context.Barrier(count, timeout=PATIENCE)
        self._numbers = context.Array("d", count, lock=False)
        self._text = context.Array("c", 4096, lock=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Crew) and other.meeting is self.meeting

    __hash__ = None

    def at(self, rank: int) -> Crew:
        mine = copy.copy(self)
        mine.rank = rank
        return mine

    def barrier(self) -> None:
        self.meeting.wait()

    def allreduce(self, value: float) -> float:
        self._numbers[self.rank] = value
        self.barrier()
        total = sum(self._numbers)
        self.barrier()
        return total

    def bcast(self, value: Any) -> Any:
        if self.rank == 0:
            self._text.value = value.encode()
        self.barrier()
        told: str = self._text.value.decode()
        self.barrier()
        return told


def prepare() -> None:
    """A rank begins: a forked one has the parent's environment, and nothing else of it; any has much patience."""
    logging.disable()
    link.CONNECT_LIMIT = link.HELLO_LIMIT = link.LEAVE_LIMIT = PATIENCE
    process.reset()


def write(crew: Crew, marks: Any, volumes: list[float], doomed: int = -1, enough: Any = None) -> None:
    """A rank: some phases, of which each moves as much as it says, or more until it is enough; one goes on for ever."""
    prepare()
    for volume in volumes:
        with io_phase(volume, node=crew) as phase:
            while phase.done < volume or crew.rank == doomed or (enough is not None and not enough.is_set()):
                phase.acquire(CHUNK)
                marks[crew.rank] = phase.done
    process.reset()
    os._exit(0)


class Node:
    """The processes of a crew."""

    def __init__(self, method: str, count: int, work: Callable[..., None], *args: Any) -> None:
        context: BaseContext = multiprocessing.get_context(method)
        self.crew = Crew(context, count)
        self.marks = context.Array("d", count, lock=False)
        self.ranks = [
            context.Process(target=work, args=(self.crew.at(rank), self.marks, *args), daemon=True)  # type: ignore[attr-defined]
            for rank in range(count)
        ]
        for rank in self.ranks:
            rank.start()

    def kill(self, rank: int) -> None:
        """Kill one that has begun to move."""
        until(lambda: self.marks[rank] > 0.0, PATIENCE)
        os.kill(self.ranks[rank].pid, signal.SIGKILL)
        self.ranks[rank].join(PATIENCE)

    def ended(self) -> list[int | None]:
        """The exit codes of all."""
        for rank in self.ranks:
            rank.join(PATIENCE)
            rank.kill()
        return [rank.exitcode for rank in self.ranks]


def of(controller: Controller, kind: type) -> list[Any]:
    return [word for word in controller.heard if isinstance(word, kind)]


def left_behind() -> list[Path]:
    return list(Path("/dev/shm").glob(f"penstock.{os.geteuid()}.{os.environ['PENSTOCK_JOB']}.*"))


@pytest.fixture(autouse=True)
def a_name_of_its_own(socket_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests run beside these, and have buckets, too."""
    monkeypatch.setenv("PENSTOCK_JOB", f"node-{os.getpid()}")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_one_announcement_and_one_rate_for_all_ranks(controller: Controller, method: str) -> None:
    controller.rate = 10e6
    began = boottime()
    node = Node(method, 3, write, [EACH, EACH / 2])
    assert node.ended() == [0, 0, 0]
    assert boottime() - began >= 0.95 * 4.5 * EACH / controller.rate
    assert [word.labels["bucket"] for word in of(controller, Register)] == ["shared"]
    assert [word.volume for word in of(controller, Post)] == [3 * EACH, 1.5 * EACH]
    controller.wait_for(Complete, 2)
    assert [word.done for word in of(controller, Complete)] == [3 * EACH, 1.5 * EACH]
    assert not left_behind()


def test_a_rank_that_is_killed_holds_nobody_up(controller: Controller) -> None:
    controller.rate = 10e6
    node = Node("fork", 3, write, [EACH], 2)
    node.kill(2)
    assert node.ended() == [0, 0, -signal.SIGKILL]
    controller.wait_for(Complete)
    done = of(controller, Complete)[0].done
    assert 2 * EACH + node.marks[2] <= done <= 2 * EACH + node.marks[2] + CHUNK
    assert not left_behind()


def test_the_others_go_on_at_the_fallback_when_the_first_rank_is_killed(controller: Controller) -> None:
    controller.rate, controller.fallback = 0.2e6, 4e6
    controller.lease, controller.beat = 1.0, 0.25
    node = Node("fork", 3, write, [EACH], 0)
    node.kill(0)
    killed, before = boottime(), node.marks[1] + node.marks[2]
    assert node.ended() == [-signal.SIGKILL, 0, 0]
    took, lease = boottime() - killed, (2 * EACH - before) / controller.rate
    assert (2 * EACH - before - controller.lease * controller.rate) / controller.fallback * 0.9 <= took
    assert took < lease or lease < controller.lease  # faster than at the rate that ran out
    assert len(of(controller, Post)) == 1
    assert not left_behind()


def test_ranks_that_move_more_than_they_said_announce_it(controller: Controller) -> None:
    controller.rate, controller.beat = 4e6, 0.1
    enough = multiprocessing.get_context("fork").Event()
    node = Node("fork", 2, write, [EACH / 4], -1, enough)
    try:
        controller.wait_for(Extend, 3)
    finally:
        enough.set()
    assert node.ended() == [0, 0]
    controller.wait_for(Complete)
    assert of(controller, Complete)[0].done == sum(node.marks) > EACH / 2
    announced = 0.0
    for word in controller.heard:
        if isinstance(word, Post | Extend):
            announced += word.volume if isinstance(word, Post) else word.more
        if isinstance(word, Beat):
            assert word.done <= announced


class Alone:
    """A node with one rank."""

    rank = 0

    def allreduce(self, value: float) -> float:
        return value

    def bcast(self, value: Any) -> Any:
        return value

    def barrier(self) -> None:
        pass


def test_without_a_controller_nobody_is_paced(socket_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_ADDRESS")
    with io_phase(1e15, node=Alone()) as phase:
        assert phase.acquire(1e15) == 0.0
        assert phase.rate is None
    assert not left_behind()


def test_phases_inside_belong_to_the_node(controller: Controller) -> None:
    crew = Alone()
    with io_phase(100, node=crew), io_phase(50) as inner, io_phase(7, node=crew):
        inner.acquire(157)
    controller.wait_for(Complete)
    assert [word.volume for word in of(controller, Post)] == [100]
    assert [word.more for word in of(controller, Extend)] == [50, 7]
    assert [word.done for word in of(controller, Complete)] == [157]


def test_a_node_inside_a_phase_of_its_own_announces_all_the_same(controller: Controller) -> None:
    with io_phase(100) as own:
        with io_phase(40, node=Alone()) as shared:
            shared.acquire(40)
        with io_phase(10) as again:
            again.acquire(10)
        own.acquire(100)
    controller.wait_for(Complete, 2)
    assert sorted(word.volume for word in of(controller, Post)) == [40, 100]
    assert sorted(word.done for word in of(controller, Complete)) == [40, 110]


def test_inside_a_run_the_bucket_is_that_of_the_run(
    controller: Controller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = SharedBucket.make(tmp_path / "bucket")
    monkeypatch.setenv("PENSTOCK_BUCKET", str(bucket.path))
    with io_phase(1000, node=Alone()) as phase:
        phase.acquire(1000)
    assert bucket.moved == 1000
    assert bucket.path.exists()
    assert not controller.heard


def test_ranks_without_shared_memory_pace_on_their_own(
    controller: Controller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("penstock.client.node_bucket.new_path", lambda name: Path("/nowhere") / name)
    with io_phase(1000, node=Alone()) as phase:
        phase.acquire(1000)
        assert phase.rate == controller.rate
    assert "no bucket in common" in caplog.text
    assert "bucket" not in of(controller, Register)[0].labels


def test_after_a_phase_its_bucket_goes_by_the_fallback(controller: Controller) -> None:
    """Ranks may be moving still when the first one has failed: what it was granted is not theirs any more."""
    controller.rate, controller.fallback = 40e6, 1e6
    crew = Alone()
    with io_phase(1000, node=crew) as phase:
        assert phase.rate == 40e6
    controller.wait_for(Complete)
    bucket = process.here().node(crew).bucket
    assert bucket is not None and (bucket.rate, bucket.granted) == (1e6, False)
    with io_phase(1000, node=crew) as phase:
        assert phase.rate == 40e6


def fail_or_write(crew: Crew, marks: Any, failing: int, quits: bool) -> None:
    """A rank that moves on when another has given up, after its first chunk; tells the rate it had at last.

    The one that gives up ends at once, or stays alive until all is over.
    """
    prepare()
    try:
        with io_phase(EACH, node=crew) as phase:
            while phase.done < EACH:
                phase.acquire(CHUNK)
                if crew.rank == failing:
                    raise RuntimeError("mine")
                while not marks[failing]:  # it does not wait for the others, or nobody would go on
                    time.sleep(0.01)
            marks[crew.rank] = phase.rate
    except RuntimeError:
        if quits:
            process.reset()
        marks[crew.rank] = GONE
    if not quits:
        crew.barrier()
    process.reset()
    os._exit(0)


@pytest.mark.parametrize("failing", [0, 1])
def test_the_phase_goes_on_without_a_rank_that_fails(controller: Controller, failing: int) -> None:
    """At the granted rate, not at the fallback, and the controller hears of its end when the last one is done."""
    controller.rate, controller.fallback = 10e6, 1e6
    node = Node("fork", 3, fail_or_write, failing, False)
    assert node.ended() == [0, 0, 0]
    controller.wait_for(Complete)
    assert [word.done for word in of(controller, Complete)] == [2 * EACH + CHUNK]
    assert list(node.marks) == [GONE if rank == failing else controller.rate for rank in range(3)]


def test_a_first_rank_that_quits_says_nothing_while_others_move(controller: Controller) -> None:
    controller.rate, controller.lease, controller.beat = 4e6, 1.0, 0.25
    node = Node("fork", 3, fail_or_write, 0, True)
    assert node.ended() == [0, 0, 0]
    assert of(controller, Post)
    assert not of(controller, Complete)
    assert not of(controller, Goodbye)


def test_leaving_a_phase_is_no_meeting(controller: Controller) -> None:
    class Counting(Alone):
        met = 0

        def barrier(self) -> None:
            self.met += 1

    crew = Counting()
    with io_phase(10, node=crew):
        before = crew.met
    assert crew.met == before
    controller.wait_for(Complete)
