"""Jobs that come and go behind a buffer, by hand: leads, parts that wait, walltimes, wear, a slow port."""

from __future__ import annotations

import math

import pytest

from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.studies.buffers import buffer
from penstock.studies.buffers.needs import ENOUGH, needs_of
from penstock.studies.buffers.split import split
from penstock.studies.sizing import size_buffer
from studies.sizing.plans import ONE_EACH, app, document


def scenario(*jobs: dict[str, object], **buffered: object) -> Scenario:
    platform: dict[str, object] = {**ONE_EACH}
    if buffered:
        platform["burst_buffer"] = {"capacity": 1.0, **buffered}
    return Scenario.from_document(document(platform, *jobs))


LATE_READER = app("late", ("read", 4.0), ("compute", 1.0), bandwidth=2.0, release=10.0)
WRITER = app("first", ("write", 6.0), ("compute", 1.0), bandwidth=4.0)


def test_nothing_is_fetched_for_a_job_that_is_not_there() -> None:
    jobs = scenario(WRITER, LATE_READER, shares={"first": 1.0, "late": 1.0})
    free, ahead = buffer(jobs, 4.0, timeline=True), buffer(jobs, 4.0, lead=math.inf, timeline=True)
    assert free.lead == 0.0 and free.filling is not None and ahead.filling is not None
    assert free.filling.input[free.filling.time < 10.0].max() == 0.0
    assert free.completion[1] == pytest.approx(15.0)  # 4 bytes at 1 a second
    assert ahead.completion[1] == pytest.approx(13.0)  # all of it is there: 2 a second
    # With a lead of 2 s, 2 bytes are there; 2 a second are read while 1 comes, so for 2 s, and all is done.
    assert buffer(jobs, 4.0, lead=2.0).completion[1] == pytest.approx(13.0)
    assert buffer(jobs, 4.0, lead=1.0).completion[1] == pytest.approx(14.0)


def test_released_at_the_beginning_everything_is_as_before() -> None:
    jobs = scenario(WRITER, app("b", ("compute", 3.0), ("read", 4.0), bandwidth=2.0))
    assert buffer(jobs, 3.0).lead == math.inf
    assert buffer(jobs, 3.0).completion == buffer(jobs, 3.0, lead=math.inf).completion


def test_without_any_lead_a_burst_of_reads_is_late_whatever_the_size() -> None:
    jobs = scenario(WRITER, LATE_READER)
    for partition in ("static", "dynamic", "isolated"):
        found = size_buffer(jobs, partition)
        assert math.isnan(found.size) and found.shares is None and found.infeasible is not None
        assert found.infeasible.application == "late" and 10.0 < found.infeasible.instant <= 12.0
        assert found.infeasible.stretch == pytest.approx(5.0 / 3.0)  # 4 s for what takes 2, and 1 of compute
        record = found.to_dict()
        assert record["size"] is None and record["infeasible"]["application"] == "late"
    divided = split(jobs)
    assert divided.infeasible is not None and divided.size == size_buffer(jobs, lead=math.inf).size > 0.0
    # From 2 s before its release on it fetches 2, and 2 more while it reads: enough.
    assert size_buffer(jobs, lead=2.0).size == pytest.approx(size_buffer(jobs, lead=math.inf).size)


def test_the_least_stretch_is_reached_with_plenty() -> None:
    jobs = scenario(LATE_READER, app("other", ("read", 3.0), bandwidth=3.0, release=10.5))
    found = size_buffer(jobs, "dynamic").infeasible
    assert found is not None
    best = min(
        buffer(jobs, 100.0, partition="dynamic", strategy=name).max_stretch
        for name in ("fair", "blocked-first", "earliest-burst")
    )
    assert 1.0 < found.stretch <= best * (1 + 1e-9)


def test_a_job_waits_for_its_part() -> None:
    """The first holds 4 of 4 bytes at its end and drains 1 a second; the second starts when its 3 are free."""
    jobs = scenario(
        app("first", ("write", 8.0), bandwidth=2.0),
        app("second", ("compute", 1.0), bandwidth=2.0, release=1.0),
        app("third", ("compute", 1.0), bandwidth=2.0, release=2.0),
        shares={"first": 1.0, "second": 0.75, "third": 0.0},
    )
    found = buffer(jobs, 4.0, admit="wait")
    # first: 2 a second until 4 are held (4 s), all written then; 3 of them are gone 3 s later.
    assert found.completion == pytest.approx((4.0, 8.0, 8.0))
    assert found.stretch == pytest.approx((1.0, 7.0, 6.0))
    assert found.node_hours_lost == pytest.approx((0.0 + 6.0 + 5.0) / 3600)
    assert buffer(jobs, 4.0).completion == pytest.approx((4.0, 2.0, 3.0))


def test_nobody_waits_for_a_part_that_nobody_has() -> None:
    with pytest.raises(InvalidOption, match="with partition dynamic nobody has one"):
        buffer(scenario(WRITER), 4.0, partition="dynamic", admit="wait")
    with pytest.raises(InvalidOption, match="admit is 'later'; accepted: now, wait"):
        buffer(scenario(WRITER), 4.0, admit="later")


def test_a_part_grows_with_what_those_that_ended_drain() -> None:
    """Nothing is left for the second when it enters, and the first is full 0.75/3.5 s later, with 1/7 to go at 0.5."""
    jobs = scenario(
        app("first", ("write", 5.0), bandwidth=4.0),
        app("second", ("write", 9.0), bandwidth=3.0, release=1.0),
        shares={"first": 1.0, "second": 1.0},
    )
    found = buffer(jobs, 3.75, timeline=True)
    assert found.peak == pytest.approx(3.75)
    assert found.completion[0] == pytest.approx(1.5)
    # It has written 0.25. From 1.5 on each drains 0.5, and what the first drains of its 3.75 is the second's at once.
    assert found.completion[1] == pytest.approx(1.5 + 7.5 + (9.0 - 0.25 - 7.5))


def test_what_goes_through_wears_the_drives() -> None:
    jobs = scenario(app("a", ("compute", 1.0), ("write", 12.0), bandwidth=4.0))
    found = buffer(jobs, 9.0)
    assert found.through_buffer == pytest.approx(12.0)
    assert found.drive_writes_per_day == pytest.approx(12.0 / 9.0 / (13.0 / 86400))
    none = buffer(jobs, 0.0)
    assert none.through_buffer == 0.0 and none.drive_writes_per_day is None


def test_a_walltime_cuts_off() -> None:
    jobs = scenario(app("a", ("compute", 2.0), ("write", 12.0), bandwidth=4.0, nodes=3, walltime=4.0), LATE_READER)
    found = buffer(jobs, 3.0, strategy="fair")
    assert found.cut == (True, False) and math.isnan(found.completion[0])
    assert found.to_dict()["completion"]["a"] is None and found.unfinished == 1
    assert found.worst == "late"
    assert found.node_hours_lost == pytest.approx((3 * 4.0 + 5.0 - 3.0) / 3600)


def test_a_slow_node_slows_the_whole_job() -> None:
    even, skewed = (
        buffer(scenario(app("a", ("write", 12.0), bandwidth=4.0, node_skew=skew)), 12.0) for skew in (1.0, 2.0)
    )
    assert skewed.completion[0] == pytest.approx(2 * even.completion[0])


def test_the_stretch_of_p5_counts_from_time_zero() -> None:
    found = buffer(scenario(LATE_READER), 0.0)
    assert found.stretch == pytest.approx((5.0 / 3.0,))
    assert found.stretch_p5 == pytest.approx((15.0 / 13.0,)) and found.max_stretch_p5 == found.stretch_p5[0]


def test_a_slow_port_holds_writers_up() -> None:
    """Into the buffer and out of it share 2: while 1 drains, 1 is written, as without a buffer."""
    job = app("a", ("write", 12.0), bandwidth=4.0)
    assert buffer(scenario(job, shares={"a": 1.0}, bandwidth=2.0), 100.0).completion == pytest.approx((12.0,))
    assert buffer(scenario(job, shares={"a": 1.0}, bandwidth=5.0), 100.0).completion == pytest.approx((3.0,))


def test_what_other_strategies_need() -> None:
    phases = [("compute", 3.0), ("write", 6.0), ("compute", 5.0), ("write", 3.0)]
    jobs = scenario(*(app(name, *phases, bandwidth=4.0) for name in "abc"), app("d", ("write", 2.0), bandwidth=4.0))
    sizing = size_buffer(jobs)
    for need in needs_of(jobs, sizing):
        assert need.size is not None and need.size >= sizing.size
        steps = round(math.log(need.size / sizing.size) / math.log(1.01))
        assert need.size == pytest.approx(sizing.size * 1.01**steps)
        assert buffer(jobs, need.size, strategy=need.strategy).max_stretch <= ENOUGH * (1 + 1e-9)
        below = [buffer(jobs, sizing.size * 1.01**step, strategy=need.strategy).max_stretch for step in range(steps)]
        assert not need.monotone or all(stretch > ENOUGH for stretch in below)


@pytest.mark.parametrize(
    ("strategy", "capacity", "ends", "end"),
    [
        ("fair", 0.0, (16.0, 16.0), 16.0),  # both move, and leave half
        ("earliest-burst", 0.0, (4.0, 8.0), 8.0),  # one after the other: nobody is in the way
        ("fair", 8.0, (4.0, 4.0), 16.0),  # the buffer takes it all; draining together takes as long
    ],
)
def test_who_drains_at_once_leaves_less(strategy: str, capacity: float, ends: tuple[float, ...], end: float) -> None:
    jobs = [app(name, ("write", 4.0), bandwidth=1.0) for name in ("a", "b")]
    disturbed = Scenario.from_document(document(ONE_EACH | {"interference": [1.0, 0.5]}, *jobs))
    result = buffer(disturbed, capacity, partition="dynamic", strategy=strategy)
    assert (result.completion, result.end) == (ends, end)
