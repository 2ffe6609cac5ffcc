"""One line of the table: what was measured, what is promised of it, and whether the promise is kept."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

_DIGITS = {  # by unit
    "×": ".2f",
    "× faster": ".0f",
    " s": ".2f",
    " ms": ".1f",
    " µs": ".2f",
    " MB": ".0f",
    " B": ".0f",
    " M/s": ".1f",
    " %": ".2f",
    "": ".0e",
}
# A smoke run on a busy machine is far from quiet: only what is off by more than this is a fault.
_SANE = 10.0


@dataclass(frozen=True)
class Row:
    """A measurement; `most` or `least` is the promise, if there is one. Without a value, `note` says why."""

    what: str
    value: float | None
    unit: str = "×"
    most: float | None = None
    least: float | None = None
    note: str = ""
    broken: bool = False  # there is no value because what was to be measured failed

    @property
    def measured(self) -> str:
        """The value as shown in the table."""
        if self.value is None:
            return f"{'failed' if self.broken else 'n/a'} ({self.note})"
        return f"{self.value:{_DIGITS[self.unit]}}{self.unit}" + (f" ({self.note})" if self.note else "")

    @property
    def promised(self) -> str:
        """The promise as shown in the table."""
        if self.most is not None:
            return f"≤ {self.most:g}{self.unit}"
        return f"≥ {self.least:g}{self.unit}" if self.least is not None else ""

    @property
    def verdict(self) -> str:
        """Whether the promise is kept; empty where nothing is promised or nothing could be measured."""
        if self.broken:
            return "missed"
        if self.value is None or self.promised == "":
            return ""
        return "kept" if self._excess(self.value) <= 1.0 else "missed"

    @property
    def sane(self) -> bool:
        """Whether the value can be right at all; the promise itself may be missed."""
        if self.value is None:
            return not self.broken
        return 0.0 <= self.value < math.inf and self._excess(self.value) <= _SANE

    def as_json(self) -> dict[str, Any]:
        """All fields and the verdict."""
        return asdict(self) | {"verdict": self.verdict or None}

    def _excess(self, value: float) -> float:
        """How many times worse than promised; at most 1 is as promised."""
        if self.most is not None:
            return value / self.most
        return self.least / value if self.least is not None else 0.0
