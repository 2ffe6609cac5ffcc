from __future__ import annotations

import itertools
import math
import os
import select
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client import lanes
from penstock.client import segment as module
from penstock.client.bucket import depth_of
from penstock.client.segment import (
    MOST_DEVICES,
    SIZE,
    BadSegment,
    Kind,
    Lane,
    Segment,
    State,
    bell_of,
    hear_bell,
    make_bell,
    segment_path,
)

MIB = 1 << 20


class Later:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Later:
    return Later()


@pytest.fixture
def segment(tmp_path: Path, clock: Later) -> Segment:
    return Segment.make(tmp_path / "segment", clock)


def test_a_new_one_is_unpaced_and_private(segment: Segment) -> None:
    assert math.isnan(segment.served()[1])
    assert segment.path.stat().st_mode & 0o777 == 0o600
    assert segment.path.stat().st_size == SIZE
    assert segment.state is State.NEW and segment.devices == () and segment.restart == 0
    assert segment.counts().moved == segment.counts().operations == 0


def test_what_is_served_grows_with_the_rate_then_with_the_fallback(segment: Segment, clock: Later) -> None:
    segment.set_rate(1e6, 102.0, 5e5)
    clock.now = 101.0
    assert segment.served() == (1e6, 1e6, depth_of(1e6))
    clock.now = 104.0
    assert segment.served() == (3e6, 5e5, depth_of(5e5))


def test_who_does_not_hear_from_its_owner_goes_by_the_fallback(segment: Segment, clock: Later) -> None:
    segment.set_rate(0.0, 108.0, 5e5)
    segment.keep_alive(103.0)
    clock.now = 102.9
    assert segment.served()[:2] == (0.0, 0.0)
    clock.now = 105.0
    assert segment.served()[:2] == (1e6, 5e5)


def test_an_owner_that_comes_back_takes_back_nothing(segment: Segment, clock: Later) -> None:
    segment.set_rate(0.0, 200.0, 5e5)
    segment.keep_alive(103.0)
    clock.now = 105.0
    segment.keep_alive(108.0)
    assert segment.served()[:2] == (depth_of(5e5), 0.0)  # nobody paid, so no more is saved up


def test_without_a_fallback_it_is_unpaced_in_the_end(segment: Segment, clock: Later) -> None:
    segment.set_rate(1e6)
    segment.keep_alive(103.0)
    clock.now = 103.0
    assert math.isnan(segment.served()[1])


def test_another_clock_paces_nobody(segment: Segment, clock: Later) -> None:
    segment.set_rate(0.0, fallback=0.0)
    clock.now -= 1.5
    assert math.isnan(segment.served()[1])


def test_a_new_rate_keeps_what_was_served_and_saves_no_more_than_before(segment: Segment, clock: Later) -> None:
    segment.set_rate(1e6)
    clock.now += 1000.0
    segment.set_rate(1e9)
    assert segment.lane().base == depth_of(1e6)
    assert segment.lane().rate == 1e9


def test_an_allowance_passes_and_no_more(segment: Segment, clock: Later) -> None:
    segment.set_allowance(4 * MIB, fallback=1e6)
    clock.now += 50.0
    served, rate, depth = segment.served()
    assert (served - segment.promised(), rate, depth) == (4 * MIB, 0.0, 4 * MIB)


def test_lanes_are_apart(segment: Segment) -> None:
    segment.set_rate(1e6)
    segment.set_rate(100.0, kind=Kind.OPERATIONS)
    assert segment.lane().rate == 1e6
    assert segment.lane(Kind.OPERATIONS).rate == 100.0
    assert segment.lane(Kind.OPERATIONS).depth == 16.0


def test_an_owner_killed_while_it_writes_leaves_the_old_rate(segment: Segment) -> None:
    segment.set_rate(1e6, 500.0, 1e5)
    before, reader = segment.lane(), Segment(segment.path)
    slots = module._SLOTS
    segment.words[slots : slots + 8] = lanes.slot_of(2, before._replace(rate=7.0))  # written, not yet in force
    assert reader.lane() == before
    segment.words[slots + 3] = 12345  # half of the next one
    assert reader.lane() == before


def test_half_of_a_lane_is_not_taken(segment: Segment) -> None:
    """Words may arrive in any order on another processor: the check tells, and the reader looks again."""
    segment.set_rate(1e6, fallback=1e5)
    whole, reader = segment.lane(), Segment(segment.path)
    start = module._SLOTS + 8
    right = segment.words[start + 2]
    segment.words[start + 2] = 0

    looked: list[int] = []
    plain = lanes.exclusive_or

    def look(words: list[int]) -> int:
        looked.append(plain(words))
        if len(looked) == 3:
            segment.words[start + 2] = right
        return looked[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "exclusive_or", look)
        assert reader.lane() == whole
    assert [bool(check) for check in looked] == [True, True, True, False]


def test_damage_is_refused_by_readers_and_does_not_bother_the_owner(segment: Segment, clock: Later) -> None:
    segment.set_rate(1e6, fallback=1e5)
    segment.words[8:64] = memoryview(bytes(range(1, 57)) * 8).cast("Q")
    with pytest.raises(BadSegment, match="damaged"):
        Segment(segment.path).lane()
    clock.now += 1.0
    segment.set_rate(2e6, fallback=1e5)
    assert Segment(segment.path).lane() == segment.lane()
    assert segment.lane().rate == 2e6


rates = st.none() | st.floats(0.0, 1e12)


@given(rates, st.floats(100.0, 1e6) | st.just(math.inf), rates, st.sampled_from(Kind))
def test_what_is_written_is_read(rate: float | None, expiry: float, fallback: float | None, kind: Kind) -> None:
    segment = Segment.make(Path("/dev/shm") / f"penstock-test.{os.getpid()}", Later())
    try:
        segment.set_rate(rate, expiry, fallback, kind)
        lane = segment.lane(kind)
    finally:
        segment.remove()
        segment.close()
    assert lane.expiry == pytest.approx(expiry, abs=1e-6)
    for told, read in ((rate, lane.rate), (fallback, lane.fallback)):
        assert math.isnan(read) if told is None else read == told


@given(
    st.floats(0.0, 1e9),
    st.floats(0.0, 1e9),
    st.lists(st.floats(99.5, 200.0), min_size=2, max_size=20),
    st.floats(90.0, 200.0),
    st.floats(90.0, 200.0),
)
def test_what_is_served_never_falls(
    rate: float, fallback: float, times: list[float], expiry: float, alive: float
) -> None:
    lane = Lane(5.0, rate, 100.0, expiry, fallback, depth_of(rate))
    served = [lane.served(t, alive)[0] for t in sorted(times)]
    assert served[0] >= 5.0
    assert all(later >= earlier - 1e-3 for earlier, later in itertools.pairwise(served))


def test_devices_are_a_list_or_all(segment: Segment) -> None:
    segment.set_devices([5, 7, 5])
    assert segment.devices == (5, 7)
    segment.set_devices(range(MOST_DEVICES + 1))
    assert segment.devices == ()


def test_the_common_segment_is_named(segment: Segment) -> None:
    segment.set_common(Path("/dev/shm/penstock-first.1"))
    assert segment.strange
    assert bytes(segment.memory[768:960]).rstrip(b"\0") == b"/dev/shm/penstock-first.1"
    segment.set_common(None)
    assert not segment.strange


def test_one_process_sees_what_another_wrote(segment: Segment, clock: Later) -> None:
    other = Segment(segment.path, clock)
    segment.set_rate(3e6)
    segment.set_state(State.PACED)
    assert other.lane().rate == 3e6 and other.state is State.PACED


def test_it_replaces_what_was_left_behind_and_follows_no_link(tmp_path: Path, clock: Later) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "segment").symlink_to(victim)
    Segment.make(tmp_path / "segment", clock, restart=3)
    assert victim.read_text() == "mine" and not (tmp_path / "segment").is_symlink()
    assert Segment(tmp_path / "segment").restart == 3
    (tmp_path / "link").symlink_to(tmp_path / "segment")
    with pytest.raises(OSError):
        Segment(tmp_path / "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "segment", "victim"]


@pytest.mark.parametrize("content", [b"", b"x" * SIZE, b"penseg00" + bytes(SIZE - 8)])
def test_a_file_that_is_no_segment_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "segment").write_bytes(content)
    with pytest.raises(BadSegment, match="no bucket"):
        Segment(tmp_path / "segment")


def test_names_tell_jobs_runs_and_users_apart() -> None:
    named = {segment_path(job, restart, uid) for job in ("1", "2") for restart in (0, 1) for uid in (1, 2)}
    assert len(named) == 8
    assert segment_path("a/../b").parent == Path("/dev/shm")


def test_a_bell_wakes_whoever_sleeps_on_it(segment: Segment) -> None:
    fd = make_bell(segment.path)
    try:
        assert select.select([fd], [], [], 0)[0] == []
        segment.words[module._BELL] = 1
        with open(os.open(bell_of(segment.path), os.O_WRONLY | os.O_NONBLOCK), "wb") as bell:
            bell.write(b"!")
        assert select.select([fd], [], [], 0)[0] == [fd]
        hear_bell(fd)
        assert segment.answer() and not segment.answer()
        assert select.select([fd], [], [], 0)[0] == []
        assert bell_of(segment.path).stat().st_mode & 0o777 == 0o600
    finally:
        os.close(fd)
    segment.remove()
    assert not bell_of(segment.path).exists()


def test_who_waits_says_so(segment: Segment, clock: Later) -> None:
    assert not segment.waiting()
    segment.words[module._WANT] = round((clock.now - 0.02) * 1e9)
    assert segment.waiting()
    clock.now += 1.0
    assert not segment.waiting()
