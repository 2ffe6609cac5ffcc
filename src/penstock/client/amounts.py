"""Volumes and rates as people write them in jobs: 10GB, 1.5 GiB, 200 MB/s. Light, because clients import it."""

from __future__ import annotations

import math
import re
from contextlib import suppress

from penstock.errors import InvalidOption

_AMOUNT = re.compile(r"\s*([0-9][0-9_]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?)\s*(?:([kKMGTPE]?)(i?)B(/s)?)?\s*")


def parse_amount(value: object, what: str) -> float:
    """A number of bytes, or of bytes/s; `what` it is begins the sentence of a refusal.

    >>> parse_amount("10GB", "the volume"), parse_amount("2 KiB", "the volume"), parse_amount(7, "the volume")
    (10000000000.0, 2048.0, 7.0)
    """
    amount = math.nan
    if isinstance(value, str):
        if found := _AMOUNT.fullmatch(value):
            number, prefix, binary, _ = found.groups()
            amount = float(number) * (1024.0 if binary else 1000.0) ** " KMGTPE".index((prefix or " ").upper())
    elif not isinstance(value, bool):
        with suppress(TypeError, ValueError, OverflowError):
            amount = float(value)  # type: ignore[arg-type]
    if not 0.0 <= amount <= 1e18:
        raise InvalidOption(
            f'{what} is {value!r}; accepted are bytes from 0 to 1e18, as a number or text such as "10GB"'
        )
    return amount
