"""The promise under faults, with agents: several members share a connection, programs go on by the segments of a dead
agent, and a new one replaces it. Each rule of that is needed: without it, the judge sees it.

SLICE seeds are in `make test`, the others in `make soak`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from live.harness.agents import AgentJudge, AgentWorld, Programs
from live.harness.judge import Violation
from live.harness.plan import Plan, draw_plan
from live.harness.runs import POLICIES

SLICE, RUNS = 12, 300


def plan_of(seed: int) -> Plan:
    """Any plan, in which agents die now and then, and words are late."""
    plan = draw_plan(seed, POLICIES, seconds=60.0)
    weather = replace(plan.weather, slow=max(plan.weather.slow, 0.1), slowest=max(plan.weather.slowest, 5.0))
    return replace(plan, troubles=replace(plan.troubles, death=min(plan.troubles.death, 15.0)), weather=weather)


def run_of(seed: int, world: type[AgentWorld] = AgentWorld) -> AgentJudge:
    judge = AgentJudge()
    world(plan_of(seed), judge).run()
    return judge


BLOCKS = [
    pytest.param(range(0, SLICE), id=f"0-{SLICE - 1}"),
    pytest.param(range(SLICE, RUNS), id=f"{SLICE}-{RUNS - 1}", marks=pytest.mark.soak),
]


@pytest.mark.parametrize("seeds", BLOCKS)
def test_the_bound_holds(seeds: Sequence[int]) -> None:
    seen: Counter[str] = Counter()
    for seed in seeds:
        judge = run_of(seed)
        assert judge.worst_allowed <= 1.0
        seen += judge.seen
    # A judge that sees nothing happen proves nothing.
    assert seen["replaced"] >= len(seeds) // 2
    assert seen["by a dead agent's segment"] >= len(seeds) and seen["without an agent"] >= len(seeds)


class WaitsForTheDead(Programs):
    """Goes by the rate in the segment for as long as its lease says, whether or not an agent lives."""

    def in_time(self) -> bool:
        return self.local < self.pacer.expiry


class LeaseWithoutEnd(Programs):
    """Goes by the rate in the segment for as long as an agent may live, whatever the lease says."""

    def in_time(self) -> bool:
        return self.local < self.alive_until


class UnpacedWithoutAgent(Programs):
    """Knows no fallback."""

    def _abandoned(self) -> None:
        self.pacer = msgspec.structs.replace(self.pacer, fallback=None)
        super()._abandoned()


class RegistersFirst(Programs):
    """The next agent tells the controller of itself, and leaves the segment as it found it until it has a phase."""

    def born(self) -> None:
        before = self.pacer if self.lives else None
        super().born()
        if before is not None and self.route is not None:
            self.pacer = before
            self._look_ahead()


SHOW = (0, 10, 19)  # seeds that showed these mistakes when this was written
MUTANTS = (WaitsForTheDead, LeaseWithoutEnd, UnpacedWithoutAgent, RegistersFirst)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_broken_rule_is_seen(mutant: type[Programs]) -> None:
    class Broken(AgentWorld):
        client_class = mutant

    for seed in sorted(range(RUNS), key=lambda seed: seed not in SHOW):
        try:
            run_of(seed, Broken)
        except Violation:
            return
    raise AssertionError("nobody saw it")
