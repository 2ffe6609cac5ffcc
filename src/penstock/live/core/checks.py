"""What a message to the controller may say. Whoever says something else is told so, and nothing changes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from penstock.live.core.settings import DIRECTIONS
from penstock.wire.messages import METADATA, MOST_NUMBER, OPERATIONS

_MOST_ID = 2**64 - 1
_LONGEST_NAME = 256
_MOST_LABELS = 16


class Refused(Exception):
    """Why a message is not taken; `code` is one of the wire's."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


def amount(value: float, what: str, least: float = 0.0) -> float:
    """Bytes, bytes/s or seconds."""
    if not (math.isfinite(value) and least <= value <= MOST_NUMBER):
        raise Refused("value", f"{what} is {value:g}; a number from {least:g} to {MOST_NUMBER:g} is accepted")
    return value + 0.0


def volume(value: float) -> float:
    """Bytes of an operation: there is no operation without any."""
    if not (math.isfinite(value) and 0.0 < value <= MOST_NUMBER):
        raise Refused("value", f"a volume of {value:g} bytes; more than 0 and at most {MOST_NUMBER:g} is accepted")
    return value


def cap(value: float | None) -> float | None:
    """What one can use at most, if it says so."""
    if value is not None and not (math.isfinite(value) and 0.0 < value <= MOST_NUMBER):
        raise Refused("value", f"cap is {value:g} bytes/s; more than 0 and at most {MOST_NUMBER:g} is accepted")
    return value


def confidence(value: float) -> float:
    """How sure an announcement is."""
    if not 0.0 < value <= 1.0:
        raise Refused("value", f"confidence is {value:g}; a number above 0 and up to 1 is accepted")
    return value


def number(value: int, what: str, least: int = 0, most: int = _MOST_ID) -> int:
    """An id or a count."""
    if not least <= value <= most:
        raise Refused("value", f"{what} is {value}; a whole number from {least} to {most} is accepted")
    return value


def name(value: str, what: str) -> str:
    """Printable text."""
    if not value or len(value) > _LONGEST_NAME or not value.isprintable():
        raise Refused("value", f"{what} is {value[:80]!r}; 1 to {_LONGEST_NAME} printable characters are accepted")
    return value


def labels(given: dict[str, str]) -> dict[str, str]:
    """A few names with short values."""
    if len(given) > _MOST_LABELS:
        raise Refused("value", f"{len(given)} labels; at most {_MOST_LABELS} are accepted")
    return {name(key, "a label"): name(value, f"label {key[:80]!r}") for key, value in given.items() if value}


def counted(direction: str, kind: str) -> None:
    """Whether an operation is of what its member is paced by."""
    if (direction == METADATA) != (kind == OPERATIONS):
        raise Refused("value", f"direction is {direction[:80]!r} for a member that is paced by {kind}")


def way(direction: str, targets: Sequence[str], known: Sequence[str]) -> None:
    """Where an operation goes."""
    if direction not in (*DIRECTIONS, METADATA):
        raise Refused("value", f"direction is {direction[:80]!r}; accepted are read and write, and metadata")
    for target in targets:
        if target not in known:
            raise Refused("value", f"no target named {target[:80]!r}; known: {', '.join(known) or 'none'}")
