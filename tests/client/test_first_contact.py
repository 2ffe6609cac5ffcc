"""A job that has not met the controller goes at the rate of its node, whatever the reason, and says so once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from client.controller import Controller, until
from penstock.client import config, first_contact, io_phase, process
from penstock.client.bucket import Bucket, depth_of
from penstock.client.config import Address, from_environment
from penstock.client.first_contact import LAST_RESORT, InCommon, common_bucket, leave_common
from penstock.client.shared_bucket import SharedBucket
from penstock.wire.messages import Error, frame
from penstock.wire.site import Site, beside, read_site, site_bytes

RATE = 3e6


def put(path: Path, first: str = "paced", **fallback: float) -> Path:
    path.write_bytes(site_bytes(Site(1, first, {"": RATE, **fallback})))
    path.chmod(0o644)
    return path


@pytest.fixture
def site(socket_path: Path) -> Path:
    return put(Path(beside(str(socket_path))))


def only_warning(caplog: pytest.LogCaptureFixture) -> str:
    (line,) = {record.getMessage() for record in caplog.records if record.levelname == "WARNING"}
    return line


def test_a_stopped_controller(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    with io_phase(1e5) as phase:
        phase.acquire(1000)
        assert phase.rate == RATE and not phase.granted
    assert only_warning(caplog).endswith(f"going on at the fallback rate, 3 MB/s (the rate of one node in {site})")


@pytest.mark.parametrize("code", ["auth", "forbidden", "version", "quota"])
def test_a_controller_that_does_not_let_it_in(
    site: Path, controller: Controller, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(link: socket.socket) -> bool:
        link.sendall(frame(Error(0, code, "the token has expired", fatal=True, retry_after=60.0)))
        return True

    controller.greeting = refuse
    with io_phase(1e5) as phase:
        phase.acquire(1000)
        assert phase.rate == RATE
    until(lambda: any("expired" in record.getMessage() for record in caplog.records))
    assert "the token has expired" in only_warning(caplog) and "3 MB/s" in only_warning(caplog)


def test_only_the_site_lets_it_go_unpaced(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(site, "open")
    with io_phase(1e5) as phase:
        assert phase.acquire(1e12) == 0.0
        assert phase.rate is None
    assert "going on unpaced, as" in only_warning(caplog)


def test_the_job_may_name_its_rate(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_FALLBACK", "1MB/s")
    assert from_environment().settings.fallbacks == {"": 1e6}


def test_another_file_of_the_site(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_SITE", str(put(tmp_path / "site.json", home=2e6)))
    assert from_environment().settings.fallbacks == {"": RATE, "home": 2e6}
    monkeypatch.setenv("PENSTOCK_ADDRESS", "tcp://nowhere.invalid:1")
    assert from_environment().settings.fallbacks == {"": RATE, "home": 2e6}


def test_without_any_word_it_is_the_last_resort(socket_path: Path) -> None:
    found = from_environment().settings
    assert found.fallbacks == {"": LAST_RESORT} and "last resort" in found.fallback_words


def test_a_stopped_controller_in_its_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its socket is gone; the file that it left says that there is one."""
    monkeypatch.setattr(config, "SYSTEM_SOCKET", tmp_path / "usual")
    assert from_environment({}).address is None
    put(Path(beside(str(tmp_path / "usual"))))
    found = from_environment({})
    assert found.address == Address(path=str(tmp_path / "usual")) and found.settings.fallbacks == {"": RATE}


@pytest.mark.parametrize(
    "content",
    [b"", b"x", b"[]", b'{"version":2,"first_contact":"paced","fallback":{"":1.0}}']
    + [site_bytes(Site(1, *each)) for each in (("paced", {}), ("paced", {"": -1.0}), ("wild", {"": 1.0}))],
)
def test_a_file_that_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "site").write_bytes(content)
    assert read_site(str(tmp_path / "site")) is None


def test_a_file_that_others_may_write_is_not_believed(tmp_path: Path) -> None:
    path = put(tmp_path / "site")
    assert read_site(str(path)) is not None
    path.chmod(0o666)
    assert read_site(str(path)) is None
    path.chmod(0o644)
    (tmp_path / "link").symlink_to(path)
    assert read_site(str(tmp_path / "link")) is None


def test_once_the_controller_has_named_a_rate_that_one_counts(
    site: Path, controller: Controller, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(first_contact, "FOLDER", tmp_path)
    with io_phase(1e5) as phase:
        phase.acquire(1000)
        controller.stop()
        link, _ = process.here().look()
        assert link is not None and not link.member.strange and link.member.fallback == controller.fallback
    assert not list(tmp_path.glob("penstock-first*"))


# What the environment says cannot be taken.


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PENSTOCK_ADDRESS", "nonsense"),
        ("PENSTOCK_NODES", "many"),
        ("PENSTOCK_CAP", "0"),
        ("PENSTOCK_FALLBACK", "fast"),
        ("PENSTOCK_TIMEOUT", "-1"),
    ],
)
def test_a_variable_that_cannot_be_taken_leaves_the_rate_of_the_node(
    tmp_path: Path,
    socket_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    value: str,
) -> None:
    monkeypatch.setattr(first_contact, "FOLDER", tmp_path)
    file = put(tmp_path / "site.json")
    monkeypatch.setenv("PENSTOCK_SITE", str(file))
    monkeypatch.setenv(name, value)
    with io_phase(1e5) as phase:
        phase.acquire(1000)
        assert phase.rate == RATE and not phase.granted
    said = only_warning(caplog)
    assert said.startswith(f"penstock: {name} is {value!r}; ")
    assert said.endswith(f"; going on at the fallback rate, 3 MB/s (the rate of one node in {file})")
    process.reset()
    assert not list(tmp_path.glob("penstock-first*"))


def test_where_nobody_paces_a_slip_paces_nobody(
    socket_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PENSTOCK_CAP", "0")
    monkeypatch.setenv("PENSTOCK", "off")
    with io_phase(1e12) as phase:
        assert phase.acquire(1e12) == 0.0 and phase.rate is None
    monkeypatch.delenv("PENSTOCK")
    monkeypatch.delenv("PENSTOCK_ADDRESS")
    process.reset()
    with io_phase(1e12) as phase:
        assert phase.acquire(1e12) == 0.0
    assert not caplog.records


def test_a_process_without_a_link(
    site: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_link(config: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(first_contact, "FOLDER", site.parent)
    monkeypatch.setattr(process, "Link", no_link)
    with io_phase(1e5) as phase:
        phase.acquire(1000)
        assert phase.rate == RATE
    assert "cannot reach the controller (Too many open files); going on at the fallback" in only_warning(caplog)


def test_a_bucket_that_is_not_there(
    site: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(first_contact, "FOLDER", tmp_path)
    monkeypatch.delenv("PENSTOCK_ADDRESS")
    monkeypatch.setenv("PENSTOCK_SITE", str(site))
    monkeypatch.setenv("PENSTOCK_BUCKET", str(tmp_path / "gone"))
    with io_phase(1e5) as phase:
        assert phase.rate == RATE
    assert "which cannot be used; going on at the fallback rate, 3 MB/s" in caplog.text


# Writers of one node share one rate.


def test_commands_of_one_node_share_one_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `penstock run` has a bucket of its own; until it has met the controller, all pay from one more."""
    monkeypatch.setattr(first_contact, "FOLDER", tmp_path)
    clock = Seconds()
    monkeypatch.setattr(first_contact, "SharedBucket", Timed(clock))
    buckets = [SharedBucket.make(tmp_path / f"run {number}", clock) for number in range(4)]
    for bucket in buckets:
        bucket.set_rate(RATE, fallback=RATE)
        bucket.set_common(tmp_path)
        bucket.common = InCommon()
    moved = drained(buckets, clock, 2.0)
    assert 0.9 * 2.0 * RATE <= moved <= 2.0 * RATE + 5 * depth_of(RATE)
    for bucket in buckets:
        bucket.set_common(None)
    assert drained(buckets, clock, 2.0) >= 0.9 * 8.0 * RATE  # each has met the controller, and goes by its own
    assert not list(tmp_path.glob("penstock-first*"))


class Timed:
    """Makes and opens buckets that go by this clock."""

    def __init__(self, clock: Seconds) -> None:
        self.clock = clock

    def __call__(self, path: Path) -> SharedBucket:
        return SharedBucket(path, self.clock)

    def make(self, path: Path) -> SharedBucket:
        return SharedBucket.make(path, self.clock)


def drained(buckets: list[SharedBucket], clock: Seconds, seconds: float) -> float:
    """What processes move that take as much as they may, 64 KiB at a time."""
    before = sum(bucket.admitted for bucket in buckets)
    claims = [bucket.enter(65_536.0, lambda: None) for bucket in buckets]
    for _ in range(int(seconds / 0.02)):
        clock.now += 0.02
        for number, bucket in enumerate(buckets):
            while not bucket.serve(claims[number]):
                claims[number] = bucket.enter(65_536.0, lambda: None)
    return sum(bucket.admitted for bucket in buckets) - before


class Seconds:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Writer:
    """Moves as much as it may, 64 KiB at a time."""

    def __init__(self, common: SharedBucket, rate: float, clock: Seconds) -> None:
        self.bucket = Bucket(rate, fallback=rate, clock=clock)
        self.bucket.common = common
        self._next()

    def _next(self) -> None:
        self.waiter = self.bucket.enter(65_536.0, lambda: None)

    def go(self) -> None:
        while not self.bucket.serve(self.waiter):
            self.bucket.leave(self.waiter)
            self._next()


@pytest.mark.parametrize("nodes", [100, 300, 1000])
def test_three_hundred_fresh_writers_stay_within_the_fallback_share(tmp_path: Path, nodes: int) -> None:
    capacity, phi, seconds, clock = 1e9, 0.5, 2.0, Seconds()
    rate = phi * capacity / nodes
    segments = [SharedBucket.make(tmp_path / str(number), clock) for number in range(min(nodes, 300))]
    for segment in segments:
        segment.set_rate(rate, fallback=rate)
    writers = [Writer(segments[number % len(segments)], rate, clock) for number in range(300)]
    for _ in range(int(seconds / 0.02)):
        clock.now += 0.02
        for writer in writers:
            writer.go()
    moved = sum(writer.bucket.admitted for writer in writers)
    for segment in segments:
        segment.close()
    assert moved <= phi * capacity * seconds + len(segments) * depth_of(rate)
    assert moved >= 0.8 * len(segments) * rate * seconds


WRITE = """
import pathlib, sys, time
from penstock.client import first_contact, io_phase
first_contact.FOLDER = pathlib.Path(sys.argv[1])
with io_phase(1e9) as phase:
    print("begun", flush=True)
    sys.stdin.readline()
    begin = time.monotonic()
    while time.monotonic() < begin + 1.0:
        phase.acquire(50_000)
    end = time.monotonic()
print(phase.done, begin, end)
"""


def test_processes_of_one_node_share_one_rate(site: Path) -> None:
    """In a folder of their own: on this node there may be processes of other tests, with another site's rate."""
    asked = [sys.executable, "-c", WRITE, str(site.parent)]
    jobs = [subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for job in jobs:
        assert job.stdout is not None and job.stdout.readline() == "begun\n"
    for job in jobs:
        assert job.stdin is not None
        job.stdin.write("\n")
        job.stdin.flush()
    moved, begun, ended = zip(*(map(float, job.communicate(timeout=30)[0].split()) for job in jobs), strict=True)
    seconds = max(ended) - min(begun)  # each begins and ends when the machine lets it
    assert 0.3 * RATE < sum(moved) < 1.05 * RATE * seconds + depth_of(RATE)


def test_the_last_to_leave_takes_it_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_contact, "FOLDER", tmp_path)
    one, two = common_bucket(5.0), common_bucket(7.0)
    assert one is not None and two is not None and one.path == two.path
    assert two.rate == 5.0
    leave_common(one)
    assert two.path.exists()
    leave_common(two)
    assert not list(tmp_path.iterdir())


def test_one_that_was_left_behind_goes_by_the_rate_of_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_contact, "FOLDER", tmp_path)
    SharedBucket.make(tmp_path / f"penstock-first.{os.geteuid()}.0").set_rate(5.0)
    found = common_bucket(7.0)
    assert found is not None and found.rate == 7.0
    leave_common(found)


def test_nobody_can_take_the_name_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_contact, "FOLDER", tmp_path)
    (tmp_path / f"penstock-first.{os.geteuid()}.0").symlink_to("/etc/passwd")
    bucket = common_bucket(5.0)
    assert bucket is not None and bucket.path.name.endswith(".1")
    leave_common(bucket)


def test_a_grant_ends_the_waiting_for_others(tmp_path: Path) -> None:
    clock = Seconds()
    slow = SharedBucket.make(tmp_path / "common", clock)
    slow.set_rate(1.0)
    bucket = Bucket(1e9, fallback=1e9, clock=clock)
    bucket.common = slow
    waiter = bucket.enter(65_536.0, lambda: None)
    clock.now += 1.0
    turns = count()
    assert bucket.serve(waiter) > 0.0 and next(turns) == 0
    bucket.set_rate(1e9, clock.now + 8.0, 1e9)
    clock.now += 1.0
    assert bucket.serve(waiter) == 0.0
