"""Intervals against scipy's bootstrap and closed forms, and how often they hold the true mean."""

import numpy as np
import pytest
from scipy import stats

from penstock.campaign.statistics import Interval, PairCounts, mean_intervals, quantiles, tally
from penstock.campaign.summary import verdict

DRAW = np.random.default_rng(7)
SAMPLES = {
    "normal": DRAW.normal(3.0, 2.0, 200),
    "skewed": DRAW.exponential(1.0, 60),
    "few": DRAW.uniform(0.0, 1.0, 8),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_intervals_are_those_of_scipy(name):
    values = SAMPLES[name]
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=1).confidence_interval
    [ours] = mean_intervals(values[:, None])
    spread = values.std(ddof=1) / np.sqrt(values.size)
    assert ours.mean == pytest.approx(values.mean(), rel=1e-12)
    assert ours.low == pytest.approx(theirs.low, abs=0.1 * spread)
    assert ours.high == pytest.approx(theirs.high, abs=0.1 * spread)


def test_the_interval_of_a_large_normal_sample_is_the_closed_form():
    values = SAMPLES["normal"]
    [found] = mean_intervals(values[:, None])
    half = 1.96 * values.std() / np.sqrt(values.size)
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.06 * half)


def test_intervals_hold_the_true_mean_about_as_often_as_they_say():
    many = mean_intervals(np.random.default_rng(3).normal(1.0, 1.0, (40, 1_000)), resamples=1_000)
    share = np.mean([one.low <= 1.0 <= one.high for one in many])
    assert 0.91 <= share <= 0.97  # 0.94 is expected of 40 values: percentiles are a little narrow


def test_what_is_missing_does_not_count():
    values = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan], [5.0, 7.0, np.nan]])
    whole, part, nothing = mean_intervals(values)
    assert whole == mean_intervals(values[:, :1])[0]
    assert part == mean_intervals(values[1:, 1:2])[0]
    assert np.isnan([*nothing]).all()
    assert quantiles(values[:, 1])[0.5] == 6.0


def test_one_value_has_no_interval_and_equal_values_have_an_empty_one():
    assert np.isnan(mean_intervals(np.array([[2.0]]))[0][1:]).all()
    [same] = mean_intervals(np.full((50, 1), 0.1))
    assert same == pytest.approx((0.1, 0.1, 0.1))


def test_a_large_sample_is_drawn_in_blocks():
    values = np.random.default_rng(1).normal(size=(3_000, 1))
    [found] = mean_intervals(values)
    assert found.high - found.low == pytest.approx(2 * 1.96 * values.std() / np.sqrt(3_000), rel=0.05)


def test_pairs_are_counted_by_what_is_better():
    one, other = np.array([1.0, 2.0, 3.0, np.nan]), np.array([1.0 + 1e-12, 1.0, 4.0, 1.0])
    assert tally(one, other, 1) == PairCounts(wins=1, ties=1, losses=1)
    assert tally(one + 1, other, 1) == PairCounts(wins=2, ties=1, losses=0)
    assert tally(one + 1, other, -1) == PairCounts(wins=0, ties=1, losses=2)


def test_a_difference_smaller_than_its_noise_is_a_tie():
    assert verdict(Interval(0.1, -0.1, 0.3), 1) == "tie"
    assert verdict(Interval(0.0, 0.0, 0.0), 1) == "tie"
    assert [verdict(Interval(0.2, 0.1, 0.3), best) for best in (1, -1, 0)] == ["better", "worse", "different"]
    assert [verdict(Interval(-0.2, -0.3, -0.1), best) for best in (1, -1, 0)] == ["worse", "better", "different"]
    assert verdict(Interval(0.2, np.nan, np.nan), 1) is None
