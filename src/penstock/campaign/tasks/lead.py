"""How long before a release input may be fetched, as an option of a campaign; and numbers that may not be there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from penstock.model.units import Refusal, quantity, shown
from penstock.studies.buffer_words import FOREVER


def _lead(value: object) -> float:
    if value in (FOREVER, math.inf):
        return math.inf
    try:
        return quantity(value, "seconds")
    except Refusal:
        raise Refusal(f'is {shown(value)}; accepted is a duration, such as "30 min", or forever') from None


Lead = Annotated[float, BeforeValidator(_lead)]


def written(lead: float) -> str:
    """As the command takes it."""
    return FOREVER if math.isinf(lead) else f"{lead:.15g}"


def number(value: float) -> float | None:
    """None in place of what is not a number."""
    return None if math.isnan(value) else value


def known(values: Mapping[str, float | None]) -> dict[str, float | None]:
    """The same for many."""
    return {name: None if value is None else number(value) for name, value in values.items()}
