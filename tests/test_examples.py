"""Every example runs as a newcomer would run it, and its JSON follows the contract."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import load
from penstock.cli.group import app
from penstock.policies.sharing import NAMES, find

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SCENARIOS = sorted(EXAMPLES.glob("*.yaml"))
RUN_KEYS = {
    "sharing", "end", "events", "seconds", "min_yield", "utilization", "efficiency", "makespan", "max_stretch",
    "mean_stretch", "pressure", "bound_min_yield", "applications",
}  # fmt: skip
APPLICATION_KEYS = {"name", "yield", "completion", "stretch", "compute_done", "transferred", "cut"}


def printed(*words: str) -> dict[str, object]:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.exception
    return json.loads(result.stdout)


def test_there_are_examples() -> None:
    names = {file.name for file in SCENARIOS}
    assert {"two-jobs.yaml", "checkpoint-storm.yaml", "no-window.yaml", "long-trace.yaml"} <= names
    assert {"pack-night.yaml", "deep-learning-sweep.yaml"} <= names


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_compare_follows_the_contract(file: Path) -> None:
    document = printed("compare", str(file), "--json")
    scenario = load(file)
    assert document.keys() - {"ignored"} == {"scenario", "runs"}
    assert document["scenario"] == str(file)
    runs = document["runs"]
    assert isinstance(runs, list)
    # On a whole machine nobody can plan ahead.
    assert [run["sharing"] for run in runs] == [name for name in NAMES if not (scenario.plan and find(name).prepare)]
    for run in runs:
        assert run.keys() >= RUN_KEYS
        assert [job["name"] for job in run["applications"]] == [job.name for job in scenario.applications]
        assert all(job.keys() == APPLICATION_KEYS for job in run["applications"])
        assert run["min_yield"] == min(job["yield"] for job in run["applications"])
        assert (run["pressure"] is None) == (scenario.window is None)
        assert 0 < run["min_yield"] <= run["bound_interval"] <= 1 + 1e-9


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_policies_differ_on_every_example(file: Path) -> None:
    runs = printed("compare", str(file), "--json", "--sharing", "fair-share,fcfs,greedy-yield")["runs"]
    assert isinstance(runs, list)
    assert len({round(run["min_yield"], 3) for run in runs}) > 1


def test_the_sweep_ends_earlier_the_better_its_reads_are_ordered() -> None:
    orders = "hierarchical-round-robin,list-fifo,best-effort"
    runs = printed("compare", str(EXAMPLES / "deep-learning-sweep.yaml"), "--json", "--sharing", orders)["runs"]
    assert isinstance(runs, list)
    makespans = {run["sharing"]: run["makespan"] for run in runs}
    step, read = 72, 12
    assert makespans["hierarchical-round-robin"] == pytest.approx(200 * step)  # what the longest needs alone
    assert makespans["list-fifo"] > makespans["hierarchical-round-robin"] + 60 * (8 * read - step)  # 60 steps of all 8
    assert makespans["best-effort"] > 1.4 * makespans["list-fifo"]


@pytest.mark.parametrize("name", [*NAMES, str(EXAMPLES / "my_policy.py")])
def test_the_state_gets_a_decision_from_every_policy(name: str) -> None:
    decision = printed("decide", str(EXAMPLES / "decide-state.json"), "--sharing", name)
    assert decision.keys() == {"rates", "next_event", "min_yield"}
    assert isinstance(decision["rates"], dict)
    assert decision["rates"].keys() == {"climate", "imaging", "newcomer"}
    assert 0 < sum(decision["rates"].values()) <= 1e10 * (1 + 1e-9)


def test_examples_are_small() -> None:
    assert sum(file.stat().st_size for file in EXAMPLES.iterdir() if file.is_file()) < 40_000
