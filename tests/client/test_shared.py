from __future__ import annotations

import fcntl
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.controller import PATIENCE, until
from client.costs import cost, yardstick
from penstock.client import paying
from penstock.client.bucket import Gate, boottime, depth_of
from penstock.client.shared_bucket import SIZE, BadSegment, SharedBucket, new_path
from penstock.client.shim.library import NoLibrary, library


class Later:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["library", "lock"])
def paid_with(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How Python pays: both ways keep to the same rules."""
    if request.param == "lock":
        monkeypatch.setattr(paying, "_functions", lambda: None)
    else:
        try:
            library()
        except NoLibrary as reason:
            pytest.skip(str(reason))
    return str(request.param)


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paying, "_functions", lambda: None)


@pytest.fixture
def segment() -> Iterator[Path]:
    path = Path("/dev/shm") / f"penstock-test.{os.getpid()}"
    yield path
    path.unlink(missing_ok=True)


def virtual(path: Path, rate: float | None, *terms: float | None) -> tuple[SharedBucket, Later]:
    clock = Later()
    bucket = SharedBucket.make(path, clock)
    bucket.set_rate(rate, *terms)

    class VirtualGate(Gate):
        __slots__ = ()

        def sleep(self, seconds: float) -> None:
            clock.now += seconds

    bucket.gate = VirtualGate
    return bucket, clock


def test_the_rate_is_kept(segment: Path, paid_with: str) -> None:
    bucket, clock = virtual(segment, 1e6)
    for _ in range(100):
        bucket.acquire(65_536)
    assert clock.now - 100.0 == pytest.approx(6.5536, rel=1e-3)
    assert bucket.moved == bucket.admitted == 6_553_600


def test_it_saves_no_more_than_its_depth(segment: Path, paid_with: str) -> None:
    bucket, clock = virtual(segment, 1e6)
    clock.now += 1000.0
    assert bucket.acquire(depth_of(1e6)) == 0.0
    bucket.acquire(1e6)
    assert clock.now == pytest.approx(1101.0)


def test_a_lease_runs_out_to_the_fallback(segment: Path, paid_with: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket, clock = virtual(segment, 1e6, 100.5, 5e5)
    looks: list[float] = []
    monkeypatch.setattr(bucket.segment, "say_want", lambda: looks.append(clock.now))
    bucket.acquire(1e6)
    assert clock.now == pytest.approx(101.5)
    assert len(looks) < 30  # it sleeps in between
    assert bucket.rate == 5e5


def test_a_lease_without_a_fallback_runs_out_to_unpaced(segment: Path, paid_with: str) -> None:
    bucket, clock = virtual(segment, 0.0, 102.0)
    bucket.acquire(1e12)
    assert clock.now == pytest.approx(102.0)
    assert bucket.rate is None
    assert bucket.acquire(1e12) == 0.0


def test_unpaced_saves_nothing_for_later(segment: Path, paid_with: str) -> None:
    bucket, clock = virtual(segment, None)
    bucket.acquire(1e9)
    clock.now += 10.0
    bucket.set_rate(1e6)
    bucket.acquire(1e6)
    assert clock.now == pytest.approx(111.0)


def test_what_was_not_moved_is_paid_back(segment: Path, paid_with: str) -> None:
    bucket, clock = virtual(segment, 1e6)
    bucket.acquire(50_000)
    bucket.refund(50_000)
    at = clock.now
    bucket.acquire(50_000)
    assert clock.now == at
    assert bucket.moved == 50_000


def test_another_process_sees_the_rate_and_pays_from_the_same_bucket(segment: Path, paid_with: str) -> None:
    owner, clock = virtual(segment, 1e6)
    rank = SharedBucket(segment, clock)
    rank.gate = owner.gate
    owner.acquire(1e6)
    rank.acquire(1e6)
    assert clock.now == pytest.approx(102.0)
    owner.set_rate(2e6)
    assert rank.rate == 2e6
    assert owner.moved == 2e6


def test_a_closed_rank_leaves_the_others_paced(segment: Path, paid_with: str) -> None:
    owner, clock = virtual(segment, 1e6)
    rank = SharedBucket(segment, clock)
    rank.close()
    assert rank.acquire(1e9) == 0.0
    owner.acquire(1e6)
    assert clock.now == pytest.approx(101.0)


@pytest.mark.parametrize("content", [b"", b"x" * SIZE, b"penseg00" + bytes(SIZE - 8)])
def test_a_file_that_is_no_segment_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "segment"
    path.write_bytes(content)
    with pytest.raises(BadSegment, match="no bucket"):
        SharedBucket(path)


def test_a_link_is_not_followed(tmp_path: Path, segment: Path) -> None:
    SharedBucket.make(segment)
    (tmp_path / "link").symlink_to(segment)
    with pytest.raises(OSError):
        SharedBucket(tmp_path / "link")


def test_a_segment_is_private(segment: Path) -> None:
    SharedBucket.make(segment)
    assert segment.stat().st_mode & 0o777 == 0o600
    assert new_path("a/b").parent == Path("/dev/shm")
    assert new_path("a") != new_path("a")


def test_what_killed_processes_left_is_swept_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.client.shared_bucket.FOLDER", tmp_path)
    child = os.fork()
    if child == 0:
        SharedBucket.make(new_path("a.job"))
        SharedBucket.make(new_path("b.job")).segment.keep_alive(boottime())
        os._exit(0)
    os.waitpid(child, 0)
    mine = SharedBucket.make(new_path("a.job"))
    assert len(list(tmp_path.iterdir())) == 3  # their commands may go on
    killed = [path for path in tmp_path.iterdir() if path != mine.path]
    for path in killed:
        os.utime(path, (0, 0))
    new_path("a.job")
    assert len(list(tmp_path.iterdir())) == 2  # b.job lived a moment ago
    with monkeypatch.context() as patch:
        patch.setattr("penstock.client.shared_bucket.boottime", lambda: boottime() + 3601.0)
        new_path("a.job")
    other = tmp_path / "penstock.of-somebody-else"
    other.touch()
    assert set(tmp_path.iterdir()) == {mine.path, other}


def spend(path: Path) -> int:
    """A process that pays until it is killed."""
    child = os.fork()
    if child == 0:
        signal.alarm(int(4 * PATIENCE))
        bucket = SharedBucket(path)
        while True:
            bucket.acquire(65_536)
    return child


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_two_processes_share_and_one_that_is_killed_holds_nobody_up(segment: Path, paid_with: str) -> None:
    rate = 20e6
    owner = SharedBucket.make(segment)
    start = boottime()
    owner.set_rate(rate)
    doomed, other = spend(segment), spend(segment)
    until(lambda: owner.moved > rate)
    kill(doomed)
    before = owner.moved
    until(lambda: owner.moved > before + rate)
    kill(other)
    most = rate * (boottime() - start)
    assert 0.25 * most <= owner.moved <= most * (1.0 + 1e-6)  # a busy machine may not use all of it


def test_the_lock_of_a_process_that_dies_with_it_is_free(segment: Path, without_library: None) -> None:
    bucket = SharedBucket.make(segment)
    bucket.set_rate(1e9)
    child = os.fork()
    if child == 0:
        fcntl.flock(os.open(segment, os.O_RDWR), fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    done: list[float] = []
    thread = threading.Thread(target=lambda: done.append(bucket.acquire(1)), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert done


def test_a_forked_child_has_a_lock_of_its_own(segment: Path, without_library: None) -> None:
    bucket = SharedBucket.make(segment)
    bucket.set_rate(1e9)
    (here, there), (leave, let_go) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        fcntl.flock(bucket.segment.fd, fcntl.LOCK_EX)
        os.write(there, b"x")
        os.read(leave, 1)
        os._exit(0)
    os.read(here, 1)
    waiter = threading.Thread(target=bucket.acquire, args=(1,), daemon=True)
    waiter.start()
    waiter.join(0.2)
    held = waiter.is_alive()
    os.write(let_go, b"x")
    os.waitpid(child, 0)
    waiter.join(PATIENCE)
    assert held and not waiter.is_alive()


@pytest.mark.timing
def test_a_chunk_costs_little(segment: Path) -> None:
    """The bound leaves room for slow machines."""
    bucket = SharedBucket.make(segment)
    bucket.set_rate(1e17)
    assert cost(lambda: bucket.acquire(65_536), 2000) <= max(12e-6, 48 * yardstick())
