"""Planning: the best of what the papers' policies say, then a local search over runs of the whole machine.

First every decision is as a machine does it unasked. Then what the papers' policies say for one decision after the
other is tried and kept if it is better; so a mapping is chosen for the targets that are there, and sharing for both.
Then single changes are tried by late acceptance, for so many seconds or trials. Every trial is a run of all of it, and
all of them are judged by one yardstick.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import isinf

import numpy as np

from penstock.errors import InvalidOption
from penstock.metrics.goals import GOALS, LOWERED, check_goal, cost_of
from penstock.metrics.result import Result
from penstock.model.load import ScenarioLike, as_scenario
from penstock.model.needs import BUFFERING, MAPPING, PLACEMENT, SHARING
from penstock.model.plan_file import with_plan
from penstock.studies.late_acceptance import BLIND, LateAcceptance
from penstock.studies.planning.changes import changed, resized
from penstock.studies.planning.draft import Draft, Task
from penstock.studies.planning.result import Contribution, Planned
from penstock.studies.planning.starts import in_turn, own_draft, proposals, unasked
from penstock.studies.planning.yardstick import Yardstick
from penstock.studies.share import simulate

NODE_HOURS = "node-hours"
OWN = "the scenario's own plan"
_PATIENCE = 40  # steps without anything better, and 10 more per application, before it starts again from the best
_HOPELESS = 10_000  # changes in a row that are not possible

Progress = Callable[[int, float, float | None], None]  # (trials, best so far, part of the time or of the trials)


def plan(
    scenario: ScenarioLike,
    *,
    goal: str = NODE_HOURS,
    seconds: float = 0.0,
    trials: int | None = None,
    seed: int | None = None,
    anew: bool = False,
    progress: Progress | None = None,
) -> Planned:
    """Decide what the plan of `scenario` leaves open: mapping, targets, parts of the buffer, sharing.

    `anew`: decide all of it, whatever its own plan says; that one is tried, too.

    `goal` is what it is chosen for (`penstock.metrics.goals.GOALS`). After the papers' policies it searches for so many
    `seconds`, or for `trials` runs: then the same seed finds the same plan every time. An interrupt (Ctrl-C) ends the
    search, and the best so far is the answer.
    """
    check_goal(goal)
    if not seconds >= 0.0:
        raise InvalidOption(f"improving takes {seconds!r} seconds; accepted is a number ≥ 0")
    if trials is not None and trials < 0:
        raise InvalidOption(f"{trials} trials are asked for; accepted is a number ≥ 0")
    given = as_scenario(scenario)
    task = Task(given.model_copy(update={"plan": None}) if anew else given)
    drawn = task.scenario.seed if seed is None else seed
    if drawn < 0:
        raise InvalidOption(f"seed is {drawn}; a seed is a whole number ≥ 0")
    search = _Search(task, goal, drawn, progress or _silent)
    own = own_draft(task, given.plan) if anew and given.plan is not None else None
    interrupted = True
    with suppress(KeyboardInterrupt):
        search.start(own)
        search.improve(seconds, trials)
        interrupted = False
    contributions = search.contributions()
    return Planned(
        goal=goal,
        metric=GOALS[goal],
        yardstick=search.yardstick.stated(),
        value=search.metric(search.best_cost),
        unasked=search.metric(search.unasked_cost),
        started=search.metric(search.started_cost),
        start=search.chosen,
        trials=search.trials,
        searched=search.searched,
        seed=drawn,
        interrupted=interrupted,
        plan=task.plan_of(search.best),
        contributions=contributions,
        result=search.best_result,
    )


def _silent(trials: int, best: float, part: float | None) -> None:
    """Nobody watches."""


class _Search:
    """Where a search stands, and the best it has seen."""

    def __init__(self, task: Task, goal: str, seed: int, progress: Progress) -> None:
        self.task, self.goal, self.progress = task, goal, progress
        self.draw = np.random.default_rng(seed)
        self.trials = 0
        self.searched = 0  # of them by `improve`
        self.yardstick = Yardstick(task)
        self._value = 0.0  # of the last trial
        self.chosen: tuple[str, ...] = ()
        self.best = unasked(task)
        self.best_result = self._run(self.best)
        self.best_cost = self.unasked_cost = self.started_cost = self._cost(self.best_result)

    def metric(self, cost: float) -> float | None:
        """A cost as the goal's metric; None where it does not apply."""
        if isinf(cost):
            return None
        return cost if GOALS[self.goal] in LOWERED else -cost

    def _run(self, draft: Draft) -> Result:
        self.trials += 1
        return simulate(with_plan(self.task.scenario, self.task.plan_of(draft)))

    def _cost(self, result: Result) -> float:
        return cost_of(self.yardstick.judged(result), self.goal)

    def _try(self, draft: Draft) -> bool:
        """Run a draft; whether it is the best so far."""
        result = self._run(draft)
        cost = self._cost(result)
        better = cost < self.best_cost
        if better:
            self.best, self.best_result, self.best_cost = draft, result, cost
        self._value = cost
        return better

    def start(self, own: Draft | None) -> None:
        """What the papers' policies say, from what is there unasked; and from `own`, if that is better still."""
        self._propose()
        if own is not None and self._try(own):
            self.chosen = (OWN,)
            self._propose()
        self.started_cost = self.best_cost

    def _propose(self) -> None:
        """What the papers' policies say for one decision after the other, each kept if it is better."""
        for decision in self.task.open:
            kept = None
            for name, draft in proposals(self.task, self.best, decision):
                self.progress(self.trials, self.best_cost, None)
                kept = name if self._try(draft) else kept
            self.chosen += () if kept is None else (kept,)

    def improve(self, seconds: float, trials: int | None) -> None:
        """Single changes, by late acceptance, until the time or the trials are over."""
        begun, first, idle = time.monotonic(), self.trials, 0
        late, now = LateAcceptance(self.best_cost), self.best
        while idle < _HOPELESS and (part := self._part(begun, seconds, self.trials - first, trials)) < 1.0:
            self.progress(self.trials, self.best_cost, part)
            draft = changed(self.task, now, self.draw)
            if draft is None:
                idle += 1
                continue
            idle = 0
            self._try(draft)
            self.searched += 1
            verdict = late.judge(self._value, _PATIENCE + 10 * len(self.task.applications))
            now = draft if verdict.taken else now
            if verdict.stuck:
                now = self._near_the_best()
                late.start_again()

    def _part(self, begun: float, seconds: float, tried: int, trials: int | None) -> float:
        """How much of the search is over; with a number of trials time plays no part."""
        if trials is not None:
            return tried / trials if trials else 1.0
        return (time.monotonic() - begun) / seconds if seconds else 1.0

    def _near_the_best(self) -> Draft:
        found = self.best
        for _ in range(BLIND):
            found = changed(self.task, found, self.draw) or found
        return found

    def contributions(self) -> tuple[Contribution, ...]:
        """What the plan comes to with each decision put back to what it is unasked.

        Where that is better, it is the plan, and the question is asked again: no decision is worth less than nothing.
        """
        while True:
            found, before = [], self.best_cost
            for decision in self.task.open:
                words, draft = self._without(decision)
                if draft != self.best and self._try(draft):
                    break
                cost = before if draft == self.best else self._value
                worth = None if isinf(cost) or isinf(before) else cost - before
                found.append(Contribution(decision, words, self.metric(cost), worth))
            else:
                return tuple(found)

    def _without(self, decision: str) -> tuple[str, Draft]:
        """The best plan without one decision, and what is there instead, in words."""
        task, best, plain = self.task, self.best, unasked(self.task)
        if decision == MAPPING:
            return "I/O nodes in turn", replace(best, nodes=plain.nodes)
        if decision == BUFFERING:
            return "equal parts", replace(best, parts=plain.parts)
        if decision == SHARING:
            return "fair-share", replace(best, sharing=plain.sharing)
        targets = list(best.targets or ())
        if decision == PLACEMENT:
            return "as many, in turn", replace(best, targets=in_turn(task, [len(places) for places in targets]))
        for i, counts in enumerate(task.counts):
            targets[i] = resized(task, targets, i, counts[0])
        return "as few as can be", replace(best, targets=tuple(targets))
