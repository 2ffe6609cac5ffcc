"""Advice: which sharing policy? Groups that nobody can tell apart instead of a winner.

Even exact data name the truly best policy in a third to five sixths of draws only. So the answer is a group: all that
are not worse than its best, or than what is in use, by more than the noise. What harms one goal to serve the other is
left out: a policy that saves node-hours by starving the worst job, or the other way round, is a trade for people to
make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penstock.advise.estimate import Estimate
from penstock.advise.sample import GOALS, Goal, Sample

IN_USE = "fair-share"
# What could be put to use tomorrow: no policy that must know the end of the window or all that jobs will do. Of a group
# the first is named, so simple ones come first.
CANDIDATES = (
    IN_USE,
    "fcfs",
    "greedy-yield",
    "greedy-com",
    "credited-yield",
    "set-10",
    "loss-capped-srpt",
    "reserve-credit",
    "reserve-srpt",
    "lookahead-greedy-yield",
)
BETTER, NO_EVIDENCE = "better", "no evidence"


@dataclass(frozen=True)
class PolicyGain:
    """A policy against the one in use, in both goals; `node_hours_gain` is per day, None where nodes are unknown."""

    name: str
    min_yield_gain: Estimate
    node_hours_gain: Estimate | None
    tied: bool
    harms: bool  # the other goal

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "name": self.name,
            "min_yield_gain": self.min_yield_gain.to_dict(),
            "node_hours_gain": self.node_hours_gain and self.node_hours_gain.to_dict(),
            "tied": self.tied,
            "harms": self.harms,
        }


@dataclass(frozen=True)
class TieGroup:
    """The group, and what its first member has over the policy in use; with that in the group there is no evidence."""

    against: str
    goal: Goal
    tied: tuple[str, ...]
    of: str  # whose gains are shown
    policies: tuple[PolicyGain, ...]

    @property
    def verdict(self) -> str:
        """Whether something is better than what is in use."""
        return NO_EVIDENCE if self.against in self.tied else BETTER

    @property
    def shown(self) -> PolicyGain:
        """The policy whose gains are shown."""
        return next(each for each in self.policies if each.name == self.of)

    @property
    def gain(self) -> Estimate:
        """In the goal."""
        shown = self.shown
        return shown.min_yield_gain if self.goal == "min-yield" or not shown.node_hours_gain else shown.node_hours_gain

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        shown = self.shown
        return {
            "against": self.against,
            "goal": self.goal,
            "verdict": self.verdict,
            "tied": list(self.tied),
            "of": self.of,
            "min_yield_gain": shown.min_yield_gain.to_dict(),
            "node_hours_gain": shown.node_hours_gain and shown.node_hours_gain.to_dict(),
            "policies": [each.to_dict() for each in self.policies],
        }


def answer(sample: Sample, against: str, goal: Goal | None, nodes_known: bool) -> TieGroup:
    """The group for a goal. Without one: node-hours, or the worst yield if no policy saves any."""
    if goal is not None:
        return _group(sample, against, goal, nodes_known)
    goals = GOALS if nodes_known and not sample.overloaded else ("min-yield",)
    found = [_group(sample, against, each, nodes_known) for each in goals]
    return next((each for each in found if each.verdict == BETTER), found[0])


def _group(sample: Sample, against: str, goal: Goal, nodes_known: bool) -> TieGroup:
    harmless = [
        name for name in sample.policies if name == against or not _harms(sample, name, against, goal, nodes_known)
    ]
    best = max(harmless, key=lambda name: sample.figure(goal, name))
    # Next to a best that swings from day to day much looks as good, even what is worse than what is in use.
    tied = [
        name
        for name in harmless
        if name == best or (sample.gain(goal, best, name).sign == 0 and sample.gain(goal, name, against).sign >= 0)
    ]
    standings = tuple(
        PolicyGain(
            name,
            sample.gain("min-yield", name, against),
            sample.gain("node-hours", name, against) if nodes_known else None,
            name in tied,
            name not in harmless,
        )
        for name in sample.policies
    )
    return TieGroup(against, goal, tuple(tied), _shown(sample, against, goal, harmless, tied), standings)


def _shown(sample: Sample, against: str, goal: Goal, harmless: Sequence[str], tied: Sequence[str]) -> str:
    """Whose gains are shown: the first of the group; where that is better, the first that clearly is."""
    others = [name for name in tied if name != against]
    clear = [name for name in others if sample.gain(goal, name, against).sign > 0] if against not in tied else []
    if clear or others:
        return (clear or others)[0]
    left = [name for name in harmless if name != against] or [name for name in sample.policies if name != against]
    return max(left, key=lambda name: sample.figure(goal, name))


def _harms(sample: Sample, name: str, against: str, goal: Goal, nodes_known: bool) -> bool:
    other: Goal = "min-yield" if goal == "node-hours" else "node-hours"
    return (other == "min-yield" or nodes_known) and sample.gain(other, name, against).sign < 0


def candidates(asked: Sequence[str] | None, against: str) -> tuple[str, ...]:
    """What is compared: what was asked for, and what is in use, first."""
    return tuple(dict.fromkeys([against, *(asked or CANDIDATES)]))
