"""Advice for a whole machine: all verdicts are those of runs with I/O nodes, buffer and targets."""

from __future__ import annotations

from typing import Any

import pytest
from pytest import approx

from penstock.advise import Advice, advise
from penstock.advise.machine import needs_plan, storage_bandwidth
from penstock.advise.sample import draws
from penstock.advise.site import scaled
from penstock.campaign.executor import Here
from penstock.model import Scenario
from penstock.studies.plans import plan_of_allotment
from penstock.studies.share import simulate
from penstock.studies.targets import allocate

DAY = 86_400.0
PROFILE = {1: 2.0, 2: 3.5, 4: 6.0}
PLATFORM = {
    "nodes": 12,
    "io_nodes": {"count": 2, "bandwidth": 6.0, "nodes": 6},
    "targets": [{"name": f"t{k}", "capacity": 3.0} for k in range(4)],
    "burst_buffer": {"capacity": 4000.0, "bandwidth": 20.0},
}
ROUNDS = 3


def machine(plan: Any = None, days: int = 4, **platform: Any) -> Scenario:
    """Some jobs a day, in pairs that meet on targets."""
    jobs = [
        {
            "name": f"d{day}j{i}",
            "nodes": 1 + i,
            "bandwidth": 8.0,
            "release": day * DAY + 40.0 * i,
            "profile": PROFILE,
            "phases": [{"compute": 900 + 37 * (day + i)}, {"write": 2500 + 300 * i}] * ROUNDS,
        }
        for day in range(days)
        for i in range(3)
    ]
    document = {"version": 1, "platform": {**PLATFORM, **platform}, "applications": jobs}
    return Scenario.from_document(document | ({"plan": plan} if plan else {}))


def placed(scenario: Scenario) -> dict[str, Any]:
    names = [each.name for each in scenario.applications]
    return {
        "mapping": {name: place % 2 for place, name in enumerate(names)},
        "placement": {name: ["t0", "t1"] for name in names},
        "buffering": {"shares": {name: 0.2 for name in names}},
    }


def quick(scenario: Scenario, **more: Any) -> Advice:
    return advise(scenario, sharing=["fcfs"], place=Here(), **more)


@pytest.fixture(scope="module")
def planned() -> Scenario:
    return machine(placed(machine()))


@pytest.fixture(scope="module")
def told(planned: Scenario) -> Advice:
    return quick(planned)


def test_what_is_lost_is_lost_on_the_whole_machine(planned, told):
    found = told.to_dict()
    whole = simulate(planned, "fair-share")
    assert whole.node_hours_lost > 0.5
    assert found["lost"]["node_hours"] == approx(whole.node_hours_lost)
    per_day = (whole.node_hours_lost - simulate(planned, "fcfs").node_hours_lost) / told.data.days
    (fcfs,) = (each for each in told.tried.policies if each.name == "fcfs")
    assert fcfs.node_hours_gain is not None and fcfs.node_hours_gain.value == approx(per_day, rel=1e-3)
    assert {"name": "plan", "value": "the scenario's", "origin": "given"} in found["assumptions"]


def test_targets_and_buffer_are_those_of_the_same_machine(planned, told):
    """A second run of each by hand: the largest buffer against none, and the targets of an allocation.

    All jobs end, so what is gained is what is used less, whatever a job would have alone under either plan.
    """
    assert told.targets is not None and told.buffer is not None
    largest = told.buffer.sizes[-1]
    assert largest.capacity == approx(12.0 * 7200.0)
    used = [_used(planned, {"buffering": {**_parts(planned), "capacity": size}}) for size in (0.0, largest.capacity)]
    assert largest.node_hours_gain is not None and largest.node_hours_gain.value > 0.0
    assert largest.node_hours_gain.value == approx((used[0] - used[1]) / told.data.days, rel=1e-3)
    plans = [plan_of_allotment(allocate(machine(), name, interval="all")) for name in ("static", "tcpu")]
    static, tcpu = (_used(planned, {"placement": plan.placement}) for plan in plans)
    (gained,) = (each for each in told.targets.policies.policies if each.name == "tcpu")
    assert gained.node_hours_gain is not None
    assert gained.node_hours_gain.value == approx((static - tcpu) / told.data.days, rel=1e-3)


def _parts(scenario: Scenario) -> dict[str, Any]:
    found: dict[str, Any] = placed(scenario)["buffering"]
    return found


def _used(scenario: Scenario, decided: dict[str, Any]) -> float:
    return simulate(machine(placed(scenario) | decided), "fair-share").node_hours_used


def test_a_machine_that_needs_a_plan_gets_what_it_does_unasked():
    assert needs_plan(machine()) and not needs_plan(machine(placed(machine())))
    found = quick(machine(days=1), buffer=False).to_dict()
    (plan,) = (each for each in found["assumptions"] if each["name"] == "plan")
    assert plan["origin"] == "assumed" and "in turn" in plan["value"]


def test_jobs_that_are_drawn_go_where_those_went_that_they_are_of(planned):
    (drawn,) = draws(planned, 1)
    assert drawn.plan is not None and isinstance(drawn.plan.mapping, dict)
    names = {each.name for each in drawn.applications}
    assert drawn.plan.mapping.keys() == drawn.plan.placement.keys() == names
    assert sum((drawn.plan.buffer.shares or {}).values()) == approx(0.2 * len(names))
    assert simulate(drawn).resources


def test_a_faster_file_system_is_so_in_all_its_parts(planned):
    assert storage_bandwidth(planned) == approx(12.0)
    assert storage_bandwidth(scaled(planned, 1.5, 1.0)) == approx(18.0)
    assert scaled(planned, 1.5, 1.0).applications[0].profile == {1: 3.0, 2: 5.25, 4: 9.0}


def test_the_policy_in_use_is_that_of_the_plan():
    shared = placed(machine(days=1)) | {"sharing": {"target": "greedy-yield", "default": "fcfs"}}
    told = quick(machine(shared, days=1), buffer=False)
    assert told.tried.against == "as planned" and [each.name for each in told.tried.policies] == ["as planned", "fcfs"]
    run = simulate(machine(shared, days=1))
    assert told.to_dict()["lost"]["node_hours"] == approx(run.node_hours_lost)
