"""What a plan says in vain, and whom it leaves out, is said."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.model import Scenario
from penstock.model.plan_notes import plan_notes

NODES = {"io_nodes": {"count": 2, "bandwidth": 1, "nodes": 4}}


def notes(platform: dict[str, Any], **plan: Any) -> list[str]:
    jobs = [{"name": name, "phases": [{"write": 1}]} for name in "abcde"]
    document = {"version": 1, "platform": platform, "applications": jobs}
    return plan_notes(Scenario.from_document(document | ({"plan": plan} if plan else {})))


@pytest.mark.parametrize(
    ("platform", "plan", "words"),
    [
        (
            NODES,
            {"mapping": {"a": 0}},
            ".mapping leaves out b, c, d and 1 more: their bytes go through no I/O node",
        ),
        (
            {"bandwidth": 1},
            {"sharing": {"target": "fcfs"}},
            ".sharing.target plays no part: the platform has no targets",
        ),
        (
            NODES,
            {"sharing": {"io_node:0": "fcfs"}},
            ".sharing.io_node:0 plays no part: nobody's bytes go through it",
        ),
        (
            NODES,
            {"sharing": {"io_node": "fcfs"}},
            ".sharing.io_node plays no part: nobody goes through an I/O node",
        ),
        (
            {"bandwidth": 1},
            {"sharing": {"io_node": "fcfs"}},
            ".sharing.io_node plays no part: the platform has no io_nodes",
        ),
        (
            {"bandwidth": 1, "burst_buffer": {"capacity": 2}},
            {"sharing": {"buffer": "fcfs"}},
            ".sharing.buffer plays no part: the burst buffer has no bandwidth of its own to be shared",
        ),
        (
            {"targets": 2},
            {"sharing": {"link": "fcfs"}},
            ".sharing.link plays no part: the platform has no bandwidth of a file system that is shared",
        ),
    ],
)
def test_what_comes_to_nothing_is_said(platform: dict[str, Any], plan: dict[str, Any], words: str) -> None:
    assert notes(platform, **plan) == [f"plan{words}"]


@pytest.mark.parametrize(
    ("platform", "plan"),
    [
        (NODES, {"mapping": dict.fromkeys("abcde", 1), "sharing": {"io_node:1": "fcfs", "io_node": "fcfs"}}),
        (NODES, {"mapping": "easy", "sharing": {"io_node:1": "fcfs", "default": "set-10"}}),
        ({"targets": 2}, {"sharing": {"target": "fcfs", "target:1": "set-10"}}),
        ({"bandwidth": 1}, {"sharing": {"link": "fcfs", "file_system": "fcfs"}}),
        ({"bandwidth": 1}, {}),
    ],
)
def test_what_is_used_is_not(platform: dict[str, Any], plan: dict[str, Any]) -> None:
    assert notes(platform, **plan) == []
