"""One operation at a time, by hand: who goes on, who starts, and what a list remembers."""

from __future__ import annotations

import numpy as np
import pytest

from as_python import as_python
from penstock.policies.sharing import exclusive
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.view import View, empty_view


def view_of(application: list[int], **columns: list[float]) -> View:
    view = empty_view(len(application), np.zeros(0), np.zeros(0))
    view.application[:] = application
    view.limit[:] = np.arange(len(application)) + 10.0
    for name, values in columns.items():
        getattr(view, name)[:] = values
    return view


@pytest.mark.parametrize(
    ("rate", "rates"),
    [
        ([0, 0, 0], [0, 0, 0]),
        ([1, 0, 0], [10, 0, 0]),
        ([0, 0.1, 0], [0, 11, 0]),
        ([0, 1, 5], [0, 0, 12]),  # of two the first of the scenario
        ([3, 0, 2], [0, 0, 12]),
        ([1, 1, 0], [10, 0, 0]),
    ],
)
def test_who_is_served_goes_on_at_its_full_rate(rate: list[float], rates: list[float]) -> None:
    found = np.zeros(3)
    assert as_python(exclusive.goes_on)(view_of([1, 2, 0], rate=rate), found) == any(rates)
    assert found.tolist() == rates


@pytest.mark.parametrize(
    ("key", "first"),
    [
        ([3, 2, 1], 2),
        ([1, 2, 3], 0),
        ([2, 1, 2], 1),
        ([1, 1, 1], 2),
        ([1, 1, 2], 0),
        ([1, 2, 1 + 1e-12], 2),
        ([1 + 1e-12, 1, 2], 0),
    ],
)
def test_the_lowest_key_starts_and_of_equal_ones_the_first_of_the_scenario(key: list[float], first: int) -> None:
    view, rates = view_of([1, 2, 0], key=key), np.zeros(3)
    assert as_python(exclusive.start_first)(view, rates) == first
    assert rates.tolist() == [10.0 + row if row == first else 0.0 for row in range(3)]


def test_an_application_starts_if_it_has_posted() -> None:
    rates = np.zeros(3)
    assert not as_python(exclusive.start_application)(view_of([1, 2, 0]), 3.0, rates)
    assert not rates.any()
    assert as_python(exclusive.start_application)(view_of([1, 2, 0]), 2.0, rates)
    assert rates.tolist() == [0.0, 11.0, 0.0]


def two_jobs() -> Foresight:
    """One with operations of 1 and 2 s after 10 and 20 s, one with 4 s after 40 s; then 5 and 6 s."""
    return Foresight(
        names=("a", "b"),
        start=np.zeros(2),
        first=np.array([0, 2, 3]),
        work=np.array([10.0, 20.0, 40.0]),
        seconds=np.array([1.0, 2.0, 4.0]),
        rest=np.array([5.0, 6.0]),
        operations=np.array([2.0, 1.0]),
        mean_work=np.array([15.0, 40.0]),
        mean_seconds=np.array([1.5, 4.0]),
    )


def test_a_list_remembers_one_number_for_each_operation() -> None:
    assert exclusive.io_time(two_jobs(), {}).tolist() == [2.0, 4.0, 1.0, 2.0, 4.0]
    # From its posting on: 1 + 20 + 2 + 5, then 2 + 5; 4 + 6.
    assert exclusive.time_left(two_jobs(), {}).tolist() == [2.0, 4.0, 28.0, 7.0, 10.0]


def test_the_number_of_the_next_operation_once_one_has_started() -> None:
    view = view_of([1, 0])._replace(memory=exclusive.io_time(two_jobs(), {}))
    announced = as_python(exclusive.announced)
    assert (announced(view, 0), announced(view, 1)) == (4.0, 1.0)
    as_python(exclusive.pass_on)(view, 1)
    assert (announced(view, 0), announced(view, 1)) == (4.0, 2.0)


def test_johnsons_order() -> None:
    """Work and I/O: who works no longer than it moves first, by rising work; the others by falling I/O."""
    work = np.array([9.0, 3.0, 5.0, 1.0, 8.0, 2.0 * (1 + 1e-12)])
    seconds = np.array([4.0, 3.0, 2.0, 7.0, 6.0, 2.0])
    count = np.zeros(6)
    jobs = Foresight(("",) * 6, count, np.zeros(7, np.int64), count, count, count, count, work, seconds)
    assert exclusive.johnson(jobs).tolist() == [3, 5, 1, 4, 0, 2]
