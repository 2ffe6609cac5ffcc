"""Orders by hand: what ties, who breaks a tie, and who gets what."""

from __future__ import annotations

import random

import numpy as np
import pytest

from as_python import as_python
from penstock.policies.sharing import order
from penstock.policies.sharing.view import View, empty_view


def view_of(keys: list[float], posted: list[float] | None = None, capacity: float = 0.0) -> View:
    """Rows that stand backwards: the first application comes last."""
    count = len(keys)
    view = empty_view(count, np.zeros(0), np.zeros(0))._replace(capacity=capacity)
    view.key[:] = keys
    view.posted[:] = posted or [0.0] * count
    view.application[:] = range(count - 1, -1, -1)
    view.limit[:] = 2.0
    return view


@pytest.mark.parametrize("value", [1.0, -1.0, 3e-7, 1e200])
def test_keys_that_differ_by_rounding_are_one(value: float) -> None:
    coarse = as_python(order.coarse)
    assert coarse(value * (1 + 1e-11)) == coarse(value) == pytest.approx(value, rel=1e-9)
    assert coarse(value * (1 + 4e-9)) != coarse(value)
    assert order.rounded(np.array([value * (1 + 1e-11), value])).tolist() == [coarse(value)] * 2


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300, -1e300, 1.5e308, 0.0])
def test_keys_without_bounds_stay_what_they_are(value: float) -> None:
    assert as_python(order.coarse)(value) == value
    assert order.rounded(np.array([value])).tolist() == [value]


def test_a_yield_is_0_at_the_release() -> None:
    view = empty_view(3, np.zeros(0), np.zeros(0))._replace(now=5.0)
    view.release[:], view.progress[:] = [1.0, 5.0, 4.5], [3.0, 3.0, 0.25]
    assert as_python(order.yield_now)(view, 0) == 0.75
    assert as_python(order.yield_now)(view, 1) == 0.0
    assert as_python(order.yield_now)(view, 2) == 0.5


def test_ties_go_to_the_earlier_posting_then_to_the_scenario() -> None:
    def first(key: list[float], posted: list[float]) -> bool:
        found = as_python(order.comes_first)(np.array(key), np.array(posted), np.array([1, 0]), 0, 1)
        return bool(found)

    assert first([1.0, 2.0], [9.0, 0.0]) and not first([2.0, 1.0], [0.0, 9.0])
    assert first([1.0, 1.0], [3.0, 4.0]) and not first([1.0, 1.0], [4.0, 3.0])
    assert not first([1.0, 1.0], [3.0, 3.0 * (1 + 1e-12)])  # one posting, and the other is first in the scenario
    assert not as_python(order.comes_first)(np.ones(1), np.ones(1), np.zeros(1), 0, 0)  # nobody before itself


@pytest.mark.parametrize("count", [1, 2, 7, 24, 25, 26, 64])
def test_rows_are_sorted_by_key_posting_and_scenario(count: int) -> None:
    draw = random.Random(count)
    keys = [draw.choice([0.0, 1.0, 1.0 + 1e-12, 2.0, 3.0, np.inf]) for _ in range(count)]
    posted = [draw.choice([0.0, 5.0]) for _ in range(count)]
    view = view_of(keys, posted)
    as_python(order.sort_rows)(view)
    expected = sorted(range(count), key=lambda row: (round(keys[row], 9), posted[row], -row))
    assert view.rows.tolist() == expected


@pytest.mark.parametrize("count", [1, 2, 3, 7, 24, 25, 40])
def test_the_capacity_is_filled_in_order(count: int) -> None:
    """Each can use 2, and there is enough for three and a half of them."""
    view, rates = view_of([float((5 * row) % count) for row in range(count)], capacity=7.0), np.zeros(count)
    as_python(order.fill)(view, rates)
    ranking = sorted(range(count), key=lambda row: ((5 * row) % count, -row))
    expected = [0.0] * count
    for row, rate in zip(ranking, [2.0, 2.0, 2.0, 1.0], strict=False):
        expected[row] = rate
    assert rates.tolist() == expected


def test_keys_within_rounding_are_filled_in_the_order_of_the_scenario() -> None:
    view, rates = view_of([1.0, 1.0 + 1e-12, 2.0], capacity=2.0), np.zeros(3)
    as_python(order.fill)(view, rates)
    assert rates.tolist() == [0.0, 2.0, 0.0]


def test_some_rows_share_a_part_of_the_capacity() -> None:
    view, rates = view_of([4.0, 3.0, 2.0, 1.0], capacity=100.0), np.zeros(4)
    view.rows[:] = [0, 2, 1, 3]
    as_python(order.fill_rows)(view, 3, 3.0, rates)
    assert rates.tolist() == [0.0, 1.0, 2.0, 0.0]


def test_ranks_of_applications_by_several_keys() -> None:
    first, then = np.array([2.0, 1.0, 1.0 + 1e-12, 1.0]), np.array([0, 3, 1, 3])
    assert order.ranked(first, then).tolist() == [2, 1, 3, 0]
    assert order.ranked(then, first).tolist() == [0, 2, 1, 3]
    assert order.ranks(np.array([2, 0, 1])).tolist() == [1.0, 2.0, 0.0]
