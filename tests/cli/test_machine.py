"""`simulate` and `compare` of a whole machine, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from penstock import simulate
from penstock.cli.group import app
from penstock.errors import PenstockError
from penstock.model import Plan, load_plan, save_plan
from penstock.model.plan_file import merged_plans

MACHINE = """\
version: 1
platform:
  io_nodes: {count: 2, bandwidth: 1, nodes: 4}
  targets: [fast, slow]
applications:
  - {name: a, profile: {1: 1, 2: 2}, phases: [{write: 2}, {compute: 1}]}
  - {name: b, profile: {1: 1, 2: 2}, phases: [{write: 2}]}
"""
PLAN = "version: 1\nmapping: {a: 0, b: 0}\nplacement: {a: [fast, slow], b: [slow]}\n"


def called(*words: str) -> Any:
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    (tmp_path / "machine.yaml").write_text(MACHINE)
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def test_a_whole_machine_says_what_each_resource_did(desk: Path) -> None:
    run = called("simulate", str(desk / "machine.yaml"), "--plan", str(desk / "plan.yaml"), "--json")
    document = json.loads(run.stdout)
    uses = {each["name"]: each for each in document["resources"]}
    # Both cross the one I/O node, which is the narrowest: four bytes take four seconds.
    assert uses["io_node:0"] == {"name": "io_node:0", "kind": "io_node", "busy": 4.0, "moved": 4.0}
    assert uses["io_node:1"]["moved"] == 0.0
    assert uses["fast"]["moved"] + uses["slow"]["moved"] == pytest.approx(4.0)
    assert document["applications"][1]["completion"] == pytest.approx(4.0)


def test_every_policy_on_every_resource(desk: Path) -> None:
    names = "fair-share,fcfs,greedy-yield"
    run = called("compare", str(desk / "machine.yaml"), "--plan", str(desk / "plan.yaml"), "--sharing", names, "--json")
    runs = json.loads(run.stdout)["runs"]
    assert [each["sharing"] for each in runs] == names.split(",")
    assert all(each["resources"][0]["moved"] == pytest.approx(4.0) for each in runs)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["simulate", "--follow", "x.csv"], "--follow serves a fixed order on one bandwidth; leave it out with a plan"),
        (["compare", "--optimum"], "--optimum is for one shared bandwidth; leave it out with a plan"),
        (["simulate", "--sharing", "nobody"], "no sharing policy named 'nobody'"),
    ],
)
def test_what_does_not_go_with_a_plan_is_refused(desk: Path, words: list[str], sentence: str) -> None:
    command, *options = words
    with pytest.raises(PenstockError, match=sentence):
        called(command, str(desk / "machine.yaml"), "--plan", str(desk / "plan.yaml"), *options)


def test_an_unknown_policy_of_a_plan_is_refused(desk: Path) -> None:
    (desk / "plan.yaml").write_text(PLAN + "sharing: {target: nobody}\n")
    with pytest.raises(PenstockError, match=r"plan\.sharing: no sharing policy named 'nobody'"):
        called("simulate", str(desk / "machine.yaml"), "--plan", str(desk / "plan.yaml"))


NIGHT = """\
version: 1
platform:
  nodes: 8
  write_bandwidth: 2
  io_nodes: {count: 2, bandwidth: 1, nodes: 4}
  targets: [fast, slow]
  burst_buffer: {capacity: 3}
applications:
  - {name: a, nodes: 2, bandwidth: 2, profile: {1: 1, 2: 2}, phases: [{compute: 1}, {write: 2}]}
  - {name: b, nodes: 2, bandwidth: 2, profile: {1: 1, 2: 2}, phases: [{compute: 1}, {write: 2}]}
"""


def test_what_commands_decide_can_be_run_together(desk: Path) -> None:
    scenario = desk / "night.yaml"
    scenario.write_text(NIGHT)
    decisions = {
        "pack": ["pack"],
        "allocate": ["allocate"],
        "size-buffer": ["size-buffer"],
        "buffer": ["buffer", "--capacity", "2"],
    }
    found = {}
    for name, words in decisions.items():
        assert called(*words, str(scenario), "--plan-out", str(desk / f"{name}.yaml")).exit_code == 0
        found[name] = load_plan(desk / f"{name}.yaml")
    assert set(found["pack"].mapping or {}) == {"a", "b"}
    assert set(found["allocate"].placement or {}) == {"a", "b"}
    assert found["buffer"].buffer.capacity == 2.0
    assert found["buffer"].sharing == {"link": "max-min"}
    whole = merged_plans(merged_plans(found["pack"], found["allocate"]), found["buffer"])
    save_plan(whole, desk / "whole.yaml")
    run = json.loads(called("simulate", str(scenario), "--plan", str(desk / "whole.yaml"), "--json").stdout)
    assert {each["kind"] for each in run["resources"]} == {"io_node", "target", "link"}
    # The plan of the targets is read where targets are given out, too.
    again = called("allocate", str(scenario), "--plan", str(desk / "allocate.yaml"), "--json")
    assert json.loads(again.stdout)["targets"].keys() == {"a", "b"}


def test_plans_that_cannot_be_written_are_refused(desk: Path) -> None:
    scenario = desk / "night.yaml"
    scenario.write_text(NIGHT)
    with pytest.raises(PenstockError, match="cannot tell the format by its name"):
        called("pack", str(scenario), "--plan-out", str(desk / "plan.txt"))
    with pytest.raises(PenstockError, match="leave it out with --compare"):
        called("buffer", str(scenario), "--compare", "--plan-out", str(desk / "plan.yaml"))


def test_allocate_reads_what_every_plan_says_of_targets(desk: Path) -> None:
    """A table, names of policies, and who shares; what it exports as JSON is the plan that it writes."""
    scenario = str(desk / "night.yaml")
    (desk / "night.yaml").write_text(NIGHT)
    made = called(
        "allocate", scenario, "--sharing", "fcfs", "--export", "json", "-o", str(desk / "a.json"),
        "--plan-out", str(desk / "b.json"),
    )  # fmt: skip
    assert made.exit_code == 0 and (desk / "a.json").read_text() == (desk / "b.json").read_text()

    def decided(plan: str, *more: str) -> Any:
        (desk / "plan.yaml").write_text(plan)
        return json.loads(called("allocate", scenario, "--plan", str(desk / "plan.yaml"), *more, "--json").stdout)

    again = decided((desk / "a.json").read_text())
    assert (again["allocation"], again["sharing"]) == ("plan", "fcfs")
    assert decided((desk / "a.json").read_text(), "--sharing", "greedy-yield")["sharing"] == "greedy-yield"
    named = decided("allocation: nsys\nsharing: {target: fcfs}\n")
    assert (named["allocation"], named["placement"], named["sharing"]) == ("nsys", "greedy-clairvoyant", "fcfs")
    with pytest.raises(PenstockError, match="the plan has no table of targets; expected placement"):
        decided("sharing: fcfs\n")


@pytest.mark.parametrize("command", ["optimum", "reference"])
def test_what_is_about_one_bandwidth_leaves_the_plan_alone(desk: Path, command: str) -> None:
    (desk / "one.yaml").write_text(
        "version: 1\nplatform: {bandwidth: 1, io_nodes: {count: 2, bandwidth: 1, nodes: 4}}\n"
        "applications: [{name: a, phases: [{write: 2}]}, {name: b, phases: [{write: 2}]}]\n"
        "plan: {mapping: {a: 0, b: 1}}\n"
    )
    run = called(command, str(desk / "one.yaml"), "--json")
    assert json.loads(run.stdout)["ignored"] == ["io_nodes", "plan"]


def test_the_busiest_resource_of_each_kind_is_named(desk: Path) -> None:
    run = called("simulate", str(desk / "machine.yaml"), "--plan", str(desk / "plan.yaml"))
    assert "Busy longest: io_node:0, 4 s, 4; slow of 2 targets, 4 s, 3." in run.stdout


def test_a_buffer_that_is_run_as_a_plan_is_what_buffer_gave(desk: Path) -> None:
    (desk / "behind.yaml").write_text(
        "version: 1\nplatform: {bandwidth: 1}\napplications:\n"
        "  - {name: a, bandwidth: 3, phases: [{repeat: 3, phases: [{compute: 1}, {write: 2}]}]}\n"
        "  - {name: b, bandwidth: 2, phases: [{repeat: 2, phases: [{read: 1}, {compute: 2}, {write: 2}]}]}\n"
    )
    made = called("buffer", str(desk / "behind.yaml"), "--capacity", "2", "--plan-out", str(desk / "b.yaml"), "--json")
    run = called("simulate", str(desk / "behind.yaml"), "--plan", str(desk / "b.yaml"), "--json")
    ends = {each["name"]: each["completion"] for each in json.loads(run.stdout)["applications"]}
    assert ends == json.loads(made.stdout)["completion"]
    assert "strategy" not in (desk / "b.yaml").read_text()


def test_plans_are_taken_together(desk: Path) -> None:
    scenario, options = str(desk / "machine.yaml"), []
    parts = {
        "where.yaml": PLAN,
        "nodes.yaml": "sharing: {io_node: fcfs}\n",
        "targets.yaml": "sharing: {target: set-10}\n",
    }
    for name, text in parts.items():
        (desk / name).write_text(text)
        options += ["--plan", str(desk / name)]
    together = json.loads(called("simulate", scenario, *options, "--json").stdout)
    assert together["sharing"] == "fcfs + set-10"
    (desk / "whole.yaml").write_text(PLAN + "sharing: {io_node: fcfs, target: set-10}\n")
    alone = json.loads(called("simulate", scenario, "--plan", str(desk / "whole.yaml"), "--json").stdout)
    assert together["applications"] == alone["applications"]
    (desk / "other.yaml").write_text("sharing: {io_node: set-10}\n")
    with pytest.raises(PenstockError, match=r"nodes\.yaml and .*other\.yaml contradict each other: sharing\.io_node"):
        called("compare", scenario, *options, "--plan", str(desk / "other.yaml"))


def test_what_the_scenarios_own_plan_decided_is_missed_aloud(desk: Path) -> None:
    (desk / "machine.yaml").write_text(MACHINE + "plan: {mapping: {a: 0, b: 1}, placement: {a: [fast], b: [slow]}}\n")
    (desk / "plan.yaml").write_text("sharing: fcfs\n")
    run = called("simulate", str(desk / "machine.yaml"), "--plan", str(desk / "plan.yaml"))
    assert "--plan stands for the scenario's own plan: mapping and placement of that one play no part." in run.stderr


def test_a_plan_without_targets_for_jobs_that_never_end_says_what_is_missing() -> None:
    example = Path(__file__).parents[2] / "examples" / "lustre-behind-buffer.yaml"
    with pytest.raises(PenstockError, match=r"^plan\.placement is missing: no policy can say which targets"):
        simulate(example, plan=Plan(sharing="fcfs"))
    with pytest.raises(PenstockError, match=r"^plan\.placement: no placement policy named 'nosuch'"):
        simulate(example, plan=Plan(placement="nosuch"))


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"buffering": {"strategy": "nosuch"}}, r"plan\.buffering\.strategy: no buffering policy named 'nosuch'"),
        ({"sharing": "nosuch"}, "or max-min, in plans only"),
    ],
)
def test_names_in_a_plan_are_checked(plan: dict[str, Any], words: str) -> None:
    example = Path(__file__).parents[2] / "examples" / "io-nodes-nvme.yaml"
    with pytest.raises(PenstockError, match=words):
        simulate(example, plan=Plan(**plan))


def test_a_mixed_plan_has_a_row_of_its_own(desk: Path) -> None:
    scenario, plan = str(desk / "machine.yaml"), str(desk / "plan.yaml")
    (desk / "plan.yaml").write_text(PLAN + "sharing: {io_node: fcfs, target: greedy-yield}\n")
    options = ("--plan", plan, "--sharing", "fair-share,set-10")
    runs = json.loads(called("compare", scenario, *options, "--json").stdout)["runs"]
    assert [each["sharing"] for each in runs] == ["fair-share", "set-10", "as planned"]
    alone = json.loads(called("simulate", scenario, "--plan", plan, "--json").stdout)
    assert runs[-1]["applications"] == alone["applications"]
    assert "as planned" in called("compare", scenario, "--plan", plan).stdout
    (desk / "plan.yaml").write_text(PLAN + "sharing: {default: fcfs}\n")
    runs = json.loads(called("compare", scenario, *options, "--json").stdout)["runs"]
    assert [each["sharing"] for each in runs] == ["fair-share", "set-10"]


def test_a_machine_without_a_plan_is_told_of_one(desk: Path) -> None:
    with pytest.raises(PenstockError, match="under a plan, which `penstock plan` finds"):
        called("simulate", str(desk / "machine.yaml"))


def test_allocate_reads_one_plan(desk: Path) -> None:
    twice = ("--plan", str(desk / "plan.yaml")) * 2
    with pytest.raises(PenstockError, match="--plan is given twice; targets are given out as one plan says"):
        called("allocate", str(desk / "machine.yaml"), *twice)
