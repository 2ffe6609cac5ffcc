"""Numbers as a reader wants them: yields with four digits, times and rates in the unit that fits.

Bandwidths may be bytes per second or the pure numbers of the papers, where B = 1. Nobody shares a file system of
less than a kilobyte per second, so a capacity below 1000 is taken for a pure number and gets no unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from penstock.metrics.result import Result

NOTHING = "–"
_PURE_BELOW = 1e3
_BYTES = ((1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_BYTES_DOWN = (*_BYTES, (1.0, "B"))
_TINY = 1e-3
_MANY = 1e6  # from here on in powers of ten
_TIMES = ((2 * 86400.0, 86400.0, "d"), (7200.0, 3600.0, "h"), (120.0, 60.0, "min"), (0.1, 1.0, "s"), (1e-4, 1e-3, "ms"))
_TIMES_DOWN = (*((size, unit) for _, size, unit in _TIMES), (1e-6, "µs"))


class Scale(NamedTuple):
    """What to divide by, and the unit that the quotient has; what is tiny in it is shown in a smaller one."""

    divisor: float
    unit: str
    smaller: tuple[tuple[float, str], ...] = ()  # largest first

    def show(self, value: float | None) -> str:
        """The value in this scale, with four significant digits.

        >>> byte_scale(5e15, pure=False).show(422_700_000)
        '422.7 MB'
        """
        if value is None:
            return NOTHING
        if 0.0 < abs(value) < _TINY * self.divisor and self.smaller:
            size, unit = next((own for own in self.smaller if abs(value) >= own[0]), self.smaller[-1])
            return f"{significant(value / size)} {unit}"
        return f"{significant(value / self.divisor)} {self.unit}".rstrip()


def column(scale: Scale, values: Iterable[float | None]) -> Callable[[float | None], str]:
    """How the values of a column are written: in one unit, with as many decimals as the largest of them wants.

    >>> show = column(time_scale(200.0), [200.0, 216.0])
    >>> show(200.0), show(216.0), show(None)
    ('3.333 min', '3.600 min', '–')
    """
    most = largest(values) / scale.divisor
    decimals = min(4, max(0, 3 - math.floor(math.log10(most)))) if most > 0.0 else 0

    def show(value: float | None) -> str:
        if value is None or 0.0 < abs(value) < _TINY * scale.divisor or most >= _MANY:
            return scale.show(value)
        return f"{value / scale.divisor:,.{decimals}f} {scale.unit}".rstrip()

    return show


def significant(value: float) -> str:
    """Four significant digits without exponent where a reader would not want one."""
    if 1e3 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def fixed(value: float | None, digits: int = 4) -> str:
    """A fixed number of decimals, so that a column of values lines up."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def percent(share: float | None) -> str:
    """A share of 1 as a percentage."""
    return NOTHING if share is None else f"{100 * share + 0.0:.1f} %"


def largest(values: Iterable[float | None]) -> float:
    """The largest value there is; 0 if there is none."""
    return max((abs(value) for value in values if value is not None), default=0.0)


def time_scale(longest: float) -> Scale:
    """The unit for times up to `longest` seconds."""
    if longest == 0:
        return Scale(1.0, "s")
    return next((Scale(size, unit, _TIMES_DOWN) for least, size, unit in _TIMES if longest >= least), Scale(1e-6, "µs"))


def hours_scale(most: float) -> Scale:
    """The unit for node-hours up to `most`: thousands or millions of them where there are many."""
    return Scale(1e6, "M") if most >= 1e6 else Scale(1e3, "k") if most >= 1e4 else Scale(1.0, "")


def duration(seconds: float | None) -> str:
    """One time in the unit that fits it."""
    return time_scale(seconds or 0.0).show(seconds)


def byte_scale(most: float, *, pure: bool) -> Scale:
    """The unit for volumes up to `most`; none for pure numbers."""
    if pure:
        return Scale(1.0, "")
    return next((Scale(size, unit, _BYTES_DOWN) for size, unit in _BYTES if most >= size), Scale(1.0, "B"))


def rate_scale(capacity: float) -> Scale:
    """The unit for bandwidths on a platform of that capacity; none for the pure numbers of the papers."""
    if capacity < _PURE_BELOW:
        return Scale(1.0, "")
    scale = byte_scale(capacity, pure=False)
    return Scale(scale.divisor, f"{scale.unit}/s", tuple((size, f"{unit}/s") for size, unit in scale.smaller))


def is_pure(result: Result) -> bool:
    """Whether the volumes of a run are pure numbers: judged by the capacity, or by the mean rate if that is unknown."""
    if result.timeline is not None:
        return result.timeline.capacity < _PURE_BELOW
    moved = sum(application.transferred for application in result.applications)
    return moved < _PURE_BELOW * result.end
