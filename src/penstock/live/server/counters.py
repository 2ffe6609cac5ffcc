"""Plain counters of the controller's shell and figures of its core, which `status` and the metrics show."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from penstock.live.core.members import Stage
from penstock.live.core.state import ControllerState
from penstock.wire.messages import OPERATIONS


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


def of_state(state: ControllerState) -> dict[str, Any]:
    """What the core knows, in numbers."""
    stages = Counter(member.stage.value for member in state.members())
    told = state.rows.share[:, : state.rows.count] @ state.rows.rate[: state.rows.count]
    resources = {
        each.name: {
            "capacity": state.capacity[k],
            "charged": state.charges.used[k],
            "granted": float(told[k]),
            "in_service": float(each.name not in state.out_of_service),
            "operations": float(each.kind == OPERATIONS),
        }
        for k, each in enumerate(state.settings.resources)
    }
    return {
        "epoch": state.epoch,
        "mode": state.mode,
        "draining": state.draining,
        "decisions": state.decisions,
        "policy_failures": state.failures,
        "members": {stage.value: stages[stage.value] for stage in Stage},
        "applications": len(state.apps),
        "active": len({row.app.number for row in state.rows.rows}),
        "waiting": len({row.app.number for row in state.rows.rows if state.rows.rate[row.index] <= 0.0}),
        "resources": resources,
    }
