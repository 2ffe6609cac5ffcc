"""Who runs with whom, by hand."""

from __future__ import annotations

import numpy as np

from penstock.policies.allocation.presence import presence


def test_starts_within_rounding_are_one_instant() -> None:
    assert presence(np.zeros(3), np.ones(3)).together
    assert presence(np.array([0.0, 1000.0, 1000.0 + 5e-7]), np.full(3, 10.0)).instants == 2
    assert presence(np.array([0.0, 1000.0, 1000.0 + 5e-6]), np.full(3, 10.0)).instants == 3


def test_who_takes_no_time_is_there_when_it_starts() -> None:
    assert presence(np.array([0.0, 2.0]), np.zeros(2)).sums(np.array([3.0, 4.0])).tolist() == [3.0, 4.0]
