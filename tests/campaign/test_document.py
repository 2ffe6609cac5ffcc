"""What a campaign file may say, and the one sentence for each thing that it may not."""

import pytest

from campaign.small import SMALL, small
from penstock.campaign import Campaign, load_campaign
from penstock.campaign.units import Keys, asked, units
from penstock.errors import PenstockError
from penstock.model import load

TEXT = """\
version: 1
name: pressure
workloads:
  - generate: synthetic
    set: {pressure: [0.5, 0.8], horizon: 10000}
    seeds: 1-3
plans:
  - fcfs
  - {sharing: [greedy-yield, "periodic-greedy-yield(delta=5)"]}
metrics: [min_yield, yield]
"""
REPLACED = [
    ("version: 1", "version: 2", "c.yaml:1: version is 2; this penstock reads version 1"),
    ("name: pressure\n", "", "c.yaml: the document has no 'name'; accepted keys: version, name, workloads, plans, met"),
    ("plans:", "plan:", "c.yaml:7: the document has an unknown key 'plan'; did you mean 'plans'?"),
    ("synthetic", "syntetic", "c.yaml:4: workloads[0].generate is 'syntetic'; did you mean 'synthetic'? known: synthe"),
    ("pressure: [0.5, 0.8]", "presure: 1", "c.yaml:5: workloads[0].set.presure has a setting 'presure' that synthetic"),
    ("[0.5, 0.8]", "[0.5, -1]", "c.yaml:5: workloads[0].set.pressure: synthetic: pressure is -1; accepted is a number"),
    ("[0.5, 0.8]", "[]", "c.yaml:5: workloads[0].set.pressure is an empty list; a grid needs at least one value"),
    ("[0.5, 0.8]", "[0.5, 0.50]", "c.yaml:5: workloads[0].set.pressure has a value twice; a grid has every value once"),
    ("seeds: 1-3", "seeds: []", "c.yaml:6: workloads[0].seeds is an empty list; seeds are whole numbers ≥ 0: 7, \"1-2"),
    ("seeds: 1-3", "seeds: 3-1", "c.yaml:6: workloads[0].seeds is '3-1'; seeds are whole numbers ≥ 0"),
    ("seeds: 1-3", "seeds: 1.5", "c.yaml:6: workloads[0].seeds is 1.5; seeds are whole numbers ≥ 0"),
    ("seeds: 1-3", "seeds: 1-9000000", "c.yaml:6: workloads[0].seeds are 9,000,000; at most 1,000,000 seeds"),
    ("seeds: 1-3", "noise: 2", "c.yaml:6: workloads[0].noise is 2; the noise is a number from 0 to 1"),
    ("seeds: 1-3", "noise: []", "c.yaml:6: workloads[0].noise is an empty list; a grid needs at least one value"),
    ("generate: synthetic", "label: x", "c.yaml:4: workloads[0] needs one of 'generate' (a generator) and 'scenario' "),
    ("generate: synthetic", "scenario: x.yaml", "c.yaml:5: workloads[0].set is for generators; a scenario file has no"),
    ("- fcfs", "- fcfz", "c.yaml:8: plans[0]: no sharing policy named 'fcfz'. Did you mean 'fcfs'?"),
    ("- fcfs", "- my.py", "c.yaml:8: plans[0]: my.py: there is no such file to take a sharing policy from"),
    ("- fcfs", "- 7", "c.yaml:8: plans[0] is 7; a plan is the name of a sharing policy, or a mapping of options"),
    ("- fcfs", "- {sharing: []}", "c.yaml:8: plans[0].sharing is an empty list; a grid needs at least one value"),
    ("- fcfs", "- {shring: fcfs}", "c.yaml:8: plans[0] has an unknown key 'shring'; did you mean 'sharing'?"),
    ("- fcfs", "- {task: simulat}", "c.yaml:8: plans[0].task: no task named 'simulat'; did you mean 'simulate'?"),
    ("- fcfs", "- {task: pack, sensitivity: -1}", "c.yaml:8: sensitivity is -1; accepted is a number above 0, inf"),
    ("- fcfs", "- {task: allocate, allocation: x}", "c.yaml:8: plans[0]: no allocation policy named 'x'."),
    ("- fcfs", "- {task: size-buffer, partition: x}", "c.yaml:8: plans[0]: partition is 'x'; accepted: isolated, stat"),
    ("- fcfs", "- {task: buffer}", "c.yaml:8: plans[0] needs one of 'capacity' (bytes) and 'part'"),
    ("- fcfs", "- greedy-yield", "c.yaml:9: plans[1] gives the plan 'greedy-yield' again; every plan has a label of i"),
    ("- fcfs", "- {sharing: greedy-yield, label: x}", "c.yaml:9: plans[1] asks for the same as plans[0]; leave one of"),
    ("- fcfs", "- {sharing: fcfs, label: 7}", "c.yaml:8: plans[0].label is 7; a label is printable text, not empty"),
    ("[min_yield, yield]", "[min_yeld]", "c.yaml:10: metrics[0] is 'min_yeld'; did you mean 'min_yield'? known: min_y"),
    ("[min_yield, yield]", "[size]", "c.yaml:10: metrics[0] is 'size'; known: min_yield,"),
    (TEXT, "", "c.yaml: is empty; expected a campaign with version, name, workloads and plans"),
    (TEXT, "- 1", "c.yaml: the document is a list; expected a mapping with the keys version, name"),
    ("[0.5, 0.8]", "[0.5", "c.yaml:5: not valid YAML: while parsing a flow sequence"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), REPLACED, ids=[row[1] or "nothing" for row in REPLACED])
def test_what_is_refused(tmp_path, monkeypatch, old, new, words):
    monkeypatch.chdir(tmp_path)
    assert TEXT.count(old) == 1
    (tmp_path / "c.yaml").write_text(TEXT.replace(old, new))
    with pytest.raises(PenstockError) as refused:
        load_campaign("c.yaml")
    assert str(refused.value).startswith(words)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        (
            {"generate": "example-1", "seeds": "1-2"},
            "seeds are 2, but example-1 draws nothing: every seed would give the",
        ),
        ({"scenario": "gone.yaml"}, "workloads[0].scenario: "),
        ({"generate": "chains", "seeds": "1-999999", "set": {"m": list(range(2, 20))}}, "runs; at most 10,000,000"),
    ],
)
def test_workloads_that_are_refused(workload, words):
    with pytest.raises(PenstockError, match=r"^campaign: ") as refused:
        small(workloads=[workload])
    assert words in str(refused.value)


def test_no_file(tmp_path):
    for name in ("gone.yaml", "."):
        with pytest.raises(PenstockError):
            load_campaign(tmp_path / name)


def test_what_a_file_asks_for(tmp_path):
    (tmp_path / "c.yaml").write_text(TEXT)
    campaign = load_campaign(tmp_path / "c.yaml")
    assert campaign.size == 2 * 3 * 3
    assert [plan.label for plan in campaign.plans] == ["fcfs", "greedy-yield", "periodic-greedy-yield(delta=5)"]
    assert (campaign.metrics, campaign.keep) == (("min_yield",), ("yield",))
    assert [source.parameters["pressure"] for source in campaign.workloads[0].sources] == [0.5, 0.8]
    runs = list(asked(campaign, Keys(campaign)))
    assert len({each.run.key for each in runs}) == campaign.size == len(runs)


def keys(campaign):
    return {each.run.key for each in asked(campaign, Keys(campaign))}


def test_a_key_says_what_decides_the_result(tmp_path):
    def one(**changes):
        found = keys(
            small(tmp_path, **({"workloads": [{"generate": "chains", "seeds": 1}], "plans": ["fcfs"]} | changes))
        )
        assert len(found) == 1
        return found.pop()

    same = [
        one(),
        one(name="other"),
        one(workloads=[{"generate": "chains", "seeds": [1], "label": "mine", "set": {"n_max": "150"}}]),
        one(plans=[{"task": "simulate", "sharing": "fcfs", "label": "first come"}], metrics=["max_stretch"]),
    ]
    others = [
        one(workloads=[{"generate": "chains", "seeds": 2}]),
        one(workloads=[{"generate": "uniform", "seeds": 1}]),
        one(workloads=[{"generate": "chains", "seeds": 1, "set": {"m": 3}}]),
        one(workloads=[{"generate": "chains", "seeds": 1, "noise": 0.5}]),
        one(plans=["greedy-yield"]),
        one(metrics=["makespan", "stretch"]),
    ]
    assert len(set(same)) == 1
    assert len({*same, *others}) == 1 + len(others)


def test_a_file_counts_by_what_is_in_it(tmp_path):
    """Scenario and policy files may move; when they change, their runs are other runs."""
    scenario = "version: 1\nplatform: {bandwidth: 1}\napplications: [{name: a, phases: [{write: 1}]}]\n"
    policy = "def mine(view, rates):\n    rates[0] = view.limit[0]\n"
    found = []
    for folder, change in (("a", ""), ("b", ""), ("c", "# other\n"), ("d", "s")):
        place = tmp_path / folder
        place.mkdir()
        (place / "s.yaml").write_text(scenario.replace("write: 1", "write: 2") if change == "s" else scenario)
        (place / "own.py").write_text(policy + (change if change != "s" else ""))
        found.append(keys(small(place, workloads=[{"scenario": "s.yaml"}], plans=["own.py:mine"], metrics=[])))
    assert found[0] == found[1]
    assert len({frozenset(each) for each in found}) == 3


def test_units_go_seed_by_seed_and_leave_out_what_is_done():
    campaign = small()
    table = Keys(campaign)
    everything = list(units(campaign, table, ()))
    assert [(unit.seed, unit.source.settings["m"]) for unit in everything] == [
        (seed, jobs) for seed in (1, 2, 3) for jobs in (2, 3)
    ]
    done = {everything[0].runs[0].key, *(run.key for run in everything[1].runs)}
    left = list(units(campaign, table, done))
    assert len(left) == 5
    assert left[0].runs == everything[0].runs[1:]


def test_a_run_that_two_workloads_ask_for_is_done_once():
    workload = SMALL["workloads"][0]
    campaign = small(workloads=[workload, workload | {"label": "again", "seeds": "1-4"}])
    assert sum(len(unit.runs) for unit in units(campaign, Keys(campaign), ())) == 2 * 4 * 2


def test_a_scenario_file_has_its_seed_and_its_noise(tmp_path):
    (tmp_path / "s.yaml").write_text(
        "version: 1\nseed: 7\nplatform: {bandwidth: 1}\napplications: [{name: a, phases: [{write: 1}]}]\n"
    )
    campaign = small(tmp_path, workloads=[{"scenario": "s.yaml", "noise": [0, 0.5]}])
    [workload] = campaign.workloads
    assert workload.seeds == (7,)
    plain, noisy = (source.make(7) for source in workload.sources)
    assert plain == load(tmp_path / "s.yaml")
    assert (noisy.noise, noisy.seed) == (0.5, 7)


def test_from_document_keeps_a_file_that_can_be_loaded_again(tmp_path):
    campaign = Campaign.from_document(SMALL)
    (tmp_path / "again.yaml").write_text(campaign.text)
    assert keys(load_campaign(tmp_path / "again.yaml")) == keys(campaign)


def test_workloads_that_results_could_not_tell_apart_are_refused(tmp_path):
    (tmp_path / "more").mkdir()
    for place, volume in (("jobs.yaml", 1), ("more/jobs.yaml", 2)):
        jobs = f"applications: [{{name: a, phases: [{{write: {volume}}}]}}]"
        (tmp_path / place).write_text(f"version: 1\nplatform: {{bandwidth: 1}}\n{jobs}\n")
    one, other = {"scenario": "jobs.yaml"}, {"scenario": "more/jobs.yaml"}
    examples = [{"generate": f"example-{number}", "set": {"m": 12, "epsilon": 0.01}, "label": "a"} for number in (3, 6)]
    for workloads in (examples, [one, other]):
        with pytest.raises(PenstockError, match="give each a 'label' of its own"):
            small(tmp_path, workloads=workloads)
    assert small(tmp_path, workloads=[one, one]).size == 4
    assert small(tmp_path, workloads=[one | {"label": "first"}, other]).size == 4


def test_a_policy_in_a_file_is_called_the_same_however_it_is_written(tmp_path):
    (tmp_path / "own").mkdir()
    file = tmp_path / "own" / "mine.py"
    file.write_text("def mine(view, rates):\n    rates[:] = 0.0\n")
    for written in ("own/mine.py:mine", "./own/mine.py:mine", f"{file}:mine", "own/../own/mine.py:mine"):
        assert [plan.label for plan in small(tmp_path, plans=[written]).plans] == ["own/mine.py:mine"]
    elsewhere = tmp_path / "campaign"
    elsewhere.mkdir()
    assert [plan.label for plan in small(elsewhere, plans=[f"{file}:mine"]).plans] == ["mine.py:mine"]


def test_one_plan_by_two_names_is_refused(tmp_path):
    (tmp_path / "one.py").write_text("def mine(view, rates):\n    rates[:] = 0.0\n")
    (tmp_path / "two.py").write_text("def mine(view, rates):\n    rates[:] = 0.0\n")
    with pytest.raises(PenstockError, match=r"plans\[0\] asks for the same as 'one.py:mine'; leave one of them out"):
        small(tmp_path, plans=[{"sharing": ["one.py:mine", "two.py:mine"]}])
