"""How many variants a recommendation takes, run like a campaign: known before anything is loaded to run."""

from __future__ import annotations

from penstock.errors import InvalidOption
from penstock.metrics.goals import GOALS, check_goal

__all__ = ["FEWEST", "GOALS", "check_goal", "check_variants"]

FEWEST = 20  # variants; intervals of less than half as many values are too narrow


def check_variants(variants: int) -> None:
    """Refuse too few to say anything."""
    if variants < FEWEST:
        raise InvalidOption(f"{variants} variants are too few to tell luck from merit; accepted is {FEWEST} or more")
