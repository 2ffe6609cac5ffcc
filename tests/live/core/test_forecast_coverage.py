"""A small slice of `scripts/measure/forecasts.py`: what happens lies in the range that was told."""

from __future__ import annotations

import pytest

from scripts.measure.forecasts import coverage


@pytest.mark.parametrize("policy", ["fair-share", "fcfs", "greedy-yield"])
def test_where_its_assumptions_hold_every_end_is_in_its_range(policy: str) -> None:
    found = coverage(policy, "closed", 1)
    assert set(found) == {"good"} and found["good"].ends >= 30
    assert found["good"].inside == found["good"].ends


def test_where_jobs_come_back_nobody_is_told_that_it_is_fairly_sure_and_nearly_all_ends_are_in_range() -> None:
    found = coverage("fcfs", "open", 1)
    assert found["rough"].share > 0.9 and found["rough"].ends > 100
    assert "good" not in found or found["good"].ends < 0.1 * found["rough"].ends
