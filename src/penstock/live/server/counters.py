"""Plain counters of the shell, which `status` and the metrics show."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Counters:
    """What happened since the start."""

    began: float = field(default_factory=time.monotonic)
    admitted: int = 0
    refused: int = 0
    frames: int = 0
    rates: int = 0
    errors: int = 0
    records: int = 0
    turns: int = 0
    inputs: int = 0
    turn_seconds: float = 0.0
    longest_turn: float = 0.0

    def turned(self, inputs: int, seconds: float) -> None:
        """A turn took so long."""
        self.turns += 1
        self.inputs += inputs
        self.turn_seconds += seconds
        self.longest_turn = max(self.longest_turn, seconds)

    def figures(self) -> dict[str, Any]:
        """All of them."""
        counted = {name: value for name, value in vars(self).items() if name != "began"}
        return {"uptime": time.monotonic() - self.began, **counted}
