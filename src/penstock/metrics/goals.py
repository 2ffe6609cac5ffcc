"""What a plan or a policy can be chosen for: the names of goals, and the metrics that measure them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from penstock.errors import InvalidOption, nearest

if TYPE_CHECKING:
    from penstock.metrics.result import Result

GOALS = {
    "node-hours": "node_hours_lost",
    "min-yield": "min_yield",
    "efficiency": "efficiency",
    "utilization": "utilization",
    "stretch": "max_stretch",
    "mean-stretch": "mean_stretch",
}
LOWERED = ("node_hours_lost", "max_stretch", "mean_stretch")  # the others are raised


def check_goal(goal: str) -> str:
    """The metric that a goal is measured by; anything else is refused."""
    if goal not in GOALS:
        hint = "".join(f" did you mean {each!r}?" for each in nearest(goal, GOALS))
        raise InvalidOption(f"no goal is named {goal!r};{hint} known: {', '.join(GOALS)}")
    return GOALS[goal]


def cost_of(result: Result, goal: str) -> float:
    """How far a run is from a goal, the lower the better; infinite if the metric does not apply to it."""
    metric = GOALS[goal]
    value = getattr(result, metric)
    if value is None:
        return inf
    return float(value) if metric in LOWERED else -float(value)
