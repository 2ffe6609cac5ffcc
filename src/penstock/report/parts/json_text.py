"""Results as JSON text: a report for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def as_json(thing: object, indent: int = 2) -> str:
    """One JSON document; a number that JSON lacks becomes null. No indent: in one line.

    >>> as_json({"rates": (0.5, float("inf"))}, indent=0)
    '{"rates":[0.5,null]}'
    """
    form: dict[str, Any] = {"indent": indent} if indent else {"separators": (",", ":")}
    return json.dumps(_plain(thing), ensure_ascii=False, allow_nan=False, **form)


def _plain(thing: Any) -> Any:
    if hasattr(thing, "to_dict"):
        return _plain(thing.to_dict())
    if isinstance(thing, Mapping):
        return {str(key): _plain(value) for key, value in thing.items()}
    if hasattr(thing, "tolist"):  # of NumPy, which few of those who print JSON need
        return _plain(thing.tolist())
    if isinstance(thing, list | tuple | set | frozenset):
        return [_plain(value) for value in thing]
    return None if isinstance(thing, float) and not math.isfinite(thing) else thing
