"""Which policy for a goal: variants of one scenario, run like a campaign, the best on them, and by how much.

The best of many on some variants is partly the luckiest, and so is its lead. The policy is therefore chosen on one half
of the variants and compared on the other. It is recommended if it is better than each other policy there by more than
the noise; that takes no correction for their number, since a single tie is enough to withhold it. Otherwise those that
it ties with are as good for all we know, and the simplest of them is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from penstock.campaign.executor import executor
from penstock.campaign.goals import FEWEST, check_goal, check_variants
from penstock.campaign.statistics import NO_DIFFERENCE, Interval, PairCounts, mean_intervals, tally
from penstock.campaign.summary import BETTER, WORSE, verdict
from penstock.campaign.tasks import Metric
from penstock.campaign.tasks.simulate import TASK
from penstock.campaign.variants import run_variants
from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats
from penstock.model import Scenario
from penstock.model.load import ScenarioLike, as_scenario
from penstock.policies.sharing import NAMES, find
from penstock.policies.sharing.policy import Sharing, no_ticks
from penstock.studies.share import study_of

IN_USE = "fair-share"  # what a file system does by itself
NOISE = 0.1  # of variants of a scenario that has none
ENOUGH = 100
_EVENTS = 20_000_000  # of all variants, as a default: some seconds

Policy = str | Sharing | Callable[..., None]


@dataclass(frozen=True)
class PolicyStanding:
    """How a policy did where it was measured, and against the one chosen, which has no verdict."""

    sharing: str
    mean: Interval
    difference: Interval  # to the one chosen, variant by variant
    tally: PairCounts
    verdict: str | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        found = {"sharing": self.sharing, **self.mean._asdict(), **_ends("difference", self.difference)}
        return {**found, **self.tally._asdict(), "verdict": self.verdict}


@dataclass(frozen=True)
class Recommendation:
    """What is recommended for a goal, and why.

    `policies` are all of them as measured on the second half of the variants, best first, each paired with `chosen`,
    the best on the first half.
    """

    goal: str
    metric: Metric
    chosen: str
    recommended: str
    policies: tuple[PolicyStanding, ...]
    against: str  # the policy in use now
    gain: Interval | None  # of the recommended policy over that; None if it is that
    noise: float
    assumed: bool  # the noise, since the scenario has none
    seeds: range

    @property
    def choosing(self) -> range:
        """Seeds of the variants that the policy was chosen on."""
        return self.seeds[: len(self.seeds) // 2]

    @property
    def measuring(self) -> range:
        """Seeds of those that it was measured on."""
        return self.seeds[len(self.seeds) // 2 :]

    @cached_property
    def tied(self) -> tuple[str, ...]:
        """Policies that nothing says are worse than the one chosen; that one first."""
        return (self.chosen, *(each.sharing for each in self._others if each.verdict != WORSE))

    @property
    def overtaken(self) -> tuple[str, ...]:
        """Those that were even better where it was measured, by more than the noise: the halves disagree."""
        return tuple(each.sharing for each in self._others if each.verdict == BETTER)

    @property
    def significant(self) -> bool:
        """Whether the recommended policy is better than all others by more than the noise."""
        return len(self.tied) == 1

    @property
    def next_best(self) -> str:
        """The best of the others."""
        return self._others[0].sharing

    @property
    def lead(self) -> Interval:
        """What the one chosen has over the next best; negative where less is better."""
        mean, low, high = self._others[0].difference
        return Interval(*(0.0 - end for end in (mean, high, low)))

    @property
    def _others(self) -> list[PolicyStanding]:
        return [each for each in self.policies if each.sharing != self.chosen]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "goal": self.goal,
            "metric": self.metric.name,
            "recommended": self.recommended,
            "significant": self.significant,
            "chosen": self.chosen,
            "tied": list(self.tied),
            "next_best": self.next_best,
            **_ends("lead", self.lead),
            "against": self.against,
            **_ends("gain", self.gain),
            "noise": self.noise,
            "noise_assumed": self.assumed,
            "variants": len(self.seeds),
            "seeds_choosing": [self.choosing[0], self.choosing[-1]],
            "seeds_measuring": [self.measuring[0], self.measuring[-1]],
            "policies": [each.to_dict() for each in self.policies],
        }


def recommend(
    scenario: ScenarioLike,
    goal: str | None = None,
    sharing: Iterable[Policy] = NAMES,
    *,
    against: Policy = IN_USE,
    variants: int = ENOUGH,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Recommendation:
    """The best of some policies for a goal, on variants of a scenario: draws of its noise, or of one of 10 %.

    `against` is what is used now: one of those to choose from, whether or not it is among `sharing`. Without a `goal`
    it is that of `usual_goal`.
    """
    scenario = as_scenario(scenario)
    goal = usual_goal(scenario) if goal is None else goal
    metric = metric_for(goal)
    check_variants(variants)
    in_use = find(against)
    policies = _candidates([find(each) for each in sharing], in_use)
    noisy = scenario.model_copy(update={"noise": scenario.noise or NOISE})
    seeds = range(scenario.seed, scenario.seed + variants)
    values = run_variants(noisy, policies, metric, seeds, executor("local", workers), progress)
    return judged(values, policies, in_use.label, goal, noisy.noise, scenario.noise == 0.0, seeds)


def usual_goal(scenario: Scenario) -> str:
    """What most want of a scenario: where jobs come and go few node-hours lost, else that none is held back much."""
    study = study_of(scenario, bounds=False)
    program = study.program
    together = bool(np.all(program.start == program.start[0]))
    stay = not program.windowed or bool(np.all(study.alone.completion >= program.end))
    return "min-yield" if together and stay else "node-hours"


def metric_for(goal: str) -> Metric:
    """What a goal is measured by.

    >>> metric_for("stretch").name, metric_for("stretch").best
    ('max_stretch', -1)
    """
    metric = TASK.metric(check_goal(goal))
    assert metric is not None  # a goal's metric is one of every run
    return metric


def enough_variants(events: int) -> int:
    """How many variants take some seconds if the runs of one have so many events in all.

    >>> enough_variants(1_000), enough_variants(300_000), enough_variants(10**9)
    (100, 66, 20)
    """
    return max(FEWEST, min(ENOUGH, _EVENTS // max(1, events)))


def judged(
    values: Floats, policies: Sequence[Sharing], against: str, goal: str, noise: float, assumed: bool, seeds: range
) -> Recommendation:
    """What a matrix of a metric says, a row for each variant and a column for each policy."""
    metric, half = metric_for(goal), len(values) // 2
    labels = [policy.label for policy in policies]
    simple, reference = _simplest_first(policies, against), labels.index(against)
    chosen = _best(values[:half], metric, simple)
    standings, gains = _standings(values[half:], labels, chosen, reference, metric)
    recommended = _recommended(standings, gains, chosen, reference, simple, metric)
    ranked = sorted(simple, key=lambda place: -metric.best * standings[place].mean.mean)
    return Recommendation(
        goal,
        metric,
        labels[chosen],
        labels[recommended],
        tuple(standings[place] for place in ranked),
        against,
        None if recommended == reference else gains[recommended],
        noise,
        assumed,
        seeds,
    )


def _candidates(asked: Sequence[Sharing], in_use: Sharing) -> list[Sharing]:
    """Each policy once, and what is in use now."""
    found: dict[str, Sharing] = {}
    for policy in asked:
        if found.setdefault(policy.label, policy) != policy:
            raise InvalidOption(f"two policies are called {policy.label}; nobody could tell which is meant")
    found.setdefault(in_use.label, in_use)
    if len(found) < 2:
        raise InvalidOption(f"there is only {in_use.label} to choose from; give another policy, too")
    return list(found.values())


def _recommended(
    standings: Sequence[PolicyStanding],
    gains: Sequence[Interval],
    chosen: int,
    reference: int,
    simple: Sequence[int],
    metric: Metric,
) -> int:
    """The simplest that may be as good as the one chosen. What is in use stays, or gives way to a better one only."""
    open_to = [place for place in simple if standings[place].verdict != WORSE]
    if reference in open_to:
        return reference
    return next((place for place in open_to if verdict(gains[place], metric.best) == BETTER), chosen)


def _simplest_first(policies: Sequence[Sharing], against: str) -> list[int]:
    """The policy in use first; then those that need not know the jobs, nor be asked more often, nor remember."""

    def effort(place: int) -> tuple[Any, ...]:
        policy = policies[place]
        needs = (policy.prepare is not None, policy.ticks is not no_ticks, policy.memory, len(policy.settings))
        return policy.label != against, *needs, place

    return sorted(range(len(policies)), key=effort)


def _best(values: Floats, metric: Metric, simple: Sequence[int]) -> int:
    """The column with the best mean; the simplest of several."""
    means = metric.best * values.mean(axis=0)
    best = means.max()
    return next(place for place in simple if best - means[place] <= NO_DIFFERENCE * abs(best))


def _standings(
    values: Floats, labels: Sequence[str], chosen: int, reference: int, metric: Metric
) -> tuple[list[PolicyStanding], list[Interval]]:
    """How each policy did, and what each has over the reference; all intervals come from one resampling."""
    columns = np.concatenate([values, _differences(values, chosen), _differences(values, reference)], axis=1)
    intervals, count = mean_intervals(columns), len(labels)
    means, apart, gains = (intervals[first : first + count] for first in (0, count, 2 * count))
    standings = [
        PolicyStanding(
            name,
            mean,
            difference,
            tally(column, values[:, chosen], metric.best),
            None if name == labels[chosen] else verdict(difference, metric.best),
        )
        for name, mean, difference, column in zip(labels, means, apart, values.T, strict=True)
    ]
    return standings, gains


def _differences(values: Floats, reference: int) -> Floats:
    """By how much each column is above that of the reference, variant by variant."""
    other = values[:, [reference]]
    # What differs by rounding alone does not differ.
    same = np.abs(values - other) <= NO_DIFFERENCE * np.maximum(np.abs(values), np.abs(other))
    return np.where(same, 0.0, values - other)


def _ends(name: str, interval: Interval | None) -> dict[str, float | None]:
    mean, low, high = interval or (None, None, None)
    return {name: mean, f"{name}_low": low, f"{name}_high": high}
