"""The controller divides one rate among some who can each use so much."""

from __future__ import annotations

from collections.abc import Iterable


def water_filled(rate: float, weights: Iterable[float], caps: Iterable[float]) -> list[float]:
    """Parts of `rate` in proportion to weights, none above its cap, what one cannot use going to the others.

    >>> water_filled(10.0, [1.0, 1.0, 2.0], [100.0, 1.0, 100.0])
    [3.0, 1.0, 6.0]
    """
    pairs = list(zip(weights, caps, strict=True))
    parts = [0.0] * len(pairs)
    hungry = list(range(len(pairs)))
    left = rate
    while hungry and left > 0.0 and (total := sum(pairs[i][0] for i in hungry)) > 0.0:
        for i in hungry:
            parts[i] = min(pairs[i][1], left * pairs[i][0] / total)
        full = [i for i in hungry if parts[i] == pairs[i][1]]
        if not full:
            break
        left -= sum(parts[i] for i in full)
        hungry = [i for i in hungry if parts[i] < pairs[i][1]]
    return parts
