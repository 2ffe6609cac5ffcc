"""Numbers as a reader wants them: yields with four digits, times and rates in the unit that fits.

Bandwidths may be bytes per second or the pure numbers of the papers, where B = 1. Nobody shares a file system of
less than a kilobyte per second, so a capacity below 1000 is taken for a pure number and gets no unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from penstock.model.scales import NOTHING, TINY, Scale, byte_scale, duration, significant, time_scale

if TYPE_CHECKING:
    from penstock.metrics.result import Result

__all__ = [
    "NOTHING",
    "Scale",
    "byte_scale",
    "column",
    "duration",
    "fixed",
    "hours_scale",
    "is_pure",
    "largest",
    "percent",
    "rate_scale",
    "significant",
    "time_scale",
]

_PURE_BELOW = 1e3
_MANY = 1e6  # from here on in powers of ten


def column(scale: Scale, values: Iterable[float | None]) -> Callable[[float | None], str]:
    """How the values of a column are written: in one unit, with as many decimals as the largest of them wants.

    >>> show = column(time_scale(200.0), [200.0, 216.0])
    >>> show(200.0), show(216.0), show(None)
    ('3.333 min', '3.600 min', '–')
    """
    most = largest(values) / scale.divisor
    decimals = min(4, max(0, 3 - math.floor(math.log10(most)))) if most > 0.0 else 0

    def show(value: float | None) -> str:
        if value is None or 0.0 < abs(value) < TINY * scale.divisor or most >= _MANY:
            return scale.show(value)
        return f"{value / scale.divisor:,.{decimals}f} {scale.unit}".rstrip()

    return show


def fixed(value: float | None, digits: int = 4) -> str:
    """A fixed number of decimals, so that a column of values lines up; what rounds to nothing has no sign.

    >>> fixed(0.5), fixed(-1e-9)
    ('0.5000', '0.0000')
    """
    return NOTHING if value is None else f"{value:z.{digits}f}"


def percent(share: float | None) -> str:
    """A share of 1 as a percentage."""
    return NOTHING if share is None else f"{100 * share + 0.0:.1f} %"


def largest(values: Iterable[float | None]) -> float:
    """The largest value there is; 0 if there is none."""
    return max((abs(value) for value in values if value is not None), default=0.0)


def hours_scale(most: float) -> Scale:
    """The unit for node-hours up to `most`: thousands or millions of them where there are many."""
    return Scale(1e6, "M") if most >= 1e6 else Scale(1e3, "k") if most >= 1e4 else Scale(1.0, "")


def rate_scale(capacity: float) -> Scale:
    """The unit for bandwidths on a platform of that capacity; none for the pure numbers of the papers."""
    if capacity < _PURE_BELOW:
        return Scale(1.0, "")
    scale = byte_scale(capacity, pure=False)
    return Scale(scale.divisor, f"{scale.unit}/s", tuple((size, f"{unit}/s") for size, unit in scale.smaller))


def is_pure(result: Result) -> bool:
    """Whether the volumes of a run are pure numbers: judged by the capacity, or by the mean rate if that is unknown."""
    if result.capacity is not None:
        return result.capacity < _PURE_BELOW
    if result.timeline is not None:
        return result.timeline.capacity < _PURE_BELOW
    moved = sum(application.transferred for application in result.applications)
    return moved < _PURE_BELOW * result.end
