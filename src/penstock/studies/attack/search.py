"""The search for the scenario on which a policy is worst against another: the Python face of `penstock attack`.

A third of the budget goes to scenarios drawn at random, the rest to changes of the worst ones found so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from penstock.errors import InvalidOption, PenstockError, PolicyError
from penstock.model import Scenario
from penstock.policies.sharing import find
from penstock.policies.sharing.policy import Sharing
from penstock.studies.attack.draws import CLOSED, KINDS, Document, changed, drawn
from penstock.studies.share import run_study
from penstock.studies.study import Policy, Study

BUDGET = 2_000
MOST_BUDGET = 10_000_000
_KEPT = 8  # of the worst found so far, from which the search goes on
_LITTLE = 0.01  # a yield below this is nearly none: 0 against 0.001 is no great find

Progress = Callable[[int, float], None]  # (scenarios tried, lowest ratio so far)


class _Found(NamedTuple):
    score: float
    min_yield: float
    other: float
    document: Document


@dataclass(frozen=True)
class Attack:
    """The scenario found, and the minimum yields of both policies on it."""

    policy: str
    against: str
    jobs: str  # closed, or arrivals
    min_yield: float
    min_yield_against: float
    tried: int
    seed: int
    scenario: Scenario = field(repr=False)

    @property
    def ratio(self) -> float:
        """The minimum yield of the policy over that of the other; 1 where both are 0."""
        if self.min_yield_against == 0.0:
            return 1.0
        return self.min_yield / self.min_yield_against

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return self.figures() | {"scenario": self.scenario.to_document()}

    def figures(self) -> dict[str, Any]:
        """What was found, without the scenario."""
        return {
            "policy": self.policy,
            "against": self.against,
            "jobs": self.jobs,
            "ratio": self.ratio,
            "min_yield": self.min_yield,
            "min_yield_against": self.min_yield_against,
            "tried": self.tried,
            "seed": self.seed,
        }

    def kept(self) -> Scenario:
        """The scenario, with what was found on it among the words on where it comes from."""
        return Scenario.from_document(self.scenario.to_document() | {"provenance": {"attack": self.figures()}})


def attack(
    policy: Policy,
    against: Policy = "fair-share",
    *,
    jobs: str = CLOSED,
    budget: int = BUDGET,
    seed: int = 0,
    progress: Progress | None = None,
) -> Attack:
    """The small scenario on which `policy` has the lowest minimum yield against that of `against`.

    `jobs` is "closed" (all are there from the begin to the end of a window, some with a past) or "arrivals" (they come
    and go, and run to their ends). `budget` scenarios are tried, drawn from `seed`: the same of both find the same one.

    >>> from penstock import attack
    >>> found = attack("fcfs", "greedy-yield", budget=60)
    >>> found.ratio <= 1.0, len(found.scenario.applications) <= 6
    (True, True)
    """
    if jobs not in KINDS:
        raise InvalidOption(f"jobs are {jobs!r}; accepted is {' or '.join(KINDS)}")
    if not 1 <= budget <= MOST_BUDGET:
        raise InvalidOption(f"the budget is {budget} scenarios; accepted is 1 to {MOST_BUDGET:,}")
    both = find(policy), find(against)
    draw = np.random.default_rng(seed)
    worst: list[_Found] = []
    refusal: PenstockError | None = None
    for tried in range(budget):
        fresh = not worst or tried < budget // 3
        document = drawn(draw, jobs) if fresh else changed(draw, worst[_early(draw, len(worst))].document, jobs)
        try:
            worst = _kept([*worst, _judged(document, *both)])
        except PolicyError as error:
            refusal = error
        if progress is not None and worst:
            progress(tried + 1, worst[0].score)
    if not worst:
        raise InvalidOption(f"no scenario could be run under both policies; {refusal}")
    best = worst[0]
    scenario = Scenario.from_document(best.document)
    return Attack(both[0].label, both[1].label, jobs, best.min_yield, best.other, budget, seed, scenario)


def _judged(document: Document, policy: Sharing, against: Sharing) -> _Found:
    """Run a scenario under both."""
    study = Study(Scenario.from_document(document), bounds=False)
    own, other = (run_study(study, each).min_yield for each in (policy, against))
    return _Found((own + _LITTLE) / (other + _LITTLE), own, other, document)


def _kept(found: list[_Found]) -> list[_Found]:
    """The worst, each once."""
    ordered = sorted(found, key=lambda each: each.score)
    return [each for i, each in enumerate(ordered) if i == 0 or each.score > ordered[i - 1].score][:_KEPT]


def _early(draw: np.random.Generator, count: int) -> int:
    """A place in a list, the first ones more often."""
    return int(count * draw.random() ** 2)
