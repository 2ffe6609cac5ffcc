"""The next step up of one application, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from as_python import as_python
from penstock.policies.allocation import tcpu_in_time
from penstock.policies.allocation.steps import next_step

inf = np.inf
STRESS = [0.125, 0.25, 0.375, 0.625]


@pytest.mark.parametrize(
    ("cpu_load", "now", "load", "found"),
    [
        ([5, 4, 7, 9], 0, 0.5, (2, 2.0, inf)),  # the first that loses nothing
        ([5, 5, 9, 9], 0, 0.5, (1, 0.0, inf)),  # though it gains nothing
        ([5, 5.5, 9, 9], 0, 0.5, (1, 0.5, inf)),
        ([5, 4, 7, 9], 0, 0.875, (3, -1.0, 0.25)),  # one target more just fits, and loses; of the others the least
        ([5, 6, 7, 9], 1, 0.75, (2, 1.0, inf)),
        ([5, 4, 6, 9], 2, 0.75, (3, 3.0, inf)),
        ([5, 4, 6, 9], 2, 0.8, (3, -1.0, 0.25)),
        ([5, 4, 6, 9], 3, 0.0, (3, -1.0, inf)),  # never past the fastest
    ],
)
def test_the_first_that_fits_and_loses_nothing(
    cpu_load: list[float], now: int, load: float, found: tuple[int, float, float]
) -> None:
    assert as_python(next_step)(np.array(STRESS), np.array(cpu_load, float), now, 3, load) == found


@pytest.mark.parametrize(
    ("instant", "place"), [(0, 0), (2, 0), (3, 1), (4, 1), (5, 2), (8, 2), (9, 5), (11, 5), (12, 6)]
)
def test_the_first_that_may_still_run_at_an_instant(instant: int, place: int) -> None:
    """By start, the last ends so far are 3, 5, 9, 9, 9 and 12."""
    climb = SimpleNamespace(reach=np.array([3, 5, 9, 9, 9, 12]))
    assert as_python(tcpu_in_time._first_reaching)(climb, instant) == place
