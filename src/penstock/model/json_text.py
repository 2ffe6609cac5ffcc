"""JSON text of scenarios to plain data and back; a key that appears twice is refused."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from penstock.errors import InvalidScenario
from penstock.model.size import too_deep
from penstock.model.units import shown


def parse(text: str, where: str) -> Any:
    """The data of a JSON document."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise InvalidScenario(f"{where}:{error.lineno}: not valid JSON: {error.msg.lower()}") from None
    except RecursionError:
        raise too_deep(lambda _: where) from None
    except ValueError as error:  # a key twice, or a number of thousands of digits
        raise InvalidScenario(f"{where}: not valid JSON: {str(error).split(';')[0]}") from None


def write(document: dict[str, Any]) -> str:
    """Indented JSON."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {shown(twice)} appears twice in one mapping")
    return mapping
