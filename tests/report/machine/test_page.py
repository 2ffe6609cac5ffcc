"""The whole machine in a report: what the browser is given to draw, and what is said beside it."""

import json
import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from penstock import Scenario, simulate
from penstock.metrics.result import ResourceUse, Result
from penstock.report.comparison.page import write_report
from penstock.report.machine.page import _resources, held_up_words
from penstock.report.machine.passage_element import WHOLE, passage_element

from .test_picture import passage


def drawn(element: str) -> dict[str, Any]:
    found = re.search(r'data-timeline="([^"]*)"', element)
    assert found is not None
    data: dict[str, Any] = json.loads(unescape(found[1]))
    return data


def test_every_stage_and_every_resource_is_in_the_data():
    found = passage()
    data = drawn(passage_element(found, "x", "alt"))
    titles = [stage["title"] for stage in data["stages"]]
    assert titles == ["applications move", "the buffer holds", "through I/O nodes", "onto targets"]
    moved, held = data["stages"][:2]
    assert max(moved["values"]) == 1000 and moved["says"] == "mean 4.5 GB/s"
    assert (held["values"][0], held["line"], held["says"]) == (200, 1000, "room for 5 TB")
    assert [len(line) for line in data["use"]] == [found.steps] * 4
    assert data["use"][0][0] == "z" and data["use"][3][-1] == "w", "full, and nine tenths of it"
    assert data["bottlenecks"][3] == [WHOLE // 4, WHOLE // 3, "target:3", 90, "target"]


def test_what_is_nearly_full_does_not_look_full():
    found = passage()
    found.use[0] = np.where(found.use[0] == 1.0, 0.984, found.use[0])
    assert "z" not in drawn(passage_element(found, "x", "alt"))["use"][0]


def test_many_resources_of_a_kind_are_counted_and_some_are_named():
    data = drawn(passage_element(passage(kinds=("target",) * 40, room=0.0), "x", "alt"))
    assert data["labels"][:3] == [[0.5, "target:0"], [4.5, "(40 targets)"], [8.5, "target:8"]]


def test_what_little_moves_is_not_told_in_the_units_of_what_moves_most():
    uses = (ResourceUse("file_system", "link", 9.0, 1.2e15), ResourceUse("OST0001", "target", 9.0, 52.17e12))
    run: Any = SimpleNamespace(resources=uses, capacity=1e11)
    text = _resources(run, passage())
    assert "52.17 TB" in text and "1.2 PB" in text


def written(path: Path, jobs: list[dict[str, Any]]) -> Result:
    """A report of two jobs that meet on the first of two I/O nodes, behind a buffer."""
    platform = {
        "bandwidth": 2e7,
        "io_nodes": {"count": 2, "bandwidth": 1e7, "nodes": 4},
        "burst_buffer": {"capacity": 5e8},
    }
    plan = {"mapping": {job["name"]: 0 for job in jobs}}
    run = simulate(
        Scenario.from_document({"version": 1, "platform": platform, "applications": jobs, "plan": plan}), timeline=True
    )
    write_report(path, "jobs", [run])
    return run


def test_a_report_of_a_whole_machine(tmp_path):
    jobs = [{"name": f"<b>{name}", "phases": [{"compute": 10}, {"write": 1e9}] * 3} for name in ("a", "b")]
    run = written(tmp_path / "run.html", jobs)
    text = (tmp_path / "run.html").read_text()
    assert run.passage is not None and held_up_words(run.passage) == "mostly held up by io_node:0"
    assert "mostly held up by io_node:0" in text and "<b>a" not in text
    assert 'data-picture="passage"' in text and "The bottleneck was io_node:0" in text
    (row,) = re.findall(r"<tr><td>io_node:0</td>.*?</tr>", text)
    use = float(run.passage.use[run.passage.names.index("io_node:0")].mean())
    assert f'data-value="{use!r}"' in row
