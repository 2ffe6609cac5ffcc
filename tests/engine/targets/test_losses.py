"""The mean of what all have lost on one of several targets, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from as_python import as_python
from penstock.engine.targets.losses import mean_loss_on_target
from penstock.kernels.arrays import SAME


@pytest.mark.parametrize(("end", "there"), [(9.0, 0), (10.0 * (1.0 + SAME), 0), (10.1, 1), (np.inf, 1)])
def test_those_that_started_on_the_target_and_have_not_ended(end: float, there: int) -> None:
    """At 10, places 1 to 3: one moves, and has lost 3 s of 6; one computes, 2 s of 8; one has not come yet."""
    occupant, operation = np.array([3, 0, 2, 1, 3]), np.array([0, -1, 2, 5])
    release, until = np.array([4.0, 11.0, 2.0, 0.0]), np.array([np.inf, np.inf, end, np.inf])
    lost = np.array([9.0, 0.0, 2.0, 7.0, 9.0])
    row_release, row_progress = np.array([0.0, 4.0, 0.0, 0.0, 0.0]), np.array([0.0, 3.0, 0.0, 0.0, 0.0])
    known = occupant, operation, release, until, lost
    found = as_python(mean_loss_on_target)(10.0, row_release, row_progress, 1, 1, 4, *known)
    assert found == pytest.approx((3 / 6 + there * 2 / 8) / (1 + there))
