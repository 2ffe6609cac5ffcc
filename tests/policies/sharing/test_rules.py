"""What loops and policies reckon alike, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from as_python import as_python
from penstock.policies.sharing import rules


def test_omega_is_the_mean_of_the_iterations_so_far() -> None:
    assert as_python(rules.mean_iteration)(6.0, 3.0) == 2.0
    assert as_python(rules.mean_iteration)(6.0, 0.5) == 12.0
    assert np.isnan(as_python(rules.mean_iteration)(0.0, 0.0))


def test_a_loss_is_a_share_of_the_age() -> None:
    assert as_python(rules.loss)(1.0, 4.0) == 0.25
    assert as_python(rules.loss)(1.0, 0.5) == 2.0
    assert as_python(rules.loss)(1.0, 0.0) == 0.0
    assert as_python(rules.loss)(1.0, -1.0) == 0.0
    assert rules.losses(np.ones(4), np.array([4.0, 0.0, -1.0, 0.5])).tolist() == [0.25, 0.0, 0.0, 2.0]


def test_a_quarter_of_the_age_may_be_counted_in_advance() -> None:
    assert as_python(rules.in_advance)(24.0, 100.0) == 24.0
    assert as_python(rules.in_advance)(26.0, 100.0) == 25.0


@pytest.mark.parametrize(("now", "number"), [(0.0, 1), (9.9, 4), (10.0, 5), (10.0 * (1 - 1e-10), 5), (10.1, 5)])
def test_a_tick_that_is_now_is_past(now: float, number: int) -> None:
    assert as_python(rules.next_tick)(now, 2.5) == number


def test_who_gets_next_to_nothing_does_not_move() -> None:
    rates, limit = np.array([0.0, 4e-9, 5e-9, 1.0, 2.0]), np.full(5, 4.0)
    assert as_python(rules.movers)(rates, limit, 5) == 3  # 4e-9 is rounding
    assert as_python(rules.movers)(rates, limit, 4) == 2
    assert as_python(rules.movers)(rates, limit, 1) == 1  # nobody alone is disturbed
