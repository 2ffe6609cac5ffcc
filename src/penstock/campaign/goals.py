"""What a policy can be recommended for, and how many variants that takes: known before anything is loaded to run."""

from __future__ import annotations

from penstock.errors import InvalidOption, nearest

GOALS = {
    "node-hours": "node_hours_lost",
    "min-yield": "min_yield",
    "efficiency": "efficiency",
    "utilization": "utilization",
    "stretch": "max_stretch",
    "mean-stretch": "mean_stretch",
}
FEWEST = 20  # variants; intervals of less than half as many values are too narrow


def check_goal(goal: str) -> str:
    """The metric that a goal is measured by; anything else is refused."""
    if goal not in GOALS:
        hint = "".join(f" did you mean {each!r}?" for each in nearest(goal, GOALS))
        raise InvalidOption(f"no goal is named {goal!r};{hint} known: {', '.join(GOALS)}")
    return GOALS[goal]


def check_variants(variants: int) -> None:
    """Refuse too few to say anything."""
    if variants < FEWEST:
        raise InvalidOption(f"{variants} variants are too few to tell luck from merit; accepted is {FEWEST} or more")
