"""Seconds as whole numbers of a common unit, which is what the proof of an optimum needs.

Where all durations are multiples of one unit (whole seconds, milliseconds, thirds of a second, …) nothing is lost.
Otherwise all are rounded down to a unit so small that it hardly matters: the optimum of the rounded chains is then
never above the true one, so what is a bound for them is a bound for the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from penstock.studies.optimum.chains import Chain, Chains

MOST_UNITS = 2**40  # in the makespan of a schedule
SAME_MULTIPLE = 1e-12  # relative: a duration this close to a multiple of the unit is one
_LARGEST_DENOMINATOR = 10**6


class Whole(NamedTuple):
    """Chains in whole units."""

    chains: Chains[int]
    unit: Fraction  # seconds
    exact: bool  # every duration is a multiple of the unit

    def seconds(self, units: int) -> float:
        """What that many units are."""
        return float(units * self.unit)


def whole(chains: Chains[float], horizon: float) -> Whole:
    """The chains in the largest common unit, or rounded down to a small one; `horizon` is the makespan of a schedule.

    >>> whole((Chain(0.0, (1.5,), (0.25,), 3.0), Chain(2.0, (), (), 1.0)), 4.75).unit
    Fraction(1, 4)
    """
    durations = {value for chain in chains for value in (chain.start, *chain.work, *chain.io, chain.tail)}
    unit = _common_unit(durations, horizon)
    if unit is not None:
        return Whole(_converted(chains, {value: round(Fraction(value) / unit) for value in durations}), unit, True)
    unit = Fraction(horizon) / MOST_UNITS
    return Whole(_converted(chains, {value: math.floor(Fraction(value) / unit) for value in durations}), unit, False)


def _common_unit(durations: Iterable[float], horizon: float) -> Fraction | None:
    """The largest unit that all are multiples of; None if the horizon has too many of it."""
    unit = Fraction(0)
    for value in durations:
        near = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
        if abs(float(near) - value) > SAME_MULTIPLE * value:
            return None
        unit = _common_divisor(unit, near)
        if unit and horizon / unit > MOST_UNITS:
            return None
    return unit or Fraction(1)


def _common_divisor(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(math.gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator)


def _converted(chains: Chains[float], units: dict[float, int]) -> Chains[int]:
    return tuple(
        Chain(
            units[chain.start],
            tuple(units[value] for value in chain.work),
            tuple(units[value] for value in chain.io),
            units[chain.tail],
        )
        for chain in chains
    )
