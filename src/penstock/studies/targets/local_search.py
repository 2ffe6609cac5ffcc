"""A local search: change the numbers and places of targets a little, run, and keep what is better.

A step gives one application another number of targets, moves one of its transfers to another target, or lets two
applications exchange a target. What is accepted is decided by late acceptance.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats, Ints
from penstock.model.load import ScenarioLike, as_scenario
from penstock.policies.allocation.demand import Demand
from penstock.policies.sharing import Sharing, find
from penstock.studies.late_acceptance import BLIND, LateAcceptance
from penstock.studies.target_words import IDLE, OBJECTIVES, SLOWDOWN
from penstock.studies.targets.allotments import checked_seed, planned
from penstock.studies.targets.arrangement import Arrangement, target_stress
from penstock.studies.targets.execution import TargetsOutcome, fare
from penstock.studies.targets.measure import measured
from penstock.studies.targets.result import Allotment
from penstock.studies.targets.site import Site

_PATIENCE = 20  # steps without anything better, and 10 more per application, before it starts again from the best
_HOPELESS = 10_000  # changes in a row that are not possible: there is nothing to change

Progress = Callable[[int, float, float], None]  # (runs so far, best so far, part of the time)


def improve(
    scenario: ScenarioLike,
    start: Allotment,
    *,
    seconds: float = 10.0,
    objective: str = SLOWDOWN,
    sharing: str | Sharing | Callable[..., None] | None = None,
    seed: int | None = None,
    most_runs: int | None = None,
    progress: Progress | None = None,
) -> Allotment:
    """Lower an objective of `start`, an allotment of `scenario`, for so many seconds or runs of the engine.

    `objective` is "slowdown" (the mean I/O slowdown) or "idle" (the machine's idle time); `sharing` is that of `start`
    unless it is given. The result is never worse than `start`. With `most_runs` and the same seed, it is the same every
    time.
    """
    if objective not in OBJECTIVES:
        raise InvalidOption(f"objective is {objective!r}; accepted is slowdown or idle")
    if not seconds >= 0.0:
        raise InvalidOption(f"improving takes {seconds!r} seconds; accepted is a number ≥ 0")
    site, policy = Site(as_scenario(scenario)), find(start.sharing if sharing is None else sharing)
    first = planned(site, {each.name: each.targets for each in start.applications})
    out = np.array([place for place, target in enumerate(start.targets) if not target.in_service], dtype=np.int64)
    seed = checked_seed(start.seed if seed is None else seed)
    search = _Search(site, policy, objective, start.until, out, first, seed)
    begun = time.monotonic()
    while search.runs != most_runs and search.idle < _HOPELESS and (spent := time.monotonic() - begun) < seconds:
        search.step()
        if progress is not None:
            progress(search.runs, search.late.best, spent / seconds)
    names = ("allocation", "placement", "knowledge", "error", "seed")
    about = {name: getattr(start, name) for name in names} | {"sharing": policy.label, "runs": search.runs}
    return measured(site, search.best, search.best_fared, out, **about)


class _Search:
    """Where a search stands, and the best it has seen."""

    def __init__(
        self,
        site: Site,
        policy: Sharing,
        objective: str,
        interval: str,
        out: Ints,
        start: Arrangement,
        seed: int,
    ) -> None:
        self.site, self.policy, self.objective, self.interval = site, policy, objective, interval
        self.draw = np.random.default_rng(seed)
        self.serving = np.setdiff1d(np.arange(site.demand.targets), out)
        self.now, self.best = start, start
        self.best_fared = fare(site, start, policy, interval)
        self.late = LateAcceptance(self._value(self.best_fared))
        self.idle = 0  # changes in a row that were not possible

    @property
    def runs(self) -> int:
        """How often the engine ran, besides the start."""
        return self.late.steps

    def step(self) -> None:
        """Try one change."""
        changed = self._changed()
        if changed is None:
            self.idle += 1
            return
        self.idle = 0
        fared = fare(self.site, changed, self.policy, self.interval)
        verdict = self.late.judge(self._value(fared), _PATIENCE + 10 * changed.option.size)
        if verdict.taken:
            self.now = changed
        if verdict.better:
            self.best, self.best_fared = changed, fared
        elif verdict.stuck:
            self._start_again()

    def _start_again(self) -> None:
        self.now = self.best
        for _ in range(BLIND):
            self.now = self._changed() or self.now
        self.late.start_again()

    def _value(self, fared: TargetsOutcome) -> float:
        if self.objective == IDLE:
            return fared.machine_idletime
        mean = fared.mean_io_slowdown
        return np.inf if mean is None else mean

    def _changed(self) -> Arrangement | None:
        """The arrangement with one change drawn at random; None if that is not possible."""
        demand = self.site.demand
        option, places = self.now.option.copy(), self.now.of_each(demand)
        i = int(self.draw.integers(option.size))
        change = (self._resize, self._move, self._exchange)[self.draw.integers(3)]
        if not change(demand, option, places, i):
            return None
        return Arrangement(option, np.concatenate(places))

    def _resize(self, demand: Demand, option: Ints, places: list[Ints], i: int) -> bool:
        """The next smaller or larger number of targets: the most stressed leave, the least stressed come."""
        option[i] += self.draw.choice((-1, 1))
        if not demand.first[i] <= option[i] < demand.first[i + 1] or demand.count[option[i]] > self.serving.size:
            return False
        stress = target_stress(demand, self.now, during=i)
        count = demand.count[option[i]]
        if count < places[i].size:
            places[i] = np.sort(self._by_stress(stress, places[i])[:count])
        else:
            others = self._by_stress(stress, np.setdiff1d(self.serving, places[i]))
            places[i] = np.sort(np.concatenate([places[i], others[: count - places[i].size]]))
        return True

    def _by_stress(self, stress: Floats, targets: Ints) -> Ints:
        return targets[np.argsort(stress[targets], kind="stable")]

    def _move(self, demand: Demand, option: Ints, places: list[Ints], i: int) -> bool:
        """One transfer to another target."""
        others = np.setdiff1d(self.serving, places[i])
        if others.size == 0:
            return False
        places[i] = _replaced(places[i], self.draw.choice(places[i]), self.draw.choice(others))
        return True

    def _exchange(self, demand: Demand, option: Ints, places: list[Ints], i: int) -> bool:
        """A target against one of another application's."""
        j = int(self.draw.integers(option.size))
        mine, theirs = np.setdiff1d(places[i], places[j]), np.setdiff1d(places[j], places[i])
        if mine.size == 0 or theirs.size == 0:
            return False
        given, taken = self.draw.choice(mine), self.draw.choice(theirs)
        places[i], places[j] = _replaced(places[i], given, taken), _replaced(places[j], taken, given)
        return True


def _replaced(places: Ints, old: int, new: int) -> Ints:
    return np.sort(np.where(places == old, new, places))
