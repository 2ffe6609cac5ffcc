"""The loop of a whole machine: equal to the special loops where these suffice, and keeping its promises elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.machine.scenarios import machine
from penstock import Result, Scenario, simulate
from penstock.engine.machine.execution import execute_machine
from penstock.engine.machine.network import targets_of
from penstock.policies.sharing import find
from penstock.studies.machine import MachineStudy, as_link, run_plan
from penstock.studies.machine import run as machine_run

POLICIES = (
    "fair-share",
    "fcfs",
    "greedy-yield",
    "greedy-com",
    "set-10",
    "list-fifo",
    "periodic-greedy-yield(delta=0.7)",
)
RUN_OF_ITS_OWN = {"events", "seconds", "sharing", "resources", "worst"}


def figures(result: Result) -> dict[str, Any]:
    """All numbers of a result but those that tell how it was computed; what nobody has is no number."""
    plain = result.to_dict()
    flat: dict[str, Any] = {key: plain[key] for key in plain if key not in RUN_OF_ITS_OWN | {"applications"}}
    for row in plain["applications"]:
        flat |= {f"{row['name']}.{key}": value for key, value in row.items() if key != "name"}
    return {key: np.nan if value is None else float(value) for key, value in flat.items()}


def assert_same(one: Result, other: Result, leaving_out: tuple[str, ...] = ()) -> None:
    first, second = figures(one), figures(other)
    keys = [key for key in first if key not in leaving_out]
    assert [second[key] for key in keys] == pytest.approx([first[key] for key in keys], rel=1e-9, abs=1e-9, nan_ok=True)


BOUNDS = ("bound_min_yield", "bound_interval", "distance_to_bound", "pressure")


@pytest.mark.parametrize("policy", [*POLICIES, "lookahead-greedy-yield", "list-most-remaining", "steady-reserve"])
@pytest.mark.parametrize("seed", range(4))
def test_one_bandwidth_is_as_on_its_own_loop(policy: str, seed: int) -> None:
    scenario = machine(seed, links=("bandwidth",))
    study = MachineStudy(scenario)
    assert as_link(study, policy) is not None
    assert_same(simulate(scenario, policy), run_plan(study, policy), BOUNDS)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(4))
def test_io_nodes_are_as_separate_runs(policy: str, seed: int) -> None:
    scenario = machine(seed, io=True)
    study = MachineStudy(scenario)
    assert as_link(study, policy) is not None
    assert_same(simulate(scenario, policy), run_plan(study, policy), BOUNDS)


@pytest.mark.parametrize("policy", ["fair-share", "fcfs"])
@pytest.mark.parametrize("seed", range(8))
def test_targets_are_as_on_their_own_loop(policy: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    study = MachineStudy(machine(seed, targets=True))
    special = run_plan(study, policy)
    monkeypatch.setattr(machine_run, "targets_alone", lambda *_: False)
    general = run_plan(study, policy)
    assert_same(special, general)
    assert special.resources is not None and general.resources is not None
    for one, other in zip(special.resources, general.resources, strict=True):
        assert (other.busy, other.moved) == pytest.approx((one.busy, one.moved), rel=1e-9, abs=1e-9)


def test_a_plan_of_one_bandwidth_changes_nothing() -> None:
    scenario = machine(3, links=("bandwidth",))
    bare = scenario.model_copy(update={"plan": None})
    for policy in POLICIES:
        with_plan, without = simulate(scenario, policy).to_dict(), simulate(bare, policy).to_dict()
        assert with_plan | {"seconds": 0} == without | {"seconds": 0}


WHOLE: list[dict[str, Any]] = [
    {"io": True, "targets": True},
    {"io": True, "targets": True, "capacity": True, "links": ("write_bandwidth", "read_bandwidth")},
    {"io": True, "links": ("bandwidth", "write_bandwidth", "read_bandwidth")},
    {"targets": True, "capacity": True, "links": ("write_bandwidth",)},
]


@pytest.mark.parametrize("kinds", WHOLE, ids=["io-targets", "all", "links", "capacities"])
@pytest.mark.parametrize("policy", POLICIES)
def test_bytes_are_conserved_and_nobody_is_better_off_than_alone(kinds: dict[str, Any], policy: str) -> None:
    for seed in range(3):
        scenario = machine(seed, **kinds)
        result = simulate(scenario, policy)
        moved = sum(each.transferred for each in result.applications)
        assert result.resources is not None
        for kind in ("io_node", "target"):
            through = sum(each.moved for each in result.resources if each.kind == kind)
            if kinds.get({"io_node": "io", "target": "targets"}[kind]):
                assert through == pytest.approx(moved, rel=1e-9)
        assert all(0 <= each.busy <= result.end * (1 + 1e-9) for each in result.resources)
        # Flows of unequal peaks behind one I/O node speed up when the first of them ends: they get more than n·min w.
        if not any(target.bandwidth for target in targets_of(scenario)) and not kinds.get("capacity"):
            assert all(0.0 <= each.yield_ <= 1 + 1e-9 for each in result.applications)


def renamed(scenario: Scenario, order: list[int]) -> Scenario:
    """The same scenario with its applications and its targets in another order."""
    document = scenario.to_document()
    document["applications"] = [document["applications"][place] for place in order]
    targets = document["platform"]["targets"]
    names = [each if isinstance(each, str) else each["name"] for each in targets]
    document["plan"]["placement"] = {
        name: [names[place] for place in chosen] for name, chosen in document["plan"]["placement"].items()
    }
    document["platform"]["targets"] = targets[::-1]
    return Scenario.from_document(document | {"noise": 0})


@pytest.mark.parametrize("policy", ["fair-share", "greedy-yield", "fcfs"])
def test_the_order_of_resources_and_applications_does_not_matter(policy: str) -> None:
    for seed in range(4):
        scenario = machine(seed, io=True, targets=True, capacity=True)
        plain = Scenario.from_document(scenario.to_document() | {"noise": 0})
        # Different releases: ties are broken by the order in the scenario, which is what is changed here.
        update = tuple(
            each.model_copy(update={"release": 0.37 * place}) for place, each in enumerate(plain.applications)
        )
        plain = plain.model_copy(update={"applications": update})
        count = len(plain.applications)
        one, other = simulate(plain, policy), simulate(renamed(plain, list(range(count))[::-1]), policy)
        by_name = {each.name: each for each in other.applications}
        for each in one.applications:
            assert by_name[each.name].yield_ == pytest.approx(each.yield_, rel=1e-9)


def test_a_policy_that_gives_what_is_not_there_is_named() -> None:
    scenario = machine(0, io=True, targets=True)

    def greedy(view: Any, rates: Any) -> None:
        for row in range(rates.size):
            rates[row] = 2.0 * view.limit[row]

    with pytest.raises(Exception, match=r"sharing policy 'greedy', at t = .* on '"):
        simulate(scenario, greedy)


def test_every_resource_has_its_own_policy() -> None:
    scenario = machine(2, io=True, targets=True)
    table = {"io_node": "greedy-yield", "ost0": "fcfs", "default": "fair-share"}
    plan = scenario.plan
    assert plan is not None
    own = scenario.model_copy(update={"plan": plan.model_copy(update={"sharing": table})})
    result = simulate(own)
    assert result.sharing == "greedy-yield + fcfs + fair-share"
    study = MachineStudy(own)
    policies = [find(table.get(each.name, table.get(each.kind, "fair-share"))) for each in study.resources]
    run = execute_machine(study.program, study.kind, study.network, study.resources, policies).run
    assert run.transferred.sum() == pytest.approx(sum(each.transferred for each in result.applications))
