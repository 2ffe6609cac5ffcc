"""Days as blocks, and Student's t over them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from penstock.advise.estimate import DAY, Estimate, days_of, percentiles, student, t_quantile

# From printed tables of Student's t, two-sided 95 %.
PRINTED = {1: 12.706, 2: 4.303, 3: 3.182, 6: 2.447, 10: 2.228, 30: 2.042, 120: 1.980}


@pytest.mark.parametrize(("freedom", "value"), PRINTED.items())
def test_quantiles_are_those_of_printed_tables(freedom, value):
    assert t_quantile(freedom) == approx(value, abs=6e-4)


def test_three_days_by_hand():
    mean, low, high = student(np.array([1.0, 2.0, 3.0]))
    half = 4.3027 / math.sqrt(3.0)  # the standard deviation is 1
    assert (mean, low, high) == approx((2.0, 2.0 - half, 2.0 + half), rel=1e-4)


def test_neighbours_that_are_alike_count_for_less():
    rising, mixed = np.arange(7.0), np.array([3.0, 0.0, 6.0, 1.0, 5.0, 2.0, 4.0])
    one, other = student(rising), student(mixed)
    assert other.high - other.value == approx(2.4469 * np.std(rising, ddof=1) / math.sqrt(7.0), rel=1e-4)
    r = 0.6  # 16/28 + 1/7 is more than the most that is believed
    assert one.high - one.value == approx((other.high - other.value) * math.sqrt((1 + r) / (1 - r)))


def test_days_without_a_value_do_not_count():
    assert student(np.array([1.0, np.nan, 2.0, 3.0])) == student(np.array([1.0, 2.0, 3.0]))


def test_one_day_has_no_interval():
    found = student(np.array([5.0]))
    assert found.value == 5.0
    assert math.isnan(found.low)
    assert found.sign == 0
    assert found.to_dict() == {"value": 5.0, "low": None, "high": None}


def test_no_day_at_all():
    assert math.isnan(student(np.array([np.nan])).value)


def test_days_that_agree_leave_no_doubt():
    assert student(np.full(7, 0.25)) == Estimate(0.25, 0.25, 0.25)
    assert student(np.full(7, 0.25)).sign == 1
    assert student(np.full(7, -0.25)).sign == -1
    assert student(np.zeros(7)).sign == 0


def test_a_week_has_seven_equal_days():
    starts = np.linspace(0.0, 7 * DAY - 1.0, 700)
    days = days_of(starts)
    assert days.count == 7
    assert np.bincount(days.of).tolist() == [100] * 7
    assert days.length == approx(1.0, rel=1e-4)
    assert days.enough


def test_a_morning_is_one_block():
    days = days_of(np.array([0.0, 3600.0, 9000.0]))
    assert (days.count, days.length, days.enough) == (1, 1.0, False)


@given(st.lists(st.floats(0.0, 30 * DAY), min_size=1, max_size=50))
def test_every_job_has_a_day(starts):
    days = days_of(np.array(starts))
    assert days.of.min() >= 0
    assert days.of.max() < days.count


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.floats(-100, 100), st.floats(0.1, 10))
def test_intervals_move_and_stretch_with_the_values(values, shift, factor):
    one, other = student(np.array(values)), student(factor * np.array(values) + shift)
    assert other == approx([factor * end + shift for end in one], rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=20), st.floats(-20, 20))
def test_the_figure_is_inside_its_percentiles(values, figure):
    found = percentiles(np.array(values), figure)
    assert found.low <= found.value == figure <= found.high
