"""What a reference gives: the best schedule known, the lowest bound known, and what neither method could say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.metrics.result import Result


@dataclass(frozen=True)
class GridBound:
    """A bound from time in slots."""

    bound: float
    slot: float  # seconds
    slots: int
    aligned: bool  # whether all phases are whole numbers of slots

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"bound": self.bound, "slot": self.slot, "slots": self.slots, "aligned": self.aligned}


@dataclass(frozen=True)
class Reference:
    """The highest minimum yield that is possible lies between `min_yield`, which a run has, and `bound`."""

    min_yield: float
    found_by: str
    bound: float
    bound_by: str
    clairvoyant: float | None  # minimum yield of the search alone; None: a policy had reached the bound before it
    trials: int
    seed: int
    bound_interval: float
    exact: GridBound | None  # on a grid of delays; its schedule may be the best one
    chain: GridBound | None
    left_out: tuple[str, ...]  # why a method was not used, a sentence each
    seconds: float
    run: Result = field(compare=False, repr=False)

    @property
    def gap(self) -> float:
        """By which share the best schedule may be below the best possible one, at most."""
        return max(0.0, 1.0 - self.min_yield / self.bound) if self.bound > 0.0 else 0.0

    def judged(self, runs: Iterable[Result]) -> tuple[Result, ...]:
        """The same runs with their share of the best schedule and of the bound; the true share lies between the two."""
        return tuple(
            replace(
                run,
                share_of_reference=run.min_yield / self.min_yield if self.min_yield > 0.0 else 1.0,
                share_of_bound=run.min_yield / self.bound if self.bound > 0.0 else 1.0,
            )
            for run in runs
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, without the schedule."""
        return {
            "min_yield": self.min_yield,
            "found_by": self.found_by,
            "bound": self.bound,
            "bound_by": self.bound_by,
            "gap": self.gap,
            "clairvoyant": {"min_yield": self.clairvoyant, "trials": self.trials, "seed": self.seed},
            "bound_interval": self.bound_interval,
            "exact": self.exact.to_dict() if self.exact else None,
            "chain": self.chain.to_dict() if self.chain else None,
            "left_out": list(self.left_out),
            "seconds": self.seconds,
        }
