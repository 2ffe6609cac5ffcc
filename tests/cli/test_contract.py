"""The JSON that scripts read: exactly the keys that are promised, of the promised types, every number finite."""

import json

import pytest

from penstock.policies.sharing import NAMES
from penstock.workloads import generators

NUMBER = (int, float)
PERHAPS = (int, float, type(None))
RUN = {
    "sharing": str,
    "end": NUMBER,
    "events": int,
    "seconds": NUMBER,
    "min_yield": NUMBER,
    "utilization": NUMBER,
    "efficiency": NUMBER,
    "makespan": PERHAPS,
    "max_stretch": PERHAPS,
    "mean_stretch": PERHAPS,
    "pressure": PERHAPS,
    "bound_min_yield": PERHAPS,
    "applications": list,
    # Beyond the contract, documented with it.
    "io_weight": NUMBER,
    "bound_interval": PERHAPS,
    "distance_to_bound": PERHAPS,
    "node_hours_lost": NUMBER,
    "node_hours_used": NUMBER,
    "lost_share": PERHAPS,
    "worst": (str, type(None)),
    "mean_yield": PERHAPS,
    "p95_stretch": PERHAPS,
    "unfinished": int,
}
APPLICATION = {
    "name": str,
    "yield": NUMBER,
    "completion": PERHAPS,
    "stretch": PERHAPS,
    "compute_done": NUMBER,
    "transferred": NUMBER,
    "cut": bool,
}
WINDOW_ONLY = ("pressure", "bound_min_yield")


def parsed(outcome):
    def no_such_number(text):
        raise AssertionError(f"{text} is no JSON number")

    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out, parse_constant=no_such_number)


def check(record, types):
    assert record.keys() == types.keys()
    for key, value in record.items():
        assert isinstance(value, types[key]), key
        assert types[key] is bool or not isinstance(value, bool), key


def check_run(record):
    check(record, RUN)
    for application in record["applications"]:
        check(application, APPLICATION)


@pytest.mark.parametrize("name", NAMES)
def test_simulate_in_a_window(penstock, name):
    run = parsed(penstock("simulate", "jobs.yaml", "--sharing", name, "--json"))
    check_run(run)
    assert run["sharing"] == name
    assert run["end"] == 100
    assert run["makespan"] is None
    assert all(run[key] is not None for key in WINDOW_ONLY)
    done, endless = run["applications"]
    assert (done["name"], endless["name"]) == ("a", "b")
    assert done["completion"] is not None
    assert endless["completion"] is endless["stretch"] is None
    assert run["max_stretch"] == run["mean_stretch"] == done["stretch"]
    assert done["compute_done"] == pytest.approx(3)
    assert done["transferred"] == pytest.approx(0.5)


@pytest.mark.parametrize("name", NAMES)
def test_simulate_to_completion(penstock, name):
    run = parsed(penstock("simulate", "all.yaml", "--sharing", name, "--json"))
    check_run(run)
    assert all(run[key] is None for key in WINDOW_ONLY)
    assert 0 <= run["distance_to_bound"] == pytest.approx(1 - run["min_yield"] / run["bound_interval"])
    assert run["makespan"] == run["end"] == max(each["completion"] for each in run["applications"])
    assert all(each["stretch"] >= 1 for each in run["applications"])


def test_nothing_finished_in_the_window(penstock, folder):
    (folder / "jobs.yaml").write_text((folder / "jobs.yaml").read_text().replace("compute: 3", "compute: 300"))
    run = parsed(penstock("simulate", "jobs.yaml", "--json"))
    check_run(run)
    assert run["makespan"] is run["max_stretch"] is run["mean_stretch"] is None


def test_a_label_with_parameters_is_an_argument_again(penstock):
    asked = "periodic-greedy-yield(delta=5)"
    run = parsed(penstock("simulate", "jobs.yaml", "--sharing", asked, "--json"))
    assert run["sharing"] == asked


def test_compare(penstock):
    comparison = parsed(penstock("compare", "jobs.yaml", "--json"))
    assert comparison.keys() == {"scenario", "runs"}
    assert comparison["scenario"] == "jobs.yaml"
    assert [run["sharing"] for run in comparison["runs"]] == list(NAMES)
    for run in comparison["runs"]:
        check_run(run)
    assert len({run["bound_min_yield"] for run in comparison["runs"]}) == 1


def test_compare_keeps_the_order_asked_for(penstock):
    comparison = parsed(penstock("compare", "all.yaml", "--sharing", "set-10, fcfs", "--json"))
    assert [run["sharing"] for run in comparison["runs"]] == ["set-10", "fcfs"]


def test_simulate_and_compare_agree(penstock):
    alone = parsed(penstock("simulate", "jobs.yaml", "--sharing", "fcfs", "--json"))
    (among,) = parsed(penstock("compare", "jobs.yaml", "--sharing", "fcfs", "--json"))["runs"]
    assert alone | {"seconds": 0} == among | {"seconds": 0}


IGNORED = {
    "simulate": ["io_nodes", "targets", "burst_buffer", "profile"],
    "compare": ["io_nodes", "targets", "burst_buffer", "profile"],
    "optimum": ["io_nodes", "targets", "burst_buffer", "walltime", "profile"],
    "reference": ["io_nodes", "targets", "burst_buffer", "profile"],
    "pack": ["bandwidth", "targets", "burst_buffer", "interference", "walltime", "profile"],
    "pack --mapping easy": ["bandwidth", "targets", "burst_buffer", "interference", "profile"],
    "pack --compare": ["bandwidth", "targets", "burst_buffer", "interference", "profile"],
    "allocate": ["io_nodes", "burst_buffer", "interference"],
    "allocate --compare": ["io_nodes", "burst_buffer", "interference"],
    "buffer": ["io_nodes", "targets", "profile"],
    "buffer --compare": ["io_nodes", "targets", "profile"],
    "buffer --sweep": ["io_nodes", "targets", "profile"],
    "size-buffer": ["io_nodes", "targets", "burst_buffer.capacity", "interference", "walltime", "profile"],
    "size-buffer --curve": ["io_nodes", "targets", "burst_buffer.capacity", "interference", "walltime", "profile"],
}


@pytest.mark.parametrize("command", IGNORED)
def test_what_plays_no_part_is_said_and_in_the_json(penstock, folder, command):
    """One line about each part of a machine that has everything, and that the command does not look at."""
    job = "{name: a, walltime: 9, profile: {1: 1}, phases: [{write: 1}]}"
    machine = "io_nodes: {count: 1, bandwidth: 1, nodes: 1}, targets: 4, burst_buffer: {capacity: 1}"
    platform = f"{{bandwidth: 1, {machine}, interference: [1, 0.9]}}"
    (folder / "more.yaml").write_text(f"version: 1\nplatform: {platform}\napplications: [{job}]\n")
    found = penstock(*command.split(), "more.yaml", "--json")
    *others, last = IGNORED[command]
    said = f"{', '.join(others)} and {last} play no part in `penstock {command.split()[0]}`.\n"
    assert found.err == said
    assert json.loads(found.out)["ignored"] == IGNORED[command]


DECISIONS = {
    "fair-share": ({"a": 0.5, "b": 0.5}, 14, 6 / 14),
    "fcfs": ({"a": 0, "b": 1}, 12, 6 / 12),
    "greedy-yield": ({"a": 0, "b": 1}, 12, 6 / 12),
    "greedy-com": ({"a": 0, "b": 1}, 12, 6 / 12),
    "lookahead-greedy-yield": ({"a": 0, "b": 1}, 12, 6 / 12),
    "periodic-greedy-yield": ({"a": 0, "b": 1}, 12, 6 / 12),
    "set-10": ({"a": 0.5, "b": 0.5}, 14, 6 / 14),
    "best-next-event": ({"a": 0, "b": 1}, 12, 6 / 12),
    "credited-yield": ({"a": 0, "b": 1}, 12, 6 / 12),
    "annealed-credit": ({"a": 0, "b": 1}, 12, 6 / 12),
    "loss-capped-srpt": ({"a": 0, "b": 1}, 12, 6 / 12),
    "reserve-credit": ({"a": 0, "b": 1}, 12, 6 / 12),
    "reserve-srpt": ({"a": 0, "b": 1}, 12, 6 / 12),
    "steady-reserve": ({"a": 0, "b": 1}, 12, 6 / 12),
}


@pytest.mark.parametrize("name", DECISIONS)
@pytest.mark.parametrize("source", ["file", "stdin"])
def test_decide(penstock, folder, name, source):
    place = "state.json" if source == "file" else "-"
    stdin = (folder / "state.json").read_text()
    decision = parsed(penstock("decide", place, "--sharing", name, "--json", stdin=stdin))
    rates, event, low = DECISIONS[name]
    assert list(decision) == ["rates", "next_event", "min_yield"]
    assert decision["rates"] == pytest.approx(rates)
    assert decision["next_event"] == pytest.approx(event)
    assert decision["min_yield"] == pytest.approx(low)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("end", "event"), [("100", 100), ("null", None)])
def test_decide_for_nobody(penstock, name, end, event):
    stdin = f'{{"capacity": 1, "now": 10, "end": {end}, "active": []}}'
    decision = parsed(penstock("decide", "-", "--sharing", name, stdin=stdin))
    assert decision == {"rates": {}, "next_event": event, "min_yield": None}


def test_policies(penstock):
    known = parsed(penstock("policies", "--json"))
    ours = [policy for policy in known if policy["name"] in NAMES]
    assert [policy["name"] for policy in ours] == list(NAMES)
    for policy in ours:
        assert policy.keys() == {"decision", "name", "rule", "source", "parameters"}
        assert policy["decision"] == "sharing"
        assert policy["rule"]
    assert {policy["name"]: policy["parameters"] for policy in ours}["periodic-greedy-yield"] == {"delta": None}


def test_generators(penstock):
    known = parsed(penstock("generate", "--json"))
    assert [kind["name"] for kind in known] == [kind.name for kind in generators()]
    for kind in known:
        assert kind.keys() == {"name", "rule", "source", "settings"}
    assert known[0]["settings"]["pressure"] == 1


def test_a_workload_as_json_is_a_document(penstock):
    document = parsed(penstock("generate", "example-3", "--json", "--set", "m=3"))
    assert document["version"] == 1
    assert len(document["applications"]) == 3


def test_names_survive_unharmed(penstock, folder):
    for name in ("ünï 漢字 🎉", "[red]x[/red]", "[/]", 'quo"te', "a,b"):
        (folder / "odd.json").write_text(
            json.dumps(
                {
                    "version": 1,
                    "platform": {"bandwidth": 1},
                    "applications": [{"name": name, "phases": [{"write": 1}]}],
                }
            )
        )
        assert parsed(penstock("simulate", "odd.json", "--json"))["applications"][0]["name"] == name
        assert name in penstock("simulate", "odd.json").out
