"""Interference from a file of measurements, and what is said of keys that a command does not use."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import Scenario, load
from penstock.errors import InvalidScenario
from penstock.model.ignored import ignored, ignored_line
from penstock.model.interference import read_interference

JOB = "applications: [{name: a, phases: [{write: 1}]}]"


def written(folder: Path, text: str) -> Path:
    (folder / "measured.csv").write_text(text)
    return folder / "measured.csv"


def test_efficiencies_are_medians_over_that_of_one_alone(tmp_path: Path) -> None:
    file = written(
        tmp_path, "applications,bandwidth,run\n1,10 GB/s,a\n2,8 GB/s,b\n2,9 GB/s,c\n2,1 GB/s,d\n4,7 GB/s,e\n"
    )
    assert read_interference(file) == pytest.approx([1.0, 0.8, 0.75, 0.7])


def test_what_rises_is_pooled(tmp_path: Path) -> None:
    file = written(tmp_path, "applications,bandwidth\n1,10\n2,8\n3,9\n3,9\n4,6\n")
    share = (0.8 + 2 * 0.9) / 3
    assert read_interference(file) == pytest.approx([1.0, share, share, 0.6])


def test_faster_than_alone_is_as_fast(tmp_path: Path) -> None:
    assert read_interference(written(tmp_path, "applications,bandwidth\n1,10\n2,12\n")) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "n,bandwidth\n1,1\n",
            "has the columns n, bandwidth; expected a CSV with the columns app",
        ),
        ("applications,bandwidth\n2,1\n", "has no run of 1 application"),
        ("applications,bandwidth\n1,1 GB\n", r"measured.csv:2: a cell is '1 GB', a"),
        ("applications,bandwidth\n0,1\n", r"measured.csv:2: a cell is '0'; a count is a whole number ≥ 1"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InvalidScenario, match=sentence):
        read_interference(written(tmp_path, text))


@pytest.mark.parametrize(
    "platform",
    [
        "{bandwidth: 1, interference: measured.csv}",
        "{bandwidth: 1, io_nodes: {count: 1, bandwidth: 1, nodes: 1, interference: measured.csv}}",
        "{bandwidth: 1, targets: [{name: t, interference: measured.csv}]}",
    ],
)
def test_every_resource_may_name_one(tmp_path: Path, platform: str) -> None:
    written(tmp_path, "applications,bandwidth\n1,10\n2,8\n")
    (tmp_path / "s.yaml").write_text(f"version: 1\nplatform: {platform}\n{JOB}\n")
    assert "0.8" in str(load(tmp_path / "s.yaml").platform)


@pytest.mark.parametrize("name", ["/etc/passwd", "../measured.csv", "''"])
def test_files_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "s.yaml").write_text(f"version: 1\nplatform: {{bandwidth: 1, interference: {name}}}\n{JOB}\n")
    with pytest.raises(InvalidScenario, match=r"platform.interference is .*; it is a list of efficiencies, or"):
        load(tmp_path / "s.yaml")


def test_unused_keys_are_named_once() -> None:
    job = {"phases": [{"write": 1}], "profile": {1: 1}, "walltime": 5}
    document = {"version": 1, "platform": {"bandwidth": 1, "targets": 2, "burst_buffer": {"capacity": 1}}}
    given = Scenario.from_document(document | {"applications": [job | {"name": name} for name in "ab"]})
    assert ignored(given, used={"bandwidth", "walltime"}) == ["targets", "burst_buffer", "profile"]
    assert ignored(given, used={"bandwidth", "walltime", "targets", "burst_buffer", "profile"}) == []
    assert ignored(given, used={"bandwidth", "walltime", "targets", "burst_buffer.bandwidth", "profile"}) == [
        "burst_buffer.capacity"
    ]
    assert ignored_line(["targets"], "compare") == "targets plays no part in `penstock compare`."
    assert ignored_line([], "compare") == ""
