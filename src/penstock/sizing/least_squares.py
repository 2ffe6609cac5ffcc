"""The shortest vector that keeps linear inequalities: least distance programming (Lawson & Hanson 1974, chapter 23)."""

from __future__ import annotations

import numpy as np

from penstock.engine.program import Floats

_ROUNDING = 1e-13  # how much an inequality may be missed by, where the numbers are about 1


def nearest_to_zero(rows: Floats, at_least: Floats) -> Floats:
    """The x with the least |x| such that rows·x ≥ at_least, which must be possible.

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
    return x
