"""Every task gives what the command of its name gives, and its metrics are the ones it declares."""

import gc
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from penstock import allocate, generate, optimum, pack, simulate
from penstock.campaign.case import Case
from penstock.campaign.tasks import TASKS, find_task
from penstock.model import Scenario
from penstock.studies.buffers import buffer
from penstock.studies.sizing import size_buffer

CHAINS = generate("chains", seed=1, m=3, n_min=1, n_max=2)
CHECKPOINTS = generate("checkpoints", seed=1)


CASES: dict[str, tuple[Scenario, dict[str, Any], Callable[[], Any]]] = {
    "simulate": (CHAINS, {"sharing": "fcfs"}, lambda: simulate(CHAINS, "fcfs")),
    "pack": (generate("packs", seed=2), {"sensitivity": "alpha"}, lambda: pack(generate("packs", seed=2), "alpha")),
    "allocate": (
        generate("targets", seed=3),
        {"allocation": "random", "placement": "random"},
        lambda: allocate(generate("targets", seed=3), "random", "random", seed=5),
    ),
    "size-buffer": (CHECKPOINTS, {"partition": "dynamic"}, lambda: size_buffer(CHECKPOINTS, "dynamic")),
    "buffer": (CHECKPOINTS, {"part": 0.5}, lambda: buffer(CHECKPOINTS, 0.5 * size_buffer(CHECKPOINTS, "static").size)),
    "optimum": (CHAINS, {"time_limit": 5}, lambda: optimum(CHAINS, 5.0)),
}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_gives_the_numbers_of_its_command(name):
    scenario, options, expected = CASES[name]
    task = find_task(name)
    chosen = task.options(**options)
    task.check(chosen)
    values: dict[str, Any] = dict(task.run(Case(scenario, 5), chosen))
    assert set(values) == {metric.name for metric in task.metrics} | set(task.lists) | {"seconds"}
    whole = expected()
    for metric in task.metrics:
        value = getattr(whole, metric.name)
        if metric.name == "infeasible":  # a campaign counts how often
            value = float(value is not None)
        assert values[metric.name] == (len(value) if isinstance(value, tuple) else value)
        assert set(metric.bounds) <= {each.name for each in task.metrics}
    assert any(metric.main for metric in task.metrics)
    for listed in task.lists:
        assert len(values[listed]) in (len(scenario.applications), 0)


def test_a_case_does_what_is_shared_once():
    case, made = Case(CHAINS, 1), count(7)
    assert [case.once("a", lambda: next(made)) for _ in range(3)] == [7, 7, 7]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_keeps_nothing_of_a_scenario(name):
    """Scenarios are large: what waits for the garbage collector would pile up over thousands of runs."""
    scenario, options, _ = CASES[name]
    task = find_task(name)
    gc.disable()
    try:
        copy = scenario.model_copy()
        task.run(Case(copy, 5), task.options(**options))
        kept = weakref.ref(copy)
        del copy
        assert kept() is None
    finally:
        gc.enable()
