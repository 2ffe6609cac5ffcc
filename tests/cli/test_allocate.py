"""`penstock allocate` as its users meet it: the table, the JSON of the contract, the picture, exports and refusals."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.test_contract import NUMBER, PERHAPS, check, parsed
from penstock.model import load
from penstock.policies import allocation, placement
from penstock.studies import targets
from penstock.studies.targets import allocate, compare_allotments

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "scratch-targets.yaml"
SITE = """\
version: 1
platform: {nodes: 12, targets: [s-OST0000, s-OST000a, s-OST001f]}
applications:
  - {name: wide, nodes: 6, profile: {1: 1, 2: 1.9, 3: 2.7}, phases: [{repeat: 5, phases: [{compute: 6}, {write: 6}]}]}
  - {name: "it's", nodes: 4, profile: {1: 1, 2: 1.5}, phases: [{repeat: 9, phases: [{compute: 4}, {write: 2}]}]}
  - {name: few, nodes: 2, profile: {1: 1, 2: 0.8}, phases: [{repeat: 9, phases: [{compute: 5}, {read: 1}]}]}
"""
ALLOTMENT = {
    "allocation": str,
    "placement": str,
    "counts": dict,
    "targets": dict,
    "load": NUMBER,
    "interval": NUMBER,
    "mean_io_slowdown": PERHAPS,
    "machine_idletime": NUMBER,
    "applications": list,
    # Beyond the contract, documented with it.
    "sharing": str,
    "knowledge": str,
    "error": NUMBER,
    "seed": int,
    "least_load": NUMBER,
    "imbalance": NUMBER,
    "events": int,
    "seconds": NUMBER,
    "target_use": list,
    "runs": int,
    "until": str,
    "node_hours_lost": NUMBER,
    "node_hours_used": NUMBER,
    "lost_share": PERHAPS,
    "worst": str,
    "mean_yield": PERHAPS,
    "p95_stretch": PERHAPS,
    "unfinished": int,
}
STRIPED = {"name": str, "io_slowdown": PERHAPS, "rho_io": NUMBER, "rho_con": PERHAPS}
STRIPED |= {"nodes": int, "count": int, "targets": list, "bandwidth": NUMBER, "stress": NUMBER, "shares": list}
STRIPED |= {"io_seconds": NUMBER, "moved": NUMBER, "compute_done": NUMBER, "start": NUMBER}
STRIPED |= {"completion": PERHAPS, "stretch": PERHAPS, "yield": PERHAPS}


@pytest.fixture
def site(folder):
    (folder / "site.yaml").write_text(SITE)
    return load(folder / "site.yaml")


def check_allotment(record):
    check(record, ALLOTMENT)
    for each in record["applications"]:
        assert each["cut"] is False
        check({key: value for key, value in each.items() if key != "cut"}, STRIPED)
        assert record["counts"][each["name"]] == each["count"] == len(record["targets"][each["name"]])


def same(record, allotment):
    return record | {"seconds": 0} == json.loads(json.dumps(allotment.to_dict())) | {"seconds": 0}


def test_json(penstock, site):
    record = parsed(penstock("allocate", "site.yaml", "--json"))
    check_allotment(record)
    assert same(record, allocate(site, "tcpu", "greedy-clairvoyant", sharing="fair-share"))


def test_the_interval(penstock, site):
    """All start together here, so that P4's interval is the default."""
    usual, first, whole = (
        parsed(penstock("allocate", "site.yaml", "--json", *words))
        for words in ([], ["--interval", "first"], ["--interval", "all"])
    )
    assert usual | {"seconds": 0} == first | {"seconds": 0}
    assert (first["until"], whole["until"]) == ("first", "all")
    assert first["interval"] < whole["interval"]
    assert first["unfinished"] > whole["unfinished"] == 0
    outcome = penstock("allocate", "site.yaml", "--interval", "last")
    assert (outcome.code, outcome.err) == (2, "penstock: interval is 'last'; accepted is first or all\n")
    whole = penstock("allocate", "site.yaml", "--interval", "all").out
    assert "node-hours" in whole and "stretch" in whole


def test_every_option_reaches_the_policies(penstock, site):
    words = "--allocation random --placement random --sharing fcfs --knowledge class --error 0.1 --seed 3 --noise 0.1"
    record = parsed(penstock("allocate", "site.yaml", "--json", *words.split()))
    disturbed = site.model_copy(update={"noise": 0.1, "seed": 3})
    told = allocate(disturbed, "random", "random", sharing="fcfs", knowledge="class", error=0.1)
    assert same(record, told)
    assert (record["sharing"], record["knowledge"], record["error"], record["seed"]) == ("fcfs", "class", 0.1, 3)


def test_the_table_has_every_application(penstock, site):
    out = penstock("allocate", "site.yaml").out
    found = allocate(site)
    assert "tcpu with greedy-clairvoyant, fair-share: 3 applications on 3 targets" in out
    for each in found.applications:
        assert any(line.startswith(each.name) and f" {each.io_slowdown:.2f} " in line for line in out.splitlines())
    assert f"Load of the targets {found.load:.3f}" in out
    assert f"{100 * found.machine_idletime:.1f} % of the machine's node time" in out


def test_comparison(penstock, site):
    record = parsed(penstock("allocate", "site.yaml", "--compare", "--json", "--sharing", "fcfs"))
    assert list(record) == ["scenario", "runs", "refused"] and record["scenario"] == "site.yaml"
    assert record["refused"] == []
    for each in record["runs"]:
        check_allotment(each)
    compared = compare_allotments(site, sharing="fcfs")
    assert all(same(*pair) for pair in zip(record["runs"], compared, strict=True))
    out = penstock("allocate", "site.yaml", "--compare").out
    assert sum(line.startswith(("random ", "mckp ")) for line in out.splitlines()) == 2 * len(placement.NAMES)
    assert "Lowest mean I/O slowdown: " in out


def test_targets_taken_out(penstock, site):
    record = parsed(penstock("allocate", "site.yaml", "--json", "--without", "s-OST0000, 2"))
    moves = record.pop("moves")
    check_allotment(record)
    assert same(record, allocate(site, without=["s-OST0000", "s-OST001f"]))
    assert [use["in_service"] for use in record["target_use"]] == [False, True, False]
    assert moves and all(list(move) == ["application", "source", "destination"] for move in moves)
    assert {move["source"] for move in moves} <= {"s-OST0000", "s-OST001f"}
    out = penstock("allocate", "site.yaml", "--without", "0,2").out
    assert "Out of service: s-OST0000 and s-OST001f." in out
    assert all(f"  {move['application']}: " in out for move in moves)


def test_a_plan_is_written_and_followed(penstock, site, folder):
    first = parsed(penstock("allocate", "site.yaml", "--allocation", "static", "--json"))
    text = penstock("allocate", "site.yaml", "--allocation", "static", "--export", "json").out
    (folder / "plan.json").write_text(text)
    (folder / "run.json").write_text(json.dumps(first))
    for plan in ("plan.json", "run.json"):
        again = parsed(penstock("allocate", "site.yaml", "--plan", plan, "--json"))
        assert again["targets"] == first["targets"]
        assert again["mean_io_slowdown"] == first["mean_io_slowdown"]
        assert again["allocation"] == "plan"
    assert "by plan, fair-share" in penstock("allocate", "site.yaml", "--plan", "plan.json").out


def test_export_to_standard_output_is_the_script_alone(penstock, site):
    out = penstock("allocate", "site.yaml", "--export", "lustre", "--directory", "/scratch/my {name}").out
    assert out.startswith("#!/bin/sh\n")
    striped = [words for line in out.splitlines() if (words := shlex.split(line, comments=True))[:1] == ["lfs"]]
    assert [words[-1] for words in striped] == ["/scratch/my wide", "/scratch/my it's", "/scratch/my few"]
    osts = {name: [(0, 10, 31)[i] for i in places] for name, places in _targets(site).items()}
    assert [words[5] for words in striped] == [",".join(map(str, own)) for own in osts.values()]


def _targets(site):
    return {each.name: each.targets for each in allocate(site).applications}


def test_export_to_a_file_comes_with_the_table(penstock, site, folder):
    outcome = penstock("allocate", "site.yaml", "--export", "beegfs", "-o", "pools.sh", "--plot", "site.svg")
    assert "written: pools.sh" in outcome.out and "written: site.svg" in outcome.out
    assert "3 applications on 3 targets" in outcome.out
    assert "beegfs entry set" in (folder / "pools.sh").read_text()
    assert (folder / "site.svg").read_text().startswith("<?xml")
    check_allotment(parsed(penstock("allocate", "site.yaml", "--export", "json", "-o", "plan.json", "--json")))
    assert json.loads((folder / "plan.json").read_text())["version"] == 1


def test_the_comparison_is_drawn(penstock, site, folder):
    assert "written: all.svg" in penstock("allocate", "site.yaml", "--compare", "--plot", "all.svg").out
    assert (folder / "all.svg").read_text().startswith("<?xml")


def test_measured_profiles_take_the_place_of_the_scenarios(penstock, site, folder):
    (folder / "measured.csv").write_text("application,targets,bandwidth\nfew,1,1\nfew,3,9\nother,1,1\n")
    words = ["allocate", "site.yaml", "--allocation", "best-bandwidth", "--json"]
    before, after = parsed(penstock(*words)), parsed(penstock(*words, "--profiles", "measured.csv"))
    assert (before["counts"]["few"], after["counts"]["few"]) == (1, 3)
    assert before["counts"]["wide"] == after["counts"]["wide"]


def test_improve_starts_from_what_was_decided(penstock, site, monkeypatch):
    asked: dict[str, Any] = {}

    def improve(scenario, start, *, sharing, seconds, objective, progress):
        progress(7, 1.25, 0.5)
        asked.update(seconds=seconds, objective=objective, sharing=sharing, start=start.allocation, seed=start.seed)
        return replace(start, mean_io_slowdown=1.25)

    monkeypatch.setattr(targets, "improve", improve)
    words = ["--allocation", "nsys", "--improve", "1.5 min", "--objective", "idle", "--seed", "4"]
    assert parsed(penstock("allocate", "site.yaml", "--json", *words))["mean_io_slowdown"] == 1.25
    assert asked == {"seconds": 90.0, "objective": "idle", "sharing": "fair-share", "seed": 4, "start": "nsys"}
    out = penstock("allocate", "site.yaml", "--improve", "0").out
    assert "The search started from a mean slowdown of" in out and "came to a mean slowdown of 1.250" in out
    assert (asked["seconds"], asked["objective"], asked["seed"]) == (0.0, "slowdown", 0)


def test_improve_ends_no_worse_than_it_started(penstock, site):
    start = parsed(penstock("allocate", "site.yaml", "--json"))
    better = parsed(penstock("allocate", "site.yaml", "--improve", "0.3", "--json"))
    assert better["mean_io_slowdown"] <= start["mean_io_slowdown"]
    assert better["runs"] > 0 == start["runs"]


def test_the_example_shows_what_its_comments_say(penstock):
    runs = parsed(penstock("allocate", str(EXAMPLE), "--compare", "--json"))["runs"]
    loads = {run["allocation"]: run["load"] for run in runs}
    assert loads["best-bandwidth"] > 1 > loads["tcpu"] > loads["nsys"]
    best = min(runs, key=lambda run: run["mean_io_slowdown"])
    assert (best["allocation"], best["placement"]) == ("tcpu", "greedy-clairvoyant")


REFUSED = [
    ("--allocation nobody", "no allocation policy named 'nobody'"),
    ("--placement nobody", "no placement policy named 'nobody'"),
    ("--sharing nobody", "no sharing policy named 'nobody'"),
    ("--knowledge all", "knowledge is 'all'; accepted is exact, shape or class"),
    ("--error 2", "error is 2.0; accepted is a number from 0"),
    ("--noise 2", "--noise is 2; the noise is a number from 0 to 1"),
    ("--seed -1", "--seed is -1; a seed is a whole number ≥ 0"),
    ("--without 9", "there is no target '9'"),
    ("--without 1,,2", "--without: '1,,2' has an empty name"),
    ("--without 0,1,2", "all 3 targets are taken out"),
    ("--plan none.json", "none.json: no such file; a plan is"),
    ("--plan site.yaml", "site.yaml: is a scenario without a plan"),
    ("--plan plan.json --allocation tcpu", "--plan takes the place of policies; leave --allocation out with it"),
    ("--plan plan.json --knowledge class --error 0.1", "leave --knowledge and --error out with it"),
    ("--compare --allocation tcpu", "--compare runs every pair of policies; leave --allocation out with it"),
    ("--compare --without 0 --export json", "leave --without and --export out with it"),
    ("--compare --improve 1", "leave --improve out with it"),
    ("--compare --plan plan.json", "leave --plan out with it"),
    ("--objective idle", "--objective says what --improve lowers; give --improve, too"),
    ("--improve 1 --objective best", "--objective is 'best'; accepted: slowdown, idle"),
    ("--improve soon", "--improve is 'soon'; a time is a number"),
    ("--export gpfs", "--export is 'gpfs'; accepted: lustre, beegfs, json"),
    ("--export lustre --directory here", "--directory is 'here'; it holds {name}"),
    ("--export json --directory {name}/x", "--directory is for commands of a file system"),
    ("--export json --json", "both go to standard output; give the export a file with -o FILE"),
    ("--directory {name}", "--directory is for what --export writes"),
    ("-o out.sh", "-o is for what --export writes"),
    ("--export lustre -o none/out.sh", "the folder none does not exist"),
    ("--export lustre -o out.sh --plot out.gif", "out.gif ends in .gif; a plot is saved as"),
    ("--profiles none.csv", "none.csv"),
    ("--profiles other.csv", "other.csv has none of the scenario's applications; it has other"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_options(penstock, site, folder, options, words):
    (folder / "plan.json").write_text('{"targets": {"wide": [0]}}')
    (folder / "other.csv").write_text("application,targets,bandwidth\nother,1,1\n")
    before = sorted(folder.iterdir())
    outcome = penstock("allocate", "site.yaml", *options.split())
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err
    assert sorted(folder.iterdir()) == before


def test_a_place_in_a_plan_is_written_in_plain_digits(penstock, site, folder):
    plan = {each.name: ["s-OST0000"] for each in site.applications}
    for place, code in (("1", 0), ("\u0661", 2), ("\uff11", 2)):  # 1 in Arabic, 1 in full width
        (folder / "plan.json").write_text(json.dumps({"targets": plan | {"few": [place]}}))
        outcome = penstock("allocate", "site.yaml", "--plan", "plan.json")
        assert outcome.code == code
        assert code == 0 or f"there is no target {place!r}" in outcome.err


SCENARIOS = [
    ("targets: [s-OST0000, s-OST000a, s-OST001f]", "bandwidth: 1", "platform.targets is missing"),
    ("repeat: 5", "repeat: forever", "repeat is forever without a window"),
    ("profile: {1: 1, 2: 0.8}, ", "", "application 'few' has no profile"),
]


@pytest.mark.parametrize(("old", "new", "words"), SCENARIOS, ids=[row[2][:24] for row in SCENARIOS])
@pytest.mark.parametrize("more", [[], ["--compare"]])
def test_refused_scenarios(penstock, folder, old, new, words, more):
    assert SITE.count(old) == 1
    (folder / "site.yaml").write_text(SITE.replace(old, new))
    outcome = penstock("allocate", "site.yaml", "--json", *more)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err


def test_a_comparison_leaves_out_what_is_not_possible(penstock, folder):
    jobs = "".join(f"  - {{name: {name}, profile: {{2: 1}}, phases: [{{write: 1}}]}}\n" for name in "abc")
    (folder / "misfit.yaml").write_text(f"version: 1\nplatform: {{targets: 3}}\napplications:\n{jobs}")
    record = parsed(penstock("allocate", "misfit.yaml", "--compare", "--json"))
    assert len(record["runs"]) == (len(allocation.NAMES) - 1) * len(placement.NAMES) and len(record["refused"]) == 1
    assert (
        "Left out: allocation policy 'mckp': the applications do not all fit"
        in penstock("allocate", "misfit.yaml", "--compare").out
    )
    assert "'mckp': the applications do not all fit" in penstock("allocate", "misfit.yaml", "--allocation", "mckp").err
