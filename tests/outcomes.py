"""Outcomes of two engines side by side: what both tell of a run, and whether they tell the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

METRICS = (
    "end",
    "min_yield",
    "utilization",
    "efficiency",
    "makespan",
    "max_stretch",
    "mean_stretch",
    "node_hours_lost",
    "node_hours_used",
    "lost_share",
    "mean_yield",
    "p95_stretch",
    "unfinished",
)


def close(
    found: Sequence[float | None], known: Sequence[float | None], tolerance: float = 1e-9, what: str = ""
) -> bool:
    """Two lists of numbers, some of them None, are the same."""
    assert [value is None for value in found] == [value is None for value in known], what
    pairs = [(one, other) for one, other in zip(found, known, strict=True) if one is not None]
    assert [one for one, _ in pairs] == pytest.approx([other for _, other in pairs], rel=tolerance, abs=tolerance), what
    return True
