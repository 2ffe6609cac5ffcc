"""What must not depend on the clock, what does not fit, and what a run tells of its buffer."""

from __future__ import annotations

import pytest

from penstock.errors import PenstockError
from penstock.model import Scenario
from penstock.policies.buffering import NAMES
from penstock.studies.buffers import buffer
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


def test_shares_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(PenstockError, match=r"add up to 1\.8 for 'a', 'b', which run together"):
        buffer(with_shares(0.0, a=0.9, b=0.9), 10.0)


def test_parts_that_are_reused_can_be_too_much_and_the_peak_tells() -> None:
    jobs = [
        app(f"j{place}", ("write", 12.0), ("compute", 1.0), bandwidth=4.0, release=4.0 * place) for place in range(8)
    ]
    chain = Scenario.from_document(document({"bandwidth": 2.0}, *jobs))
    fenced, common = (
        buffer(chain, 27.2, partition=partition, strategy="earliest-burst") for partition in ("static", "dynamic")
    )
    assert fenced.peak > 27.2
    assert common.peak == pytest.approx(27.2)
    assert common.max_stretch >= common.bound_max_stretch
