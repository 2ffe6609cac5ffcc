"""Rows of the View, by hand: what is put in force, what time moves, what a policy is shown."""

from __future__ import annotations

import numpy as np
import pytest

from as_python import as_python
from penstock.engine.rows import move, move_row, rows_shown, take
from penstock.kernels.arrays import SAME
from penstock.policies.sharing.view import COLUMNS, View, empty_view


def taken(given: float, limit: float) -> float:
    """The sum that is told when one of two is given so much; the other has 1 of 1."""
    rates, limits = np.array([1.0, given]), np.array([1.0, limit])
    return float(as_python(take)(rates, np.zeros(2), limits, np.ones(2), 2)[1])


def test_a_decision_comes_into_force_and_makes_room_for_the_next() -> None:
    rates, rate = np.array([2.0, 0.0, 3.0, 8.0]), np.full(4, 7.0)
    limit, remaining = np.array([2.0, 5.0, 3.0, 9.0]), np.array([4.0, 7.0, 9.0, 0.1])
    assert as_python(take)(rates, rate, limit, remaining, 3) == (2.0, 5.0)  # 4 bytes at 2; 2 + 0 + 3
    assert rate.tolist() == [2.0, 0.0, 3.0, 7.0]
    assert rates.tolist() == [0.0, 0.0, 0.0, 8.0]


def test_nobody_with_a_rate_is_never_done() -> None:
    assert as_python(take)(np.zeros(1), np.ones(1), np.ones(1), np.ones(1), 1) == (np.inf, 0.0)


def test_a_rate_is_within_its_limit_but_for_rounding() -> None:
    assert taken(4.0 * (1.0 + SAME), 4.0) == pytest.approx(5.0)
    assert taken(4.0 * (1.0 + 2 * SAME), 4.0) == np.inf
    assert taken(-1e-300, 4.0) == np.inf
    assert np.isnan(taken(np.nan, 4.0))


def test_time_moves_bytes_and_progress() -> None:
    remaining, progress = np.array([10.0, 4.0, 3.0, 5.0]), np.array([1.0, 2.0, 3.0, 4.0])
    rate, limit = np.array([2.0, 2.0, 1.0, 5.0]), np.array([4.0, 2.0, 1.0, 5.0])
    assert as_python(move)(remaining, progress, rate, limit, 3, 2.0, 1e-9) == 1  # 4 bytes in 2 s at 2
    assert remaining.tolist() == [6.0, 0.0, 1.0, 5.0]
    assert progress.tolist() == [2.0, 4.0, 5.0, 4.0]


@pytest.mark.parametrize(("remaining", "over"), [(0.9, 0), (1.0, 0), (1.1, -1), (3.0, -1)])
def test_what_would_be_over_in_a_moment_is_over(remaining: float, over: int) -> None:
    one = np.array([1.0])
    assert as_python(move)(np.array([remaining]), one.copy(), 2.0 * one, one, 1, 0.0, 0.5) == over


def numbered() -> View:
    """Three rows in which no two numbers are alike."""
    view = empty_view(3, np.array([71.0, 72.0]), np.zeros(0))
    for place, name in enumerate(COLUMNS):
        getattr(view, name)[:] = [10.0 * place, 10.0 * place + 1, 10.0 * place + 2]
    return view


def test_a_row_moves_with_all_that_belongs_to_an_operation() -> None:
    view, before = numbered(), numbered()
    as_python(move_row)(view, 2, 0)
    for name in COLUMNS:
        kept = name == "confidence"  # the same for all
        expected = getattr(before, name)[[0 if kept else 2, 1, 2]]
        assert getattr(view, name).tolist() == expected.tolist(), name


def test_a_policy_is_shown_its_own_rows() -> None:
    view = numbered()._replace(begin=3.0, end=9.0, capacity=1.0)
    memory = np.array([5.0])
    shown = as_python(rows_shown)(view, 4.0, 2.0, 1, 2, memory, 0.25)
    assert (shown.now, shown.begin, shown.end, shown.capacity, shown.mean_loss) == (4.0, 3.0, 9.0, 2.0, 0.25)
    for name in COLUMNS[:-1]:
        assert getattr(shown, name).tolist() == getattr(view, name)[1:].tolist(), name
    assert shown.bandwidth.tolist() == shown.limit.tolist()
    assert shown.settings.tolist() == [71.0, 72.0] and shown.memory is memory
    shown.key[:], shown.rows[:] = [6.0, 7.0], [8, 9]  # scratch, from the first on
    assert view.key.tolist() == [6.0, 7.0, 0.0] and view.rows.tolist() == [8, 9, 0]
