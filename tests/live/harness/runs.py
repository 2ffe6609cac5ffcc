"""Whole runs, as tests ask for them."""

from __future__ import annotations

import math
from dataclasses import replace

from penstock.policies.sharing import Sharing, find

from .crash import Death
from .judge import Judge
from .network import Weather
from .plan import Plan, Troubles, draw_plan
from .world import World

BLOCK = 25
POLICIES = tuple(find(name) for name in ("fair-share", "fcfs", "greedy-yield", "list-fifo"))


def run_world(
    plan: Plan, kind: type[World] = World, deaths: dict[int, Death] | None = None, judge: Judge | None = None
) -> Judge:
    """One run, judged."""
    judge = judge or Judge()
    kind(plan, judge, deaths).run()
    return judge


def run_seed(seed: int, kind: type[World] = World, judge: Judge | None = None) -> Judge:
    """The run of a seed."""
    return run_world(draw_plan(seed, POLICIES), kind, judge=judge)


def calm_plan(
    seed: int,
    seconds: float = 60.0,
    weather: Weather | None = None,
    partition: float = math.inf,
    policy: Sharing = POLICIES[0],
) -> Plan:
    """Nothing goes wrong but what is asked for."""
    plan = draw_plan(seed, [policy], seconds)
    return replace(
        plan,
        settings=replace(plan.settings, reserve="bounded"),
        weather=weather or Weather(),
        troubles=Troubles(partition=partition),
        busy=0.9,
        lazy=False,
    )
