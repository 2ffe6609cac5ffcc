"""A plan that needs one kind of resource runs on the loop made for it, and never on that of whole machines."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Scenario, simulate
from penstock.studies.machine import run as machine_run

PROFILE = {1: 1.0, 2: 1.8}
MACHINES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one bandwidth": ({"bandwidth": 1}, {"sharing": "fcfs"}),
    "I/O nodes": ({"io_nodes": {"count": 2, "bandwidth": 1, "nodes": 4}}, {"mapping": {"a": 0, "b": 0}}),
    "targets": ({"targets": 2}, {"placement": {"a": [0, 1], "b": [1]}}),
    "a buffer": ({"bandwidth": 1, "burst_buffer": {"capacity": 3}}, {"sharing": "max-min"}),
}
WHOLE = (
    {"bandwidth": 1, "io_nodes": {"count": 2, "bandwidth": 1, "nodes": 4}},
    {"mapping": {"a": 0, "b": 0}},
)


def scenario(platform: dict[str, Any], plan: dict[str, Any]) -> Scenario:
    jobs = [
        {"name": name, "bandwidth": 2, "profile": PROFILE, "phases": [{"compute": 1}, {"write": 4}]} for name in "ab"
    ]
    return Scenario.from_document({"version": 1, "platform": platform, "applications": jobs, "plan": plan})


@pytest.fixture
def no_general_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the loop of whole machines ran")

    monkeypatch.setattr(machine_run, "execute_machine", refuse)


@pytest.mark.usefixtures("no_general_loop")
@pytest.mark.parametrize("kind", MACHINES)
def test_its_own_loop_runs(kind: str) -> None:
    assert simulate(scenario(*MACHINES[kind])).makespan is not None


@pytest.mark.usefixtures("no_general_loop")
@pytest.mark.parametrize(
    ("platform", "plan"),
    [
        WHOLE,
        (MACHINES["a buffer"][0], {"sharing": "fcfs"}),  # the other loop knows max-min
        ({"bandwidth": 1, "burst_buffer": {"capacity": 3, "bandwidth": 9}}, {"sharing": "max-min"}),
    ],
    ids=["I/O nodes and a file system", "another policy", "a buffer with a port"],
)
def test_what_needs_more_runs_on_the_general_one(platform: dict[str, Any], plan: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="the loop of whole machines ran"):
        simulate(scenario(platform, plan))
