"""Groups instead of winners."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytest import approx

from penstock.advise.policies import CANDIDATES, answer, candidates
from penstock.advise.sample import Sample, read_both_ways

NOISE = np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])


def sample(**columns: tuple[np.ndarray, np.ndarray]) -> Sample:
    """Worst yields and node-hours lost of seven days, by policy."""
    least = np.column_stack([each[0] for each in columns.values()])
    lost = np.column_stack([each[1] for each in columns.values()])
    whole = {"min-yield": least.mean(axis=0), "node-hours": -lost.mean(axis=0)}
    return Sample(tuple(columns), least, lost, whole, by_days=True)


def level(yields: float, lost: float, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    return yields + noise * 0.01 * NOISE, lost + noise * NOISE


def test_two_identical_policies_tie():
    found = answer(sample(now=level(0.8, 100.0), twin=level(0.8, 100.0)), "now", None, True)
    assert found.tied == ("now", "twin")
    assert found.verdict == "no evidence"
    assert found.gain == (0.0, 0.0, 0.0)


def test_what_saves_every_day_is_better():
    found = answer(sample(now=level(0.8, 100.0), good=level(0.8, 90.0), bad=level(0.8, 95.0)), "now", None, True)
    assert (found.verdict, found.goal, found.tied, found.of) == ("better", "node-hours", ("good",), "good")
    assert found.gain == (10.0, 10.0, 10.0)


def test_what_differs_less_than_its_noise_is_in_the_group():
    rng = np.array([4.0, -4.0, 3.0, -3.0, 2.0, -2.0, 0.1])
    one, other = level(0.8, 90.0), (np.full(7, 0.8), 90.5 + rng)
    found = answer(sample(now=level(0.8, 100.0), one=one, other=other), "now", "node-hours", True)
    assert found.tied == ("one", "other")
    assert found.of == "one"


def test_the_first_of_the_group_is_shown_not_its_luckiest():
    rng = np.array([4.0, -4.0, 3.0, -3.0, 2.0, -2.0, 0.1])
    simple, lucky = (np.full(7, 0.8), 90.5 + rng), level(0.8, 90.0)
    found = answer(sample(now=level(0.8, 100.0), simple=simple, lucky=lucky), "now", "node-hours", True)
    assert (found.tied, found.of) == (("simple", "lucky"), "simple")


def test_of_a_better_group_one_that_is_clear_is_shown():
    rng = np.array([14.0, -14.0, 13.0, -13.0, 12.0, -12.0, 0.1])
    vague, clear = (np.full(7, 0.8), 92.0 + rng), level(0.8, 90.0)
    found = answer(sample(now=level(0.8, 100.0), vague=vague, clear=clear), "now", "node-hours", True)
    assert (found.verdict, found.tied, found.of) == ("better", ("vague", "clear"), "clear")


def test_who_starves_the_worst_job_is_left_out():
    found = answer(sample(now=level(0.8, 100.0), starves=level(0.3, 50.0)), "now", "node-hours", True)
    assert (found.verdict, found.tied) == ("no evidence", ("now",))
    assert found.policies[1].harms
    assert found.policies[1].node_hours_gain == (50.0, 50.0, 50.0)


def test_without_a_goal_the_worst_yield_comes_second():
    found = answer(sample(now=level(0.8, 100.0), fair=level(0.9, 100.0)), "now", None, True)
    assert (found.goal, found.verdict, found.of) == ("min-yield", "better", "fair")
    assert found.gain == approx((0.1, 0.1, 0.1))


def test_a_swinging_best_does_not_lift_what_is_worse():
    swings = (np.full(7, 0.8), 95.0 + 40.0 * NOISE)
    found = answer(sample(now=level(0.8, 100.0), swings=swings, worse=level(0.8, 101.0)), "now", "node-hours", True)
    assert found.tied == ("now", "swings")


def test_where_nodes_are_unknown_node_hours_are_not_shown():
    found = answer(sample(now=level(0.8, 100.0), good=level(0.9, 500.0)), "now", None, False)
    assert (found.goal, found.verdict, found.shown.node_hours_gain) == ("min-yield", "better", None)
    assert found.to_dict()["node_hours_gain"] is None


def test_an_overloaded_site_has_no_interval_of_node_hours():
    drawn = replace(sample(now=level(0.8, 100.0), good=level(0.9, 50.0)), overloaded=True)
    found = answer(drawn, "now", None, True)
    assert (found.goal, found.verdict) == ("min-yield", "better")
    assert found.to_dict()["node_hours_gain"] == {"value": 50.0, "low": None, "high": None}


def test_rounding_is_no_difference():
    apart = (np.full(7, 0.8 * (1 + 1e-13)), np.full(7, 100.0 * (1 - 1e-13)))
    found = answer(sample(now=level(0.8, 100.0), same=apart), "now", None, True)
    assert found.tied == ("now", "same")


def test_only_what_is_in_use():
    found = answer(sample(now=level(0.8, 100.0), worse=level(0.7, 120.0)), "now", "node-hours", True)
    assert (found.tied, found.of, found.verdict) == (("now",), "worse", "no evidence")
    assert found.gain.sign == -1


@pytest.mark.parametrize("goal", ["node-hours", "min-yield"])
def test_the_group_holds_its_best(goal):
    rng = np.random.default_rng(1)
    for _ in range(50):
        columns = {f"p{i}": (rng.uniform(0, 1, 7), rng.uniform(0, 100, 7)) for i in range(6)}
        drawn = sample(**columns)
        found = answer(drawn, "p0", goal, True)
        fine = [each.name for each in found.policies if not each.harms]
        assert max(fine, key=lambda name: drawn.figure(goal, name)) in found.tied
        assert set(found.tied) <= set(fine)


def test_what_is_in_use_comes_first():
    assert candidates(None, "fair-share") == CANDIDATES
    assert candidates(["fcfs", "fair-share"], "greedy-com") == ("greedy-com", "fcfs", "fair-share")


def test_bins_widen_intervals_by_what_two_readings_leave_open():
    one, other = (
        sample(now=level(0.8, 100.0), new=level(0.8, 90.0)),
        sample(now=level(0.8, 100.0), new=level(0.8, 94.0)),
    )
    both = read_both_ways([one, other], overloaded=False)
    assert both.gain("node-hours", "new", "now") == approx((10.0, 4.0, 12.0))  # 6 to 10, and 2 more on either side
    assert read_both_ways([one], overloaded=False).gain("node-hours", "new", "now") == (10.0, 10.0, 10.0)
    worse = sample(now=level(0.8, 100.0), new=level(0.8, 101.0))
    assert answer(read_both_ways([one, worse], overloaded=False), "now", "node-hours", True).verdict == "no evidence"


def test_an_overloaded_site_has_no_interval_in_either_reading():
    one = sample(now=level(0.8, 100.0), new=level(0.8, 90.0))
    assert np.isnan(read_both_ways([one, one], overloaded=True).gain("node-hours", "new", "now").low)
