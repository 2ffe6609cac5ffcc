"""What planning gives: a plan, how good it is, and what each decision in it is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.metrics.result import Result
from penstock.model.plain import plain
from penstock.model.plan import Plan
from penstock.model.tabular import Tabular, in_words, shown


@dataclass(frozen=True)
class Contribution:
    """A decision, and what the plan comes to with that decision as it is unasked."""

    decision: str
    unasked: str  # what that is, in words
    without: float | None  # the goal's metric then
    worth: float | None  # how much worse that is, in the metric's unit

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"decision": self.decision, "unasked": self.unasked, "without": self.without, "worth": self.worth}


@dataclass(frozen=True)
class Speed:
    """What bytes of an application count at, in bytes/s: the same for all plans that were tried."""

    name: str
    write: float
    read: float


@dataclass(frozen=True)
class JudgedBy:
    """The yardstick of all plans that were tried: in a sentence, and in numbers."""

    words: str
    speeds: tuple[Speed, ...]


@dataclass(frozen=True, kw_only=True)
class Planned(Tabular):
    """The best plan that was found.

    `value`, `unasked`, `started` and the contributions are by one yardstick for all plans; `result` is measured, as
    every run is, by what applications have alone under the plan.
    """

    goal: str
    metric: str  # which measures the goal
    yardstick: JudgedBy
    value: float | None
    unasked: float | None  # with nothing decided
    started: float | None  # with the papers' policies, before the search
    start: tuple[str, ...]  # which of them were better than what is there unasked
    trials: int  # runs of the whole machine
    searched: int  # of them single changes
    seed: int
    interrupted: bool
    plan: Plan
    contributions: tuple[Contribution, ...]
    result: Result = field(repr=False)

    def rows(self) -> list[dict[str, Any]]:
        """One row per decision."""
        return [each.to_dict() for each in self.contributions]

    def headline(self) -> str:
        """The goal, and what it came to."""
        return (
            f"{in_words(self.metric)} {shown(self.value)} after {self.trials:,} trials; unasked {shown(self.unasked)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "goal": self.goal,
            "metric": self.metric,
            "yardstick": {**vars(self.yardstick), "speeds": [vars(each) for each in self.yardstick.speeds]},
            "value": self.value,
            "unasked": self.unasked,
            "started": self.started,
            "start": list(self.start),
            "trials": self.trials,
            "searched": self.searched,
            "seed": self.seed,
            "interrupted": self.interrupted,
            "contributions": self.rows(),
            "plan": {"version": 1} | plain(self.plan),
            "run": self.result.to_dict(),
        }
