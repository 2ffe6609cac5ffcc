from __future__ import annotations

import array
import io
import os
import threading
import time
from pathlib import Path

import pytest

from client.controller import PATIENCE, Controller, until
from client.costs import cost, yardstick
from penstock.client import begin, first_contact, io_phase, paced, process
from penstock.client import bucket as bucket_module
from penstock.client.bucket import Bucket, boottime, depth_of
from penstock.client.first_contact import LAST_RESORT
from penstock.client.notes import PendingAnnouncement
from penstock.client.operation import UNKNOWN
from penstock.client.phases import Phase
from penstock.client.shared_bucket import SharedBucket
from penstock.wire.messages import Complete, Extend, Post, Register

MIB = 1 << 20


@pytest.fixture
def alone(socket_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No controller and no address."""
    monkeypatch.delenv("PENSTOCK_ADDRESS")
    process.reset()


def completed(controller: Controller, number: int = 1) -> Complete:
    word = controller.wait_for(Complete, number)
    assert isinstance(word, Complete)
    return word


def waiting(phase: Phase) -> int:
    """How many threads wait in line."""
    operation = phase.operation()
    assert operation is not None and isinstance(operation.bucket, Bucket)
    return len(operation.bucket._waiters)


def posts(controller: Controller) -> list[float]:
    return [word.volume for word in controller.heard if isinstance(word, Post)]


def test_everything_works_without_a_controller(alone: None, tmp_path: Path) -> None:
    with io_phase("10GB") as phase, (tmp_path / "f").open("w+b") as file:
        assert phase.write(file, bytes(3 * MIB)) == 3 * MIB
        file.seek(0)
        assert phase.read(file) == bytes(3 * MIB)
        assert list(phase.pace([b"a", b"bc"])) == [b"a", b"bc"]
        assert (phase.rate, phase.waited, phase.done) == (None, 0.0, 6 * MIB + 3)
    assert not [thread for thread in threading.enumerate() if thread.name == "penstock-link"]


def test_a_phase_that_is_not_entered_lets_everything_pass(alone: None) -> None:
    assert io_phase(10).acquire(10) == 0.0


def test_writes_are_cut_into_slices(controller: Controller) -> None:
    controller.rate = 10e6  # slices of 200 kB
    sizes: list[int] = []

    class File(io.BytesIO):
        def write(self, data: object) -> int:
            sizes.append(len(data))  # type: ignore[arg-type]
            return super().write(data)  # type: ignore[arg-type]

    data = os.urandom(2_500_000)
    file = File()
    with io_phase(len(data)) as phase:
        start = boottime()
        phase.write(file, data)
        assert boottime() - start >= 0.99 * (len(data) - depth_of(10e6)) / 10e6
    assert file.getvalue() == data
    assert sizes == [200_000] * 12 + [100_000]


def test_a_raw_file_that_takes_less_is_asked_again(controller: Controller) -> None:
    class Stingy(io.RawIOBase):
        got = b""

        def write(self, data: object) -> int:
            self.got += bytes(data)[:7]  # type: ignore[call-overload]
            return min(7, len(data))  # type: ignore[arg-type]

    file = Stingy()
    with io_phase(100) as phase:
        assert phase.write(file, bytes(range(100))) == 100
    assert file.got == bytes(range(100))
    assert completed(controller).done == 100


def test_text_arrays_and_descriptors(controller: Controller, tmp_path: Path) -> None:
    with io_phase(100) as phase:
        text = io.StringIO()
        phase.write(text, "grüße" * 3)
        assert text.getvalue() == "grüße" * 3
        assert phase.done == 21
        fd = os.open(tmp_path / "raw", os.O_RDWR | os.O_CREAT)
        phase.write(fd, array.array("d", [1.0, 2.0]))
        os.lseek(fd, 0, os.SEEK_SET)
        assert phase.read(fd, 8) == array.array("d", [1.0]).tobytes()
        phase.write(fd, memoryview(bytes(range(10)))[::2])
        os.close(fd)
    assert (tmp_path / "raw").read_bytes()[8:13] == bytes([0, 2, 4, 6, 8])


def test_reading_past_the_end_is_paid_back(controller: Controller) -> None:
    with io_phase(10, direction="read") as phase:
        assert phase.read(io.BytesIO(b"0123456789")) == b"0123456789"
        assert phase.read(io.BytesIO(b"")) == b""
        assert phase.read(io.StringIO("abc"), 2) == "ab"
    assert completed(controller).done == 12


def test_a_job_may_say_when_it_begins(controller: Controller) -> None:
    begin()
    controller.wait_for(Register)
    assert posts(controller) == []
    with io_phase(10) as phase:
        assert phase.granted
    assert controller.count(Register) == 1


def test_a_job_that_begins_without_a_controller_does_not_notice(alone: None) -> None:
    begin()
    with io_phase(10) as phase:
        assert (phase.rate, phase.granted) == (None, False)


def test_phases_inside_a_phase_add_to_it(controller: Controller) -> None:
    with io_phase(100) as outer:
        outer.acquire(100)
        with io_phase(50) as inner:
            inner.acquire(50)
            assert inner.rate == outer.rate
        with io_phase() as unknown:
            unknown.acquire(1)
        outer.acquire(5)
    assert completed(controller).done == 156
    assert posts(controller) == [100]
    extended = [word.more for word in controller.heard if isinstance(word, Extend)]
    assert extended[0] == 50 and 6 <= sum(extended[1:]) <= 40
    assert controller.count(Complete) == 1


def test_the_inner_phase_may_end_last(controller: Controller) -> None:
    outer, inner = io_phase(100), io_phase(50)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__()
    inner.acquire(50)
    assert controller.count(Complete) == 0
    inner.__exit__()
    assert completed(controller).done == 50


@pytest.mark.parametrize("volume", [None, 0, "0"])
def test_an_unknown_volume_is_announced_with_the_first_byte(controller: Controller, volume: object) -> None:
    with io_phase(volume) as phase:
        assert not posts(controller)
        phase.acquire(10)
    assert completed(controller).done == 10
    assert posts(controller) == [UNKNOWN]


def test_nothing_is_announced_for_nothing(controller: Controller) -> None:
    with io_phase():
        pass
    with io_phase(5):
        pass
    completed(controller)
    assert posts(controller) == [5]


@pytest.mark.parametrize("volume", ["ten", -1, float("nan"), 1e30, object(), "10Gb", True])
def test_a_volume_that_is_none_is_said_and_not_raised(
    controller: Controller, volume: object, caplog: pytest.LogCaptureFixture
) -> None:
    with io_phase(volume) as phase:
        phase.acquire(10)
    assert completed(controller).done == 10
    assert "the volume of a phase is" in caplog.text


def test_odd_arguments_do_not_raise(controller: Controller, caplog: pytest.LogCaptureFixture) -> None:
    with io_phase(5, direction="sideways", targets="one") as phase:
        assert phase.acquire(0) == phase.acquire(-5) == phase.acquire(float("nan")) == 0.0
    assert "sideways" in caplog.text
    post = controller.wait_for(Post)
    assert isinstance(post, Post) and (post.direction, post.targets) == ("write", ("one",))


def test_threads_share_a_phase(controller: Controller) -> None:
    controller.rate, controller.beat = 0.0, 0.1
    with io_phase(4e6) as phase:
        threads = [threading.Thread(target=lambda: [phase.acquire(50_000) for _ in range(10)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        until(lambda: waiting(phase) == 8)
        time.sleep(0.1)
        start, controller.rate = boottime(), 20e6
        for thread in threads:
            thread.join()
        assert boottime() - start >= 0.99 * 4e6 / 20e6
        assert phase.waited > 8 * 0.1  # all of them together
    assert completed(controller).done == 4_000_000


def test_an_exception_in_the_phase_ends_it(controller: Controller) -> None:
    with pytest.raises(ZeroDivisionError), io_phase(100) as phase:
        phase.acquire(10)
        _ = 1 / 0
    assert completed(controller).done == 10


def test_whoever_waits_goes_on_when_the_phase_ends(controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_module, "LOOK_AGAIN", 2 * PATIENCE)  # nothing else wakes who waits
    controller.rate = 0.0
    phase = io_phase(100)
    phase.__enter__()
    waiter = threading.Thread(target=phase.acquire, args=(100,), daemon=True)
    waiter.start()
    until(lambda: waiting(phase))
    phase.__exit__()
    waiter.join(PATIENCE)
    assert not waiter.is_alive()


def test_decorated_functions_are_phases(controller: Controller) -> None:
    @paced(volume=len)
    def save(data: bytes) -> int:
        """Save."""
        with io_phase() as phase:
            phase.acquire(len(data))
        return len(data)

    assert save(b"12345") == 5
    assert save.__doc__ == "Save."
    assert completed(controller).done == 5
    assert posts(controller) == [5]


def test_ranks_pay_from_the_bucket_of_their_node(
    socket_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = SharedBucket.make(tmp_path / "segment")
    owner.set_rate(4e6)
    monkeypatch.setenv("PENSTOCK_BUCKET", str(tmp_path / "segment"))
    with Controller(socket_path) as controller:
        start = boottime()
        with io_phase(1e6) as phase:
            assert phase.rate == 4e6
            phase.acquire(1e6)
        assert boottime() - start >= 0.99 * (1e6 - depth_of(4e6)) / 4e6
        with io_phase(1e5) as phase:
            phase.acquire(1e4)
        assert owner.moved == 1.01e6
        assert not controller.heard


def test_a_bucket_of_the_node_that_cannot_be_used(
    controller: Controller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PENSTOCK_BUCKET", "/nowhere/at/all")
    with io_phase(10) as phase:
        phase.acquire(10)
    assert completed(controller).done == 10
    assert "bucket of this node" in caplog.text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PENSTOCK_ADDRESS", "nonsense"),
        ("PENSTOCK_NODES", "many"),
        ("PENSTOCK_CAP", "fast"),
        ("PENSTOCK_TIMEOUT", "soon"),
        ("PENSTOCK_FALLBACK", "0"),
    ],
)
def test_a_bad_environment_is_said_once_and_goes_at_the_rate_of_the_node(
    tmp_path: Path,
    controller: Controller,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    value: str,
) -> None:
    monkeypatch.setattr(first_contact, "FOLDER", tmp_path)
    monkeypatch.setenv(name, value)
    for _ in range(2):
        with io_phase(10) as phase:
            phase.acquire(10)
            assert phase.rate == LAST_RESORT
    assert len([line for line in caplog.records if name in line.getMessage()]) == 1


def test_targets_that_are_no_names_are_taken_as_all(controller: Controller, caplog: pytest.LogCaptureFixture) -> None:
    for wrong in (5, ("a", 5)):
        with io_phase(10, targets=wrong):  # type: ignore[arg-type]
            pass
    assert [word.targets for word in controller.heard if isinstance(word, Post)] == [(), ()]
    assert caplog.text.count("penstock: the targets of a phase are") == 2


def test_an_interrupt_while_it_waits_ends_the_phase(controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(asked: PendingAnnouncement) -> None:
        controller.wait_for(Post)
        raise KeyboardInterrupt

    monkeypatch.setattr(PendingAnnouncement, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        io_phase("1GB").__enter__()
    assert completed(controller).done == 0


@pytest.mark.timing
def test_a_paced_chunk_costs_at_most_two_microseconds(controller: Controller) -> None:
    controller.rate = 9e17
    with io_phase(9e17) as phase:
        each = cost(lambda: phase.acquire(1000))
    assert each <= max(2e-6, 8 * yardstick())  # the latter on a slow machine
