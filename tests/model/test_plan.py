"""Plans: parsed, refused in a sentence, written and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InvalidScenario
from penstock.model import Plan, Scenario, load, load_plan, save, save_plan, with_plan
from penstock.model.plan_file import merged_plans

PLATFORM = {
    "bandwidth": 1,
    "targets": [{"name": "fast", "capacity": 2}, "slow"],
    "io_nodes": {"count": 2, "bandwidth": 1, "nodes": 3},
    "burst_buffer": {"capacity": 4},
}
JOBS: list[dict[str, Any]] = [
    {"name": "a", "phases": [{"write": 1}]},
    {"name": "b", "profile": {1: 1, 2: 2}, "phases": [{"write": 1}]},
    {"name": "c", "io_node": 1, "phases": [{"write": 1}]},
]


def machine(jobs: list[dict[str, Any]] | None = None, **plan: Any) -> Scenario:
    given = JOBS[:2] if jobs is None else jobs
    document: dict[str, Any] = {"version": 1, "platform": PLATFORM, "applications": given}
    return Scenario.from_document(document | ({"plan": plan} if plan else {}))


WHOLE: dict[str, Any] = {
    "mapping": {"a": 0, "b": 1},
    "allocation": {"a": 1, "b": 2},
    "placement": {"a": ["slow"], "b": ["fast", 1]},
    "sharing": {"default": "fcfs", "target": "greedy-yield", "io_node:1": "set-10"},
    "buffering": {"strategy": "fair", "shares": {"a": 0.25}, "lead": "forever", "capacity": "3 GB"},
}


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_a_plan_survives_its_file_and_its_scenario(tmp_path: Path, ending: str) -> None:
    scenario = machine(**WHOLE)
    save(scenario, tmp_path / f"whole.{ending}")
    assert load(tmp_path / f"whole.{ending}") == scenario
    assert scenario.plan is not None
    save_plan(scenario.plan, tmp_path / f"plan.{ending}")
    alone = load_plan(tmp_path / f"plan.{ending}")
    assert alone.model_copy(update={"version": None}) == scenario.plan
    # A scenario that has a plan is as good as a plan.
    assert load_plan(tmp_path / f"whole.{ending}") == scenario.plan
    assert with_plan(machine(), tmp_path / f"plan.{ending}").plan == alone


def test_policies_of_resources() -> None:
    plan = Plan(**WHOLE)
    asked = [("io_node:1", "io_node"), ("io_node:0", "io_node"), ("fast", "target"), ("buffer", "buffer")]
    assert [plan.policy_of(*each) for each in asked] == ["set-10", "fcfs", "greedy-yield", "fcfs"]
    assert Plan(sharing="fcfs").policy_of("fast", "target") == "fcfs"
    assert Plan().policy_of("fast", "target") == "fair-share"


def test_two_plans_together() -> None:
    first, second = Plan(mapping={"a": 0}, sharing="fcfs"), Plan(sharing="set-10", placement={"a": (0,)})
    both = merged_plans(first, second)
    assert (both.mapping, both.sharing, both.placement) == ({"a": 0}, "set-10", {"a": (0,)})
    assert merged_plans(None, second) == second


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"mapping": {"a": 2}}, "plan.mapping.a is 2; the platform has 2 I/O nodes"),
    ({"mapping": {"x": 0}}, "plan.mapping.x is for an application that is not there"),
    ({"mapping": 3}, "plan.mapping is 3; expected the name of a policy, or a table"),
    ({"mapping": {"a": -1}}, "plan.mapping.a is -1; a place is a whole number"),
    ({"mapping": {}}, "plan.mapping is an empty mapping"),
    ({"allocation": {"a": 3}}, "plan.allocation.a is 3; the platform has 2 targets"),
    ({"allocation": {"a": 1}, "placement": {"a": ["fast", "slow"]}}, "but placement gives 'a' 2 targets"),
    ({"placement": {"a": ["gone"]}}, "plan.placement.a[0] is 'gone'; a target is one of fast, slow"),
    ({"placement": {"a": [2]}}, "or a place from 0 to 1"),
    ({"placement": {"a": [0, 0]}}, "plan.placement.a has 0 twice"),
    ({"placement": {"a": ["fast", 0]}}, "has a target twice, by its name and by its place"),
    ({"placement": {"a": []}}, "plan.placement.a is an empty list"),
    ({"placement": {"a": [True]}}, "a target is a name, or a place"),
    ({"sharing": {"targte": "fcfs"}}, "did you mean 'target'?"),
    ({"sharing": " "}, "plan.sharing is empty"),
    ({"buffering": {"lead": "soon"}}, "plan.buffering.lead is 'soon'; a time is"),
    ({"buffering": {"shares": {"x": 1}}}, "plan.buffering.shares.x is for an application that is not there"),
    ({"buffer": "fair"}, "did you mean 'buffering'?"),
    ({"version": 2}, "plan.version is 2; this penstock reads version 1"),
]


@pytest.mark.parametrize(("plan", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_does_not_fit_is_refused_in_a_sentence(plan: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidScenario) as caught:
        machine(**plan)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_contradictions_are_refused() -> None:
    with pytest.raises(InvalidScenario, match="the application itself says io_node: 1"):
        machine(JOBS[2:], mapping={"c": 0})
    with pytest.raises(InvalidScenario, match="the profile of 'b' has 1, 3"):
        machine([JOBS[1] | {"profile": {1: 1, 3: 2}}], placement={"b": [0, 1]})
    bare = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": JOBS[:1]})
    given: dict[str, Any]
    for given in ({"mapping": {"a": 0}}, {"placement": {"a": [0]}}, {"buffering": "fair"}, {"allocation": "static"}):
        with pytest.raises(InvalidScenario, match="is given, but the platform has no"):
            with_plan(bare, Plan(**given))


def test_a_plan_of_earlier_versions_is_read(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text('{"version": 1, "allocation": "mckp", "placement": "mckp", "targets": {"a": ["slow"]}}')
    assert load_plan(file).placement == {"a": ("slow",)}
    file.write_text('{"targets": {"a": [1]}, "target_use": [{"name": "fast"}, {"name": "slow"}]}')
    assert load_plan(file).placement == {"a": ("slow",)}


def test_the_file_and_line_of_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text("version: 1\nmapping:\n  a: 0\n  b: 7\n")
    with pytest.raises(InvalidScenario, match=r"plan\.yaml:4: mapping\.b is 7"):
        with_plan(machine(), file)
    bare = tmp_path / "bare.yaml"
    save(machine(), bare)
    with pytest.raises(InvalidScenario, match="is a scenario without a plan"):
        load_plan(bare)
