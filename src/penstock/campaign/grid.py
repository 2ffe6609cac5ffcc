"""A grid of a campaign's settings: every combination of the values that are lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any


def as_list(value: object) -> list[Any]:
    """A list of values, or the one value that was given."""
    return list(value) if isinstance(value, list | tuple) else [value]


def points(axes: Mapping[str, object]) -> Iterator[dict[str, Any]]:
    """Every combination; the last key changes fastest.

    >>> list(points({"a": 1, "b": [2, 3]}))
    [{'a': 1, 'b': 2}, {'a': 1, 'b': 3}]
    """
    for values in product(*map(as_list, axes.values())):
        yield dict(zip(axes, values, strict=True))
