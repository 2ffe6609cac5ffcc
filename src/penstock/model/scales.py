"""The model's times and volumes as a reader wants them: in the unit that fits, with four significant digits."""

from __future__ import annotations

from typing import NamedTuple

NOTHING = "–"
_BYTES = ((1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_BYTES_DOWN = (*_BYTES, (1.0, "B"))
TINY = 1e-3
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
        if 0.0 < abs(value) < TINY * self.divisor and self.smaller:
            size, unit = next((own for own in self.smaller if abs(value) >= own[0]), self.smaller[-1])
            return f"{significant(value / size)} {unit}"
        return f"{significant(value / self.divisor)} {self.unit}".rstrip()


def significant(value: float) -> str:
    """Four significant digits without exponent where a reader would not want one."""
    if 1e3 <= abs(value) < 1e6:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def time_scale(longest: float) -> Scale:
    """The unit for times up to `longest` seconds."""
    if longest == 0:
        return Scale(1.0, "s")
    return next((Scale(size, unit, _TIMES_DOWN) for least, size, unit in _TIMES if longest >= least), Scale(1e-6, "µs"))


def duration(seconds: float | None) -> str:
    """One time in the unit that fits it."""
    return time_scale(seconds or 0.0).show(seconds)


def byte_scale(most: float, *, pure: bool) -> Scale:
    """The unit for volumes up to `most`; none for pure numbers."""
    if pure:
        return Scale(1.0, "")
    return next((Scale(size, unit, _BYTES_DOWN) for size, unit in _BYTES if most >= size), Scale(1.0, "B"))
