"""Planning: what is open, what is tried, and that a plan is as good as it says, by the reference of the machine."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidOption
from penstock.model import Plan, Scenario
from penstock.model.needs import DECISIONS
from penstock.model.plain import plain
from penstock.model.plan import problems_with
from penstock.studies.planning import plan, search
from penstock.studies.planning.changes import changed
from penstock.studies.planning.draft import Task
from penstock.studies.planning.starts import fitting, longest_first, unasked
from reference import machine


def job(name, volume, *, compute=5.0, repeat=3, **more):
    phases = [{"repeat": repeat, "phases": [{"compute": compute}, {"write": volume}]}]
    return {"name": name, "nodes": 4, "phases": phases, **more}


def document(**more):
    """Two I/O nodes, three targets, a buffer, and four jobs of which two are heavy."""
    jobs = [
        job(name, volume, profile={1: 1.0, 2: 1.8, 3: 2.4}) for name, volume in zip("abcd", (9, 9, 2, 2), strict=True)
    ]
    platform = {
        "io_nodes": {"count": 2, "bandwidth": 2.0, "nodes": 64},
        "targets": 3,
        "burst_buffer": {"capacity": 6.0},
    }
    return {"version": 1, "platform": platform | more.pop("platform", {}), "applications": jobs} | more


def scenario(**more):
    return Scenario.from_document(document(**more))


def by_reference(given):
    """A run of the slow, obvious machine, in the form of a result."""
    decided = plain(given.plan)
    decided.pop("version", None)
    found = machine.simulate(plain(given), decided)
    found["applications"] = [SimpleNamespace(**row) for row in found["applications"]]
    return SimpleNamespace(**{key: value for key, value in found.items() if key != "trace"})


@pytest.fixture(autouse=True)
def slow_machine(monkeypatch):
    monkeypatch.setattr(search, "simulate", by_reference)


def test_all_five_are_open_where_nothing_is_decided():
    assert Task(scenario()).open == DECISIONS


def test_what_is_decided_stays():
    given = scenario(plan={"mapping": dict.fromkeys("abcd", 1), "sharing": {"target": "fcfs"}})
    task = Task(given)
    assert task.open == ("allocation", "placement", "buffering")
    assert task.plan_of(unasked(task)).mapping == dict.fromkeys("abcd", 1)
    assert task.plan_of(unasked(task)).sharing == {"target": "fcfs"}


def test_counts_that_are_decided_are_kept():
    task = Task(scenario(plan={"allocation": dict.fromkeys("abcd", 2)}))
    assert "allocation" not in task.open
    assert task.counts == ((2,),) * 4


def test_nothing_left_is_refused():
    tables = {"mapping": dict.fromkeys("abcd", 0), "placement": {name: [0] for name in "abcd"}}
    with pytest.raises(InvalidOption, match="nothing is left to decide"):
        plan(scenario(plan=tables | {"buffering": "fair", "sharing": "fcfs"}))


def test_unasked_is_what_machines_do():
    found = unasked(Task(scenario()))
    assert found.nodes == (0, 1, 0, 1)
    assert found.targets == ((0,), (1,), (2,), (0,))
    assert found.parts == (0.25,) * 4
    assert dict(found.sharing) == {"io_node": "fair-share", "target": "fair-share"}


def test_heavy_jobs_are_kept_apart():
    assert longest_first(Task(scenario())) in ((0, 1, 0, 1), (0, 1, 1, 0))


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_every_change_is_a_plan_that_fits(seed, steps):
    """And parts never add up to more than there is."""
    task, draw = Task(scenario()), np.random.default_rng(seed)
    draft = unasked(task)
    for _ in range(steps):
        draft = changed(task, draft, draw) or draft
        decided = task.plan_of(draft)
        assert not [*problems_with(decided, task.scenario)]
        assert sum(draft.parts) <= 1.0 + 1e-9
        assert all(part >= 0.0 for part in draft.parts)


def test_parts_are_scaled_down_only():
    assert fitting([0.2, 0.3]) == (0.2, 0.3)
    assert fitting([1.0, 3.0]) == (0.25, 0.75)


def test_a_plan_is_worth_what_it_says():
    """Run again, its value is found; it is never worse than with nothing decided."""
    found = plan(scenario(), trials=15, seed=3)
    again = by_reference(scenario(plan=plain(found.plan)))
    assert found.value == again.node_hours_lost
    assert found.value <= found.started <= found.unasked
    assert [each.decision for each in found.contributions] == list(DECISIONS)
    for each in found.contributions:
        assert each.worth == pytest.approx(each.without - found.value)


def test_counted_in_trials_it_is_the_same_every_time():
    one, other = (plan(scenario(), trials=12, seed=5) for _ in range(2))
    assert one == other


def test_a_metric_that_is_to_be_high_is_raised():
    found = plan(scenario(), goal="min-yield", trials=5)
    assert found.metric == "min_yield"
    assert found.value >= found.unasked
    assert all(each.worth == pytest.approx(found.value - each.without) for each in found.contributions)


def test_an_interrupt_keeps_the_best():
    seen = []

    def interrupt(trials, best, part):
        seen.append(best)
        if part:
            raise KeyboardInterrupt

    found = plan(scenario(), trials=1000, progress=interrupt)
    assert found.interrupted
    assert found.value == min(seen)
    assert found.trials < 60


def test_what_only_one_decision_can_help_is_credited_to_it():
    """Two jobs on one target of two: only the placement is open, and it is worth all of the difference."""
    jobs = [job(name, 9.0, compute=1.0, profile={1: 1.0}) for name in "ab"]
    given = {"version": 1, "platform": {"targets": 3}, "applications": [*jobs, job("c", 9.0, profile={3: 3.0})]}
    given["plan"] = {"sharing": "fair-share", "allocation": {"a": 1, "b": 1, "c": 3}}
    found = plan(Scenario.from_document(given), trials=10)
    assert [each.decision for each in found.contributions] == ["placement"]
    assert found.contributions[0].worth == pytest.approx(found.unasked - found.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"goal": "speed"}, "no goal is named 'speed'"),
        ({"trials": -1}, "-1 trials"),
        ({"seconds": -1.0}, "number ≥ 0"),
        ({"seed": -2}, "whole number ≥ 0"),
    ],
)
def test_what_is_refused(options, words):
    with pytest.raises(InvalidOption, match=words):
        plan(scenario(), **options)


def test_anew_nothing_that_was_given_counts():
    given = scenario(plan={"sharing": "fcfs", "mapping": dict.fromkeys("abcd", 1)})
    assert [each.decision for each in plan(given, anew=True).contributions] == list(DECISIONS)


def test_what_was_given_is_part_of_the_plan():
    assert plan(scenario(plan={"sharing": "fcfs"})).plan.sharing == "fcfs"
    assert isinstance(plan(scenario()).plan, Plan)
