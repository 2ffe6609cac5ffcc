"""What must not depend on the clock, what does not fit, and what a run tells of its buffer."""

from __future__ import annotations

import pytest

from penstock.model import Scenario
from penstock.policies.buffering import NAMES
from penstock.studies.buffers import buffer
from penstock.studies.sizing import PARTITIONS
from studies.sizing.plans import TOGETHER, app, document


def two_jobs(release: float) -> Scenario:
    burst, other = [("compute", 60.0), ("write", 40.0)] * 20, [("compute", 50.0), ("write", 50.0)] * 20
    late = {"bandwidth": 10.0, "release": release}
    return Scenario.from_document(document({"bandwidth": 2.0}, app("a", *burst, **late), app("b", *other, **late)))


@pytest.mark.parametrize("strategy", NAMES)
def test_a_late_clock_changes_nothing(strategy: str) -> None:
    early, late = (buffer(two_jobs(release), 30.0, strategy=strategy) for release in (0.0, 1.7e9))
    assert early.max_stretch > 1.05
    assert late.stretch == pytest.approx(early.stretch, rel=1e-6)


def with_shares(second: float, **shares: float) -> Scenario:
    jobs = [
        app(name, ("compute", 1.0), ("write", 12.0), bandwidth=4.0, release=at)
        for name, at in (("a", 0.0), ("b", second))
    ]
    platform = {**TOGETHER, "burst_buffer": {"capacity": 10.0, "shares": shares}}
    return Scenario.from_document(document(platform, *jobs))


def test_shares_of_the_scenario_count() -> None:
    assert buffer(with_shares(0.0, a=0.2, b=0.8), 10.0).shares == pytest.approx((2.0, 8.0))
    assert buffer(with_shares(0.0, a=0.3), 10.0, common=0.5).shares == pytest.approx((1.5, 0.0))
    assert buffer(with_shares(100.0, a=0.9, b=0.9), 10.0).shares == pytest.approx((9.0, 9.0))


def test_who_enters_first_has_its_part_and_the_next_what_is_left() -> None:
    """Both want 9 of 10 bytes. a writes at 4 until its 9 are full, b at 4 until its 1 is; then each at its share."""
    found = buffer(with_shares(0.0, a=0.9, b=0.9), 10.0)
    assert found.shares == pytest.approx((9.0, 9.0))
    assert found.peak == pytest.approx(10.0)
    # b: full after 1/(4 - 0.5) s, then 0.5 a second; a: 3.43 s at 4 less 0.5, 9 held, 10.71 written, then 0.5 a second.
    assert found.completion[0] == pytest.approx(1.0 + 18 / 7 + (12.0 - 4.0 * 18 / 7) / 0.5)


def test_parts_that_are_reused_never_take_more_than_there_is() -> None:
    jobs = [
        app(f"j{place}", ("write", 12.0), ("compute", 1.0), bandwidth=4.0, release=4.0 * place) for place in range(8)
    ]
    chain = Scenario.from_document(document({"bandwidth": 2.0}, *jobs))
    for partition in PARTITIONS:
        for strategy in NAMES:
            assert buffer(chain, 27.2, partition=partition, strategy=strategy).peak <= 27.2 * (1 + 1e-9)
