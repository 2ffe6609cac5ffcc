"""Slices: some of what is long runs every time, all of it in `make soak`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def sliced(cases: Iterable[Any], always: Callable[[int, Any], bool]) -> list[Any]:
    """Parameters of a test: those for which `always(place, row)` holds run every time."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=[] if always(place, case) else pytest.mark.soak
        )
        for place, case in enumerate(cases)
    ]
