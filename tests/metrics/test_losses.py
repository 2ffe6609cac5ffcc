"""What is lost while jobs are there, by hand (models §8)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from penstock import Scenario, simulate
from strategies import documents, sites


def two_jobs(**late: Any) -> Scenario:
    """Alone each needs 1 h of compute and 1 h of I/O; b comes an hour later and finds a writing until 2 h."""
    phases = [{"compute": "1 h"}, {"write": 3600}]
    second = {"name": "b", "nodes": 3, "release": "1 h", "phases": [{"write": 3600}, {"compute": "1 h"}], **late}
    jobs = [{"name": "a", "nodes": 10, "phases": phases}, second]
    return Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": jobs})


def test_two_jobs_one_late() -> None:
    found = simulate(two_jobs(), "fcfs")  # b waits for an hour
    assert (found.node_hours_lost, found.node_hours_used) == pytest.approx((3, 10 * 2 + 3 * 3))
    assert (found.lost_share, found.worst) == (pytest.approx(3 / 29), "b")
    assert found.mean_yield == pytest.approx((20 * 1 + 9 * 2 / 3) / 29)
    assert found.p95_stretch == pytest.approx(1 + 0.95 * 0.5)
    assert found.unfinished == 0
    # The old measure: b counts as idle in the hour before it came and in the two after a.
    assert found.efficiency == pytest.approx((10 * 2 + 3 * 2) / (13 * 4))


def test_sharing_costs_the_larger_job_more() -> None:
    assert simulate(two_jobs(), "fair-share").node_hours_lost == pytest.approx(10 * 1 + 3 * 1)


def test_those_cut_off_have_lost_all_their_time() -> None:
    found = simulate(two_jobs(walltime="1.5 h"), "fcfs")
    assert (found.node_hours_lost, found.node_hours_used) == pytest.approx((4.5, 20 + 4.5))
    assert (found.unfinished, found.p95_stretch, found.applications[1].cut) == (1, 1.0, True)


@given(document=sites(documents()))
def test_what_is_lost_is_part_of_what_is_used(document: dict[str, Any]) -> None:
    found = simulate(Scenario.from_document(document), "greedy-yield")
    assert -1e-9 <= found.node_hours_lost <= found.node_hours_used * (1 + 1e-9)
    assert found.lost_share == pytest.approx(found.node_hours_lost / found.node_hours_used)
    lowest = {each.name: each.yield_ for each in found.applications}[str(found.worst)]
    assert lowest == pytest.approx(found.min_yield, rel=1e-9)


def test_old_keys_come_first() -> None:
    keys = list(simulate(two_jobs()).to_dict())
    assert keys[0] == "sharing"
    assert keys[-1] == "applications"
    assert keys.index("node_hours_lost") > keys.index("distance_to_bound")
