"""The mean of what all have lost, on a link, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from as_python import as_python
from penstock.engine.link.losses import mean_loss, of_rows
from penstock.kernels.arrays import SAME


def test_losses_of_some_rows() -> None:
    release, progress = np.array([0.0, 4.0, 5.0, 0.0]), np.array([0.0, 3.0, 4.0, 0.0])
    assert as_python(of_rows)(10.0, release, progress, 1, 2) == pytest.approx((6 - 3) / 6 + (5 - 4) / 5)


@pytest.mark.parametrize(("end", "there"), [(9.0, 0), (10.0 * (1.0 + SAME), 0), (10.1, 1), (np.nan, 1)])
def test_who_computes_counts_until_its_end(end: float, there: int) -> None:
    """At 10: one has moved for 3 s of 6, one has not come yet, one computes and has lost 2 s of its 8."""
    operation, release = np.array([0, -1, 3]), np.array([4.0, 11.0, 2.0])
    completion, lost = np.array([np.nan, np.nan, end]), np.array([0.0, 5.0, 2.0])
    rows = np.array([4.0]), np.array([3.0])
    found = as_python(mean_loss)(10.0, 1, *rows, operation, release, completion, lost)
    assert found == pytest.approx((3 / 6 + there * 2 / 8) / (1 + there))
