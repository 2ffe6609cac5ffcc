"""Plans of a whole machine in a campaign: the scenario's own, and files beside the campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from penstock import simulate
from penstock.campaign import Campaign, run_campaign
from penstock.campaign.plan import CampaignPlan
from penstock.campaign.tasks.simulate import SimulateOptions
from penstock.errors import PenstockError

MACHINE = """\
version: 1
platform:
  io_nodes: {count: 2, bandwidth: 1, nodes: 4}
  targets: [fast, slow]
applications:
  - {name: a, profile: {1: 1, 2: 2}, phases: [{write: 2}, {compute: 1}, {write: 3}]}
  - {name: b, profile: {1: 1, 2: 2}, phases: [{write: 2}, {compute: 2}, {write: 1}]}
"""
OWN = "plan: {mapping: {a: 0, b: 0}, placement: {a: [slow], b: [slow]}, sharing: {io_node: fcfs}}\n"
APART = "mapping: {a: 0, b: 1}\nplacement: {a: [fast], b: [slow]}\nsharing: {target: greedy-yield, io_node: fcfs}\n"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    (tmp_path / "machine.yaml").write_text(MACHINE + OWN)
    (tmp_path / "bare.yaml").write_text(MACHINE + "window: {end: 100}\n")
    (tmp_path / "apart.yaml").write_text(APART)
    return tmp_path


def campaign(desk: Path, *plans: Any, scenario: str = "machine.yaml") -> Campaign:
    document = {"version": 1, "name": "plans", "workloads": [{"scenario": scenario}], "plans": list(plans)}
    return Campaign.from_document(document, folder=desk)


def results(asked: Campaign, desk: Path) -> list[dict[str, Any]]:
    run_campaign(asked, desk / "results", workers=1)
    rows: list[dict[str, Any]] = pq.read_table(desk / "results" / "results.parquet").to_pylist()
    return rows


def test_plans_run_as_simulate_runs_them(desk: Path) -> None:
    asked = campaign(
        desk, {"task": "simulate"}, {"plan": "apart.yaml"}, {"plan": "apart.yaml", "sharing": "fcfs"}, "fcfs"
    )
    found = {row["plan"]: row for row in results(asked, desk)}
    machine, apart = desk / "machine.yaml", desk / "apart.yaml"
    expected = {
        "as planned": simulate(machine),
        "apart.yaml": simulate(machine, plan=apart),
        "apart.yaml, fcfs": simulate(machine, "fcfs", plan=apart),
        "fcfs": simulate(machine, "fcfs"),
    }
    assert {name: row["makespan"] for name, row in found.items()} == {
        name: run.makespan for name, run in expected.items()
    }
    assert expected["as planned"].makespan != expected["apart.yaml"].makespan


def test_a_plan_counts_by_what_is_in_it(desk: Path) -> None:
    (one,) = campaign(desk, {"plan": "apart.yaml"}).plans
    (desk / "renamed.yaml").write_text(APART)
    (same,) = campaign(desk, {"plan": "renamed.yaml"}).plans
    assert one.identity == same.identity
    (desk / "apart.yaml").write_text(APART.replace("greedy-yield", "fcfs"))
    (other,) = campaign(desk, {"plan": "apart.yaml"}).plans
    assert other.identity != same.identity


def test_runs_without_a_plan_keep_their_keys() -> None:
    plan = CampaignPlan("fcfs", "simulate", SimulateOptions(sharing="fcfs"))
    assert "plan" not in plan.identity


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"plan": "nosuch.yaml"}, r"nosuch\.yaml"),
        ({"plan": "machine.yaml", "sharing": "nosuch"}, "no sharing policy named 'nosuch'"),
        ({"plan": "bare.yaml"}, "is a scenario without a plan"),
    ],
)
def test_what_is_no_plan_is_refused_before_anything_runs(desk: Path, plan: dict[str, str], words: str) -> None:
    with pytest.raises(PenstockError, match=words):
        campaign(desk, plan)


def test_a_scenario_without_a_plan_needs_to_be_told_who_shares(desk: Path) -> None:
    (desk / "link.yaml").write_text(
        "version: 1\nplatform: {bandwidth: 1}\napplications: [{name: a, phases: [{write: 1}]}]\n"
    )
    (row,) = results(campaign(desk, {"task": "simulate"}, scenario="link.yaml"), desk)
    assert "sharing is missing, and the scenario has no plan that says it" in row["error"]
