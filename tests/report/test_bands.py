from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from penstock.report.parts.bands import edges, mean_rates, present_shares, spans, time_shares
from report.samples import big_timeline, toy_timeline


def slow_means(timeline, height, at):
    """Overlap of every segment with every interval, one by one."""
    means = np.zeros((len(timeline.names), len(at) - 1))
    for i, start, stop, h in zip(timeline.application, timeline.start, timeline.stop, height, strict=True):
        for k in range(len(at) - 1):
            means[i, k] += h * max(0.0, min(stop, at[k + 1]) - max(start, at[k])) / (at[k + 1] - at[k])
    return means


@given(seed=st.integers(0, 1000), applications=st.integers(1, 5), steps=st.integers(1, 30))
def test_means_are_those_of_the_segments(seed, applications, steps):
    timeline = big_timeline(seed, applications, 40)
    at = np.linspace(timeline.begin, timeline.end, steps + 1)
    assert mean_rates(timeline, at) == approx(slow_means(timeline, timeline.rate, at), rel=1e-6, abs=1.0)
    moving, waiting = time_shares(timeline, at)
    assert moving == approx(slow_means(timeline, timeline.rate > 0, at), abs=1e-9)
    assert waiting == approx(slow_means(timeline, timeline.rate == 0, at), abs=1e-9)


def test_edges_are_the_changes_until_there_are_too_many():
    assert list(edges(toy_timeline(), 100)) == [0, 20, 30, 50, 70, 90, 100]
    assert list(edges(toy_timeline(), 4)) == [0, 25, 50, 75, 100]


def test_edges_that_differ_by_rounding_are_one():
    timeline = toy_timeline()
    timeline.start[2] += 1e-8
    assert len(edges(timeline, 100)) == 7


def test_few_changes_are_drawn_exactly():
    timeline = toy_timeline()
    rates = mean_rates(timeline, edges(timeline, 100))
    assert rates[0] == approx([0, 1, 1, 0.5, 0, 0])
    assert rates[1] == approx([0, 0, 0, 0.5, 0.5, 0])


def test_changes_of_rate_alone_do_not_split_a_span():
    found = spans(toy_timeline())
    rows = list(zip(found.application.tolist(), found.start.tolist(), found.stop.tolist(), found.moving, strict=True))
    assert rows == [(0, 20, 70, True), (1, 30, 50, False), (1, 50, 90, True)]


def test_an_application_is_present_from_start_to_stop():
    shares = present_shares(toy_timeline(), np.array([0.0, 20.0, 80.0, 100.0]))
    assert shares == approx(np.array([[1, 1, 1], [0.5, 1, 0.5]]))


@pytest.mark.parametrize("applications", [1, 7])
def test_spans_keep_the_time_spent_in_each_state(applications):
    timeline = big_timeline(3, applications, 200)
    found = spans(timeline)
    for moving in (True, False):
        kept = (found.stop - found.start)[found.moving == moving].sum()
        assert kept == approx((timeline.stop - timeline.start)[(timeline.rate > 0) == moving].sum())
