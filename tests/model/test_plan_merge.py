"""Plans taken together: by decision and by key, and contradictions named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InvalidScenario
from penstock.model import Buffering, Plan, Scenario, with_plan
from penstock.model.plan_merge import joined_plans, merged_plans

ONE = Plan(
    mapping={"a": 0}, start={"a": 3.0}, sharing={"io_node": "list-fifo"}, buffering=Buffering(capacity=2.0, lead=5.0)
)
OTHER = Plan(
    mapping={"b": 1},
    placement={"a": (0,), "b": (1,)},
    sharing={"target": "fcfs", "io_node": "list-fifo"},
    buffering=Buffering(shares={"a": 0.5}, capacity=2.0),
)


def test_all_that_both_say_is_said() -> None:
    found = joined_plans([("one.yaml", ONE), ("other.yaml", OTHER)])
    assert found.mapping == {"a": 0, "b": 1}
    assert found.start == {"a": 3.0}
    assert found.placement == {"a": (0,), "b": (1,)}
    assert found.sharing == {"io_node": "list-fifo", "target": "fcfs"}
    assert found.buffer == Buffering(shares={"a": 0.5}, capacity=2.0, lead=5.0)


def test_the_order_does_not_matter() -> None:
    plans = [("one.yaml", ONE), ("other.yaml", OTHER)]
    assert joined_plans(plans) == joined_plans(plans[::-1])


def test_one_policy_for_everything_is_that_of_everything_else() -> None:
    found = joined_plans([("x", Plan(sharing="fcfs")), ("y", Plan(sharing={"target": "greedy-yield"}))])
    assert found.sharing == {"default": "fcfs", "target": "greedy-yield"}


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ({"mapping": {"a": 0}}, {"mapping": {"a": 1}}, "mapping.a is 0 in the one and 1 in the other"),
        ({"sharing": "fcfs"}, {"sharing": "set-10"}, "sharing.default is 'fcfs' in the one and 'set-10' in the other"),
        ({"mapping": "easy"}, {"mapping": {"a": 1}}, "mapping is a table in y.yaml and a policy in x.yaml"),
        ({"mapping": {"a": 1}}, {"mapping": "easy"}, "mapping is a table in x.yaml and a policy in y.yaml"),
        ({"mapping": "easy"}, {"mapping": "backfill"}, "mapping is 'easy' in the one and 'backfill' in the other"),
        (
            {"placement": {"a": [0, 1]}},
            {"placement": {"a": [1, 2]}},
            r"placement.a is \[0, 1\] in the one and \[1, 2\] in the other",
        ),
        (
            {"buffering": {"shares": {"a": 0.5}}},
            {"buffering": {"shares": {"a": 0.25}}},
            "buffering.shares.a is 0.5 in the one and 0.25 in the other",
        ),
    ],
)
def test_contradictions_name_both(one: dict[str, Any], other: dict[str, Any], words: str) -> None:
    plans = [("x.yaml", Plan(**one)), ("y.yaml", Plan(**other))]
    with pytest.raises(InvalidScenario, match=f"x.yaml and y.yaml contradict each other: {words}; keep one of them"):
        joined_plans(plans)


def test_counts_of_one_and_places_of_another_must_agree() -> None:
    plans = [("x.yaml", Plan(allocation={"a": 2})), ("y.yaml", Plan(placement={"a": (0,)}))]
    with pytest.raises(InvalidScenario, match=r"x.yaml and y.yaml: allocation.a is 2, but placement gives 'a' 1"):
        joined_plans(plans)


def test_the_second_wins_where_it_is_asked_to() -> None:
    found = merged_plans(ONE, OTHER.model_copy(update={"sharing": {"io_node": "fcfs"}}))
    assert found.sharing == {"io_node": "fcfs"}
    assert found.mapping == {"a": 0, "b": 1}
    assert found.buffer == Buffering(shares={"a": 0.5}, capacity=2.0, lead=5.0)
    assert merged_plans(ONE, Plan(buffering=Buffering(capacity=0.0))).buffer.capacity == 0.0
    assert merged_plans(ONE, Plan(sharing="fcfs")).sharing == "fcfs"


SCENARIO = """\
version: 1
platform: {bandwidth: 1, io_nodes: {count: 2, bandwidth: 1, nodes: 4}}
applications:
  - {name: a, phases: [{write: 2}]}
  - {name: b, phases: [{write: 2}]}
plan:
  sharing: fcfs
  mapping:
    a: 0
    b: 7
"""


def test_a_place_in_a_scenario_that_has_a_plan_has_its_line(tmp_path: Path) -> None:
    """It was that of the same key at the top, or none."""
    (tmp_path / "has.yaml").write_text(SCENARIO)
    scenario = Scenario.from_document(
        {
            "version": 1,
            "platform": {"io_nodes": {"count": 2, "bandwidth": 1, "nodes": 4}},
            "applications": [{"name": name, "io_node": 0, "phases": [{"write": 2}]} for name in "ab"],
        }
    )
    with pytest.raises(InvalidScenario, match=r"has\.yaml:10: mapping\.b is 7; the platform has 2 I/O nodes"):
        with_plan(scenario, tmp_path / "has.yaml")


def test_an_empty_plan_is_no_empty_scenario(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("\n")
    with pytest.raises(InvalidScenario, match="is empty; expected a plan"):
        with_plan(Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": [
            {"name": "a", "phases": [{"write": 2}]}]}), tmp_path / "plan.yaml")  # fmt: skip
