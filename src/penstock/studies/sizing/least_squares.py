"""Sizing a buffer: the shortest vector of shares, by least distance programming (Lawson & Hanson 1974, chapter 23)."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.studies.sizing.solvers import interior

_ROUNDING = 1e-13  # how much an inequality may be missed by, where the numbers are about 1
_WRONG = 1e-9  # missed by more, it is not for rounding


def nearest_to_zero(rows: Floats, at_least: Floats) -> Floats:
    """The x ≥ 0 with the least |x| such that rows·x ≥ at_least, which must be possible, and imply x ≥ 0.

    Its dual has nothing but non-negative unknowns, one per row; those that are not 0 are the rows that x meets exactly,
    and from them x follows to the last digit.
    """
    from scipy.optimize import nnls  # noqa: PLC0415 - see solvers.py

    eased = at_least - _ROUNDING
    if (eased <= 0.0).all():
        return np.zeros(rows.shape[1])
    dual, _ = nnls(np.vstack([rows.T, eased]), np.append(np.zeros(rows.shape[1]), 1.0))
    met = dual > 0.0
    x: Floats = np.linalg.lstsq(rows[met], eased[met], rcond=None)[0]
    # With many rows that are almost the same the search for the dual may end too early. The other solver goes through
    # the inside of what the rows leave, and at the smallest size there may be none but for what is not yet wrong.
    if (eased - rows @ x).max() > _WRONG:
        columns = rows.shape[1]
        return interior(np.zeros(columns), -rows, _WRONG - at_least, np.ones(columns)).x
    return x
