"""A packing as a plan: running it gives the packing's own makespan, packs and all."""

from pathlib import Path

import pytest
from pytest import approx

from penstock import Scenario, simulate
from penstock.errors import InvalidScenario, UnknownPolicy
from penstock.model import Plan, Window, load, load_plan, save_plan
from penstock.model.plan_file import with_plan
from penstock.policies.mapping import NAMES
from penstock.studies.machine import MachineStudy
from penstock.studies.packs import pack
from penstock.studies.plans import plan_of_packing

NIGHT = load(Path(__file__).parents[3] / "examples" / "pack-night.yaml")


@pytest.mark.parametrize("mapping", ["make-pack", "backfill"])
def test_a_packing_that_is_run_as_a_plan_ends_when_it_did(mapping, tmp_path):
    packing = pack(NIGHT, mapping=mapping)
    save_plan(plan_of_packing(packing, NIGHT), tmp_path / "plan.yaml")
    run = simulate(NIGHT, plan=load_plan(tmp_path / "plan.yaml"))
    ends = {job.name: job.end for job in packing.jobs}
    assert {each.name: each.completion for each in run.applications} == approx(ends, rel=1e-9)
    assert run.makespan == approx(packing.makespan, rel=1e-9)
    assert run.node_hours_lost == approx(packing.node_hours_lost, rel=1e-9, abs=1e-9)
    without = simulate(NIGHT, plan=plan_of_packing(packing, NIGHT).model_copy(update={"start": None}))
    assert without.makespan != approx(packing.makespan), "so it is the starts that carry the packs"


@pytest.mark.parametrize("mapping", [*NAMES, "make-pack(sensitivity=2)"])
def test_a_plan_that_names_a_mapping_ends_as_its_packing_does(mapping):
    """Who goes where, and who starts when: as `pack` decides it, with the plan's policy on I/O nodes."""
    for sharing in ("list-fifo", "fair-share"):
        packing = pack(NIGHT, mapping=mapping, sharing=sharing)
        run = simulate(NIGHT, plan=Plan(mapping=mapping, sharing={"io_node": sharing}))
        ends = {job.name: job.end for job in packing.jobs}
        assert {each.name: each.completion for each in run.applications} == approx(ends, rel=1e-9)


def test_a_start_that_the_plan_states_beats_the_mapping():
    late = NIGHT.applications[0].name
    study = MachineStudy(with_plan(NIGHT, Plan(mapping="easy", start={late: 86400.0})))
    assert {each.name: each.release for each in study.scenario.applications}[late] == 86400.0


def test_what_a_mapping_cannot_do_is_said_of_the_plan():
    with pytest.raises(UnknownPolicy, match=r"plan\.mapping: no mapping policy named 'nosuch'"):
        simulate(NIGHT, plan=Plan(mapping="nosuch"))
    cut = NIGHT.model_copy(update={"window": Window(begin=0.0, end=100.0)})
    with pytest.raises(InvalidScenario, match=r"plan\.mapping: the scenario has a window"):
        simulate(cut, plan=Plan(mapping="easy"))
    first = NIGHT.applications[0].model_copy(update={"io_node": 0})
    own = NIGHT.model_copy(update={"applications": (first, *NIGHT.applications[1:])})
    with pytest.raises(InvalidScenario, match=r"mapping is a policy, but .* itself says io_node: 0; keep one of them"):
        with_plan(own, Plan(mapping="easy"))


def test_a_platform_without_io_nodes_is_one():
    jobs = [{"name": name, "nodes": 3, "phases": [{"compute": 2}, {"write": 4}]} for name in "ab"]
    one = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1, "nodes": 4}, "applications": jobs})
    packing = pack(one)
    assert simulate(one, plan=plan_of_packing(packing, one)).makespan == approx(packing.makespan) == 12.0


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ({"nobody": 3}, "start.nobody is for an application that is not there"),
        ({"a": 1}, "start.a is 1, but it is released at 2; start it then, or later"),
        ({"a": 50}, r"start.a is 50; a start is before window.end, 50"),
    ],
)
def test_starts_that_cannot_be_are_refused(start, sentence):
    jobs = [{"name": "a", "release": 2, "phases": [{"write": 4}]}]
    document = {"version": 1, "platform": {"bandwidth": 1}, "window": {"end": 50}, "applications": jobs}
    with pytest.raises(InvalidScenario, match=sentence):
        with_plan(Scenario.from_document(document), Plan(start=start))
