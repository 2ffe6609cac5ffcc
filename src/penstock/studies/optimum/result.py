"""What the search for an optimum gives: the best makespan found, and how much better another could be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.metrics.result import Result
from penstock.studies.schedules import Schedule, schedule_of

ROUNDED_WITHIN = 1e-6  # where durations had to be rounded


def gap(makespan: float, bound: float, start: float) -> float:
    """By which share of its length a schedule that begins at `start` could still be shortened, at most."""
    return (makespan - bound) / (makespan - start) if makespan > bound else 0.0


@dataclass(frozen=True)
class Heuristic:
    """The order that the search began from."""

    sharing: str
    makespan: float

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"sharing": self.sharing, "makespan": self.makespan}


@dataclass(frozen=True)
class Optimum:
    """The best exclusive schedule that was found: one operation at a time, none interrupted."""

    makespan: float
    bound: float  # no such schedule has a lower makespan
    start: float  # when the first application starts: makespan and bound are compared from there on
    seconds: float  # that the search took
    heuristic: Heuristic
    rounding: float  # seconds: durations were rounded down to multiples of it; 0: nothing was rounded
    too_large: bool  # more time would not have helped: there are too many operations to search any further
    run: Result = field(compare=False, repr=False)  # that schedule, with its timeline

    @property
    def optimal(self) -> bool:
        """Whether there is no better schedule: proved, to within a millionth if durations had to be rounded."""
        return self.gap <= (ROUNDED_WITHIN if self.rounding else 0.0)

    @property
    def gap(self) -> float:
        """By which share of its length the schedule could still be shortened, at most."""
        return gap(self.makespan, self.bound, self.start)

    @property
    def schedule(self) -> Schedule:
        """When every operation is posted, starts and ends."""
        assert self.run.timeline is not None
        return schedule_of(self.run.timeline)

    def judged(self, runs: Iterable[Result]) -> tuple[Result, ...]:
        """The same runs with their ratios: to the best makespan and to the bound; the true one lies between them."""
        return tuple(
            replace(run, ratio_to_optimum=run.makespan / self.makespan, ratio_to_bound=run.makespan / self.bound)
            for run in runs
            if run.makespan is not None
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, without the schedule."""
        return {
            "makespan": self.makespan,
            "bound": self.bound,
            "optimal": self.optimal,
            "seconds": self.seconds,
            "gap": self.gap,
            "heuristic": self.heuristic.to_dict(),
            "rounding": self.rounding,
        }
